import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "./root.mjs";

const windows = process.platform === "win32";

/**
 * Runs a TypeScript program from its sources, in this Node. It ends with this process.
 * @param {string[]} words the program and its arguments
 * @param {Record<string, string>} env
 */
export const runNode = (words, env = {}) =>
  runCommand(process.execPath, [...nodeFlags, ...words], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...env },
  });

/**
 * More room for young objects than Node's 16 MB: a server of many small requests spends less on collecting them. With
 * 64 MB it spends more (docs/decisions/gotchas.md).
 */
const nodeFlags = [
  ...["--conditions=holdfast-source", "--import", "tsx", "--max-semi-space-size=32"],
  ...["--import", new URL("end-with-parent.mjs", import.meta.url).href],
];

/**
 * Runs a program that a package installed.
 * @param {string} name
 * @param {string[]} words
 * @param {string} folder the package that depends on it
 */
export const runTool = (name, words, folder = ".") =>
  runCommand(join(root, folder, "node_modules", ".bin", windows ? `${name}.cmd` : name), words, { shell: windows });

/**
 * Runs a command in the project's folder until it ends, and passes on the signals that ask us to end.
 * @param {string} file
 * @param {string[]} words
 * @param {import("node:child_process").SpawnOptions} options
 * @returns {Promise<number>} its exit code
 */
export function runCommand(file, words, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, words, { cwd: root, stdio: "inherit", ...options });
    /** @param {NodeJS.Signals} signal */
    const passOn = (signal) => {
      // Ctrl-C reaches the child without us: a second one would read as "at once, without an orderly stop".
      if (signal === "SIGINT" && process.stdin.isTTY) return;
      child.kill(signal);
    };
    /** @type {NodeJS.Signals[]} */
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, passOn);
    const done = () => {
      for (const signal of signals) process.off(signal, passOn);
    };
    child.once("error", (error) => {
      done();
      reject(error);
    });
    child.once("exit", (code, signal) => {
      done();
      // As a shell would say it.
      resolve(code ?? 128 + (signal === "SIGINT" ? 2 : signal === "SIGKILL" ? 9 : 15));
    });
  });
}
