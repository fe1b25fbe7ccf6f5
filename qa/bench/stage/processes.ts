import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

// As docs/deploy.md starts it.
const FLAGS = ["--import", "tsx", "--max-semi-space-size=32"];

/**
 * A TypeScript program of the benchmark in a process of its own, so that what is measured does not share a thread with who
 * measures. What it imports of ours is built, as npm has it: run from the sources, each closure is given its name when it
 * is made, which takes a twelfth of the server's time.
 */
export function startProgram(file: URL, args: readonly string[] = [], env: Record<string, string> = {}): ChildProcess {
  return startWith([], file, args, env);
}

/** The same, with a profile of its CPU time that it writes to the folder when it ends. */
export const startProfiled = (folder: string, file: URL, args: readonly string[]): ChildProcess =>
  startWith(["--cpu-prof", "--cpu-prof-interval=200", `--cpu-prof-dir=${folder}`], file, args);

function startWith(flags: readonly string[], file: URL, args: readonly string[], env: Record<string, string> = {}) {
  return spawn(process.execPath, [...FLAGS, ...flags, fileURLToPath(file), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
}

/** The first line that a program prints, as JSON. */
export async function firstLine<T>(child: ChildProcess): Promise<T> {
  let text = "";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    text += chunk.toString();
    const end = text.indexOf("\n");
    if (end >= 0) return JSON.parse(text.slice(0, end)) as T;
  }
  throw silent(child);
}

/** Everything that a program prints until it ends, as JSON. */
export async function wholeOutput<T>(child: ChildProcess): Promise<T> {
  let text = "";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) text += chunk.toString();
  if (text === "") throw silent(child);
  return JSON.parse(text) as T;
}

const silent = ({ exitCode }: ChildProcess) =>
  new Error(`A program ended before it said anything (exit code ${exitCode}).`);

export async function endProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
