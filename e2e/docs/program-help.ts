import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { bundlePrograms } from "../../scripts/bundle-programs.ts";
import { root } from "../../scripts/root.mjs";

export interface ProgramHelp {
  /** What the program prints with these words and `--help`. */
  read(program: string, ...words: string[]): Promise<{ readonly code: number; readonly output: string }>;
  remove(): void;
}

/** Bundles programs, and runs them as threads of this process: each as a process of its own would take seconds. */
export async function programHelp(programs: readonly string[]): Promise<ProgramHelp> {
  // Within the server's package, whose dependencies they find from there.
  const cache = join(root, "packages/server/node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "help-"));
  await bundlePrograms(programs, folder);
  return {
    async read(program, ...words) {
      const file = join(folder, program.replace(/\.ts$/, ".mjs"));
      const argv = [...words, "--help"];
      const thread = new Worker(file, { argv, stdout: true, stderr: true, execArgv: [], env: {} });
      let output = "";
      for (const stream of [thread.stdout, thread.stderr]) stream.on("data", (bytes) => (output += String(bytes)));
      const code = await new Promise<number>((resolve, reject) => thread.once("error", reject).once("exit", resolve));
      return { code, output };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
