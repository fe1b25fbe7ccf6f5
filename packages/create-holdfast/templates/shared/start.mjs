// For dev.mjs: starts the Holdfast server and other programs, and ends all of them together.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";

const isWindows = process.platform === "win32";
const children = new Set();
const closing = [];
let isEnding = false;

/** Starts the Holdfast server on HOLDFAST_PORT (8787), or on a free port if another program has that one. Returns its URL. */
export async function startServer() {
  const port = Number(process.env.HOLDFAST_PORT ?? 8787);
  const isTaken = port !== 0 && !(await isFree(port));
  if (isTaken) console.log(`Another program has port ${port}: the server takes a free one. (HOLDFAST_PORT sets it.)`);
  const server = startProgram("@holdfast/server/dist/holdfast.js", [], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { HOLDFAST_LOG_LEVEL: "warn", PORT: String(isTaken ? 0 : port) },
  });
  const [line] = await Promise.race([once(server.stdout, "data"), once(server, "exit").then(() => [])]);
  if (line === undefined) return await endAll(1);
  server.stdout.resume();
  return JSON.parse(line).url;
}

/**
 * Starts a program of an installed package, named by its file: "vite/bin/vite.js". If it ends, everything ends.
 * @param {string} file
 * @param {string[]} args
 */
export function startProgram(file, args, { stdio = ["ignore", "inherit", "inherit"], env = {} } = {}) {
  const child = spawn(process.execPath, [join("node_modules", file), ...args], {
    stdio,
    // The server looks whether this process is still there if npm has started it, and so it does without npm.
    env: { npm_lifecycle_event: "dev", ...process.env, ...env },
    // Ctrl-C would reach it too, and a second signal, from here, would end the server before its database is closed.
    detached: !isWindows,
  });
  children.add(child);
  child.once("exit", (code) => {
    children.delete(child);
    void endAll(code ?? 1);
  });
  return child;
}

/** Also called when everything ends. */
export const onEnd = (close) => void closing.push(close);

async function endAll(code) {
  if (isEnding) return new Promise(() => {});
  isEnding = true;
  const ended = [...children].map((child) => once(child, "exit"));
  for (const child of children) if (!isWindows || code !== 130) child.kill("SIGTERM");
  await Promise.all([...ended, ...closing.map((close) => close())]);
  process.exit(code === 130 ? 0 : code);
}

const isFree = (port) =>
  new Promise((resolve) => {
    const probe = createServer()
      .once("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });

process.on("SIGINT", () => void endAll(130));
process.on("SIGTERM", () => void endAll(0));
// A terminal that is closed.
process.on("SIGHUP", () => void endAll(0));
// An npm that is killed passes nothing on.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && void endAll(0), 500).unref();
