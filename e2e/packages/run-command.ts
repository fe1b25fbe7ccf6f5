import { type ChildProcess, spawn } from "node:child_process";
import { environmentFor } from "../../scripts/install.mjs";

/** The test's environment without variables that lead into the workspace, like a user's shell. */
function environment(): NodeJS.ProcessEnv {
  const env = environmentFor(process.env);
  const ours = /^(NODE_PATH|NODE_OPTIONS|NODE_ENV|VITEST.*|TEST|HOLDFAST_.*|INIT_CWD)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)));
}

/** Runs a command in a folder, like a user outside of the workspace. */
export const runIn = (
  folder: string,
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin: "ignore" | "pipe" = "ignore",
): ChildProcess =>
  spawn(file, args, {
    cwd: folder,
    stdio: [stdin, "pipe", "pipe"],
    env: { ...environment(), npm_config_update_notifier: "false", ...env },
    shell: process.platform === "win32",
  });

/** The exit code and the output: stdout alone, and both streams. */
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
