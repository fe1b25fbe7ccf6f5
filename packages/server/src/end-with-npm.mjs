import { readFileSync } from "node:fs";

const CHECK_MS = 500;

/**
 * Ends this process as SIGTERM would, once the npm or npx that started it has ended. They pass no signal on: they end
 * their shell, or not even that if they are killed, and the server and its Postgres would go on. In JavaScript, because
 * `scripts/run.mjs` also uses it, before anything is installed.
 */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const shell = process.ppid;
  const npm = parentOfShell(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && (npm === undefined || isAlive(npm))) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, CHECK_MS).unref();
}

/**
 * The process that a shell works for, on Linux. Undefined: it is no shell, but what npm has started itself.
 * @param {number} pid
 */
function parentOfShell(pid) {
  try {
    const [, name = "", parent] = /^\d+ \((.*)\) \w (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return /^\w*sh$/.test(name) ? Number(parent) : undefined;
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
