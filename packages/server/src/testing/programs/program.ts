import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sourceProgram } from "../source-program.ts";

const ROOT = fileURLToPath(new URL("../../../../../", import.meta.url));
const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));

/** `main.ts` in a separate process. */
export interface Program {
  readonly child: ChildProcess;
  /** The address that it prints once it listens. Rejects with its log if it ends before. */
  readonly url: Promise<string>;
  /** Everything it has written to stderr. */
  log(): string;
  stdout(): string;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  stop(signal?: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Starts the server's program with only the environment variables that Node needs. */
export function startProgram(env: Readonly<Record<string, string>>, words: readonly string[] = []): Program {
  const { flags, file } = sourceProgram(MAIN);
  const child = spawn(process.execPath, [...flags, file, ...words], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", PORT: "0", ...env },
  });
  let log = "";
  let out = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal })),
  );
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      const line = out.split("\n").find((one) => one.includes('"listening"'));
      if (line) resolve((JSON.parse(line) as { url: string }).url);
    });
    void ended.then(() => reject(new Error(`The server ended: ${log}`)));
  });
  url.catch(() => {});
  return {
    child,
    url,
    log: () => log,
    stdout: () => out,
    ended,
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      return await ended;
    },
  };
}
