import { createServer } from "node:net";

/** The first free port of this machine from the one that the environment names, or else `usual`. 0 means any. */
export async function freePort(name: string, usual: number): Promise<number> {
  const named = process.env[name] || String(usual);
  const port = Number(named);
  if (!/^\d+$/.test(named) || port > 65_535) throw new Error(`${name} is a port, 0 to 65535, not “${named}”.`);
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
