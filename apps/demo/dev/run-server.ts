import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { dataDirectory, endWithParent, nodeWords, serverProgram } from "./project.ts";

export interface RunningServer {
  readonly url: string;
  /** Called with a sentence when the server ends by itself. */
  onEnd(listener: (why: string) => void): void;
  stop(): Promise<void>;
}

/** Starts the server as a process of its own. What it logs goes to `server.log` beside its data. */
export async function runServer(port: number, settings: NodeJS.ProcessEnv): Promise<RunningServer> {
  await mkdir(dataDirectory(), { recursive: true });
  const logPath = join(dataDirectory(), "server.log");
  const child = spawn(process.execPath, ["--import", pathToFileURL(endWithParent).href, ...nodeWords(serverProgram)], {
    env: {
      ...process.env,
      ...settings,
      HOST: "127.0.0.1",
      PORT: String(port),
      HOLDFAST_DATA_DIR: dataDirectory(),
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // Ctrl-C goes to the whole process group; this process stops the server itself, after the page.
    detached: process.platform !== "win32",
  }) as ChildProcessByStdio<null, Readable, Readable>;
  const log = createWriteStream(logPath, { flags: "a", mode: 0o600 });
  let reason = "";
  createInterface({ input: child.stderr }).on("line", (line) => {
    // What the server says to people, between its log lines and above a stack.
    if (line.startsWith("holdfast: ")) reason = line.slice("holdfast: ".length).replace(/^Error: /, "");
    log.write(`${line}\n`);
  });

  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`The server could not be started: ${error.message}`));
    child.once("exit", (code, signal) => {
      resolve(`The server ended (${signal ?? `exit code ${code}`}). ${reason} Its log: ${logPath}`);
    });
  });
  const url = await Promise.race([listening(child.stdout), ended.then((why) => Promise.reject(new Error(why)))]);
  return {
    url,
    onEnd: (listener) => void ended.then(listener),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The address in the one line that the server prints when it listens. */
function listening(stdout: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: stdout }).on("line", (line) => {
      try {
        const said = JSON.parse(line) as { object?: string; url?: string };
        if (said.object === "listening" && said.url) resolve(said.url);
      } catch {
        // Not our line.
      }
    });
  });
}
