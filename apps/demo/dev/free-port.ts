import { createServer } from "node:net";

/** The first free port of this machine from `port` on; 0 stays 0, which means any. */
export async function freePort(port: number): Promise<number> {
  if (port === 0) return 0;
  for (let candidate = port; candidate < port + 100; candidate += 1) {
    if (await isFree(candidate)) return candidate;
  }
  throw new Error(`No port between ${port} and ${port + 99} is free.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
