import { type ChildProcess, spawn } from "node:child_process";
import { environmentFor } from "../../scripts/install.mjs";

/** Of the environment that the tests have, what somebody's shell would have too: nothing that leads into the workspace. */
function environment(): NodeJS.ProcessEnv {
  const env = environmentFor(process.env);
  const ours = /^(NODE_PATH|NODE_OPTIONS|NODE_ENV|VITEST.*|TEST|HOLDFAST_.*|INIT_CWD)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)));
}

/** Runs a command in a folder as a stranger would. */
export const runIn = (
  folder: string,
  file: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin: "ignore" | "pipe" = "ignore",
): ChildProcess =>
  spawn(file, words, {
    cwd: folder,
    stdio: [stdin, "pipe", "pipe"],
    env: { ...environment(), npm_config_update_notifier: "false", ...env },
    shell: process.platform === "win32",
  });

/** Its exit code, and all that it said: stdout alone, and both. */
export function ending(child: ChildProcess): Promise<{ code: number | null; stdout: string; output: string }> {
  let stdout = "";
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    output += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, output }));
  });
}
