import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { newMasterKey, type ServerOptions } from "../server.ts";
import { ADMIN, type App, type Call, caller } from "./app.ts";
import { sourceProgram } from "./source-program.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

export interface SmallServer {
  readonly url: string;
  readonly call: Call;
  readonly child: ChildProcess;
  /** All that it has written to stderr. */
  log(): string;
}

/** Starts servers on the app's database whose heap is as small as that of a small machine. They end with the tests. */
export function smallServers(
  app: Pick<App, "databaseUrl" | "keys">,
): (heapMegabytes: number, options?: Partial<ServerOptions>) => Promise<SmallServer> {
  const children: ChildProcess[] = [];
  const callers: (() => void)[] = [];
  afterAll(() => {
    for (const close of callers) close();
    for (const child of children) child.kill("SIGKILL");
  });
  return async (heapMegabytes, options = {}) => {
    const { flags, file } = sourceProgram(fileURLToPath(new URL("./programs/server-process.ts", import.meta.url)));
    const all = { databaseUrl: app.databaseUrl, adminToken: ADMIN, masterKeys: [newMasterKey()], port: 0, ...options };
    const child = spawn(
      process.execPath,
      [`--max-old-space-size=${heapMegabytes}`, ...flags, file, JSON.stringify(all)],
      { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] },
    );
    children.push(child);
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.on("data", (chunk: Buffer) => resolve((JSON.parse(chunk.toString()) as { url: string }).url));
      child.once("close", () => reject(new Error(`The server ended: ${log}`)));
    });
    return { url, call: caller(url, app.keys.live, callers), child, log: () => log };
  };
}
