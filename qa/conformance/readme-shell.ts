import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Shell {
  readonly child: ChildProcess;
  printed(): string;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

/**
 * Runs commands of an example's README in a shell, as they stand there, but for these words: addresses and folders that
 * only this run has.
 */
export function readmeShell(readme: string, env: Readonly<Record<string, string>>) {
  const text = readFileSync(join(root, readme), "utf8");
  const children: ChildProcess[] = [];
  return {
    text,
    run(
      command: string,
      words: Readonly<Record<string, string>> = {},
      more: Readonly<Record<string, string>> = {},
    ): Shell {
      if (!text.includes(command)) throw new Error(`${readme} does not have the command: ${command}`);
      const replaced = Object.entries(words).reduce((line, [word, by]) => line.replaceAll(word, by), command);
      const child = spawn("/bin/sh", ["-c", replaced], {
        cwd: root,
        stdio: ["ignore", "pipe", "pipe"],
        // A group of its own: a terminal sends Ctrl+C to npm and to what it runs.
        detached: true,
        env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env, ...more },
      });
      children.push(child);
      let printed = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (printed += String(bytes)));
      return { child, printed: () => printed, ended: once(child, "close").then(([code]) => code as number | null) };
    },
    /** Ends whatever still runs. */
    close() {
      for (const child of children) if (child.exitCode === null) killGroup(child, "SIGKILL");
    },
  };
}

export function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}
