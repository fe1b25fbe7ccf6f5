import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type SourceProgram, sourceProgram } from "@holdfast/server/testing/source-program";

/** Starts a program of ours in a process of its own that can be told something, with only the variables that Node needs. */
export function startProgram(
  { flags, file }: SourceProgram,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return spawn(process.execPath, [...flags, file, ...words], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env },
  });
}

/** The program in this file, as `startProgram` takes it. */
export const programAt = (url: URL): SourceProgram => sourceProgram(fileURLToPath(url));

/** The first line that the process prints. */
export async function firstLine({ stdout }: ChildProcess): Promise<string> {
  const [line] = (await once(createInterface({ input: stdout as NodeJS.ReadableStream }), "line")) as [string];
  return line;
}

/** Ends the process, and waits until it is gone. */
export async function endProgram(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
