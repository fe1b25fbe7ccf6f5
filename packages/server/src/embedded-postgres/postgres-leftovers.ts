import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import type { EmbeddedLog } from "./postgres-process.ts";

/**
 * Stops every Postgres that still runs on this data directory, and removes what it left there. Call it only under the
 * directory's lock: a Postgres that runs there then has lost the server that started it.
 *
 * There are two cases: the server was killed and its Postgres lives on; or Postgres's main process was killed and some
 * of its children live on, which hold the shared memory and make a new start fail.
 */
export async function endLeftovers(dataDirectory: string, log: EmbeddedLog): Promise<void> {
  const leftovers = postgresProcessesOf(dataDirectory);
  if (leftovers.length > 0) {
    log.warn(`stopping a Postgres that an earlier server left running (process ${leftovers.join(", ")})`);
    await end(dataDirectory, leftovers);
  }
  // Postgres trusts a postmaster.pid whose process id belongs to any running process. After a container restart, the
  // same low ids recur, and Postgres would refuse to start forever.
  if (canSeeProcesses) rmSync(join(dataDirectory, "postmaster.pid"), { force: true });
}

const canSeeProcesses = process.platform !== "win32";

async function end(dataDirectory: string, leftovers: number[]): Promise<void> {
  const first = firstProcessOf(dataDirectory);
  // SIGINT to the main process stops all in an orderly way. Children without it get SIGQUIT, which stops them at once.
  if (first !== undefined && leftovers.includes(first)) {
    signal([first], "SIGINT");
    if (await gone(dataDirectory, 30_000)) return;
  }
  for (const [name, patienceMs] of [
    ["SIGQUIT", 5_000],
    ["SIGKILL", 5_000],
  ] as const) {
    signal(postgresProcessesOf(dataDirectory), name);
    if (await gone(dataDirectory, patienceMs)) return;
  }
  throw new EmbeddedPostgresError(
    `A Postgres is still running on ${dataDirectory} (process ${postgresProcessesOf(dataDirectory).join(", ")}) ` +
      "and cannot be killed. Stop it, then start again.",
  );
}

async function gone(dataDirectory: string, patienceMs: number): Promise<boolean> {
  const until = Date.now() + patienceMs;
  while (postgresProcessesOf(dataDirectory).length > 0) {
    if (Date.now() > until) return false;
    await sleep(20);
  }
  return true;
}

/** A process id alone proves nothing: another process may have it by now. */
function postgresProcessesOf(dataDirectory: string): number[] {
  if (process.platform === "linux") return processNumbers().filter((pid) => isPostgresIn(pid, dataDirectory));
  const first = firstProcessOf(dataDirectory);
  if (first === undefined || !canSeeProcesses) return [];
  const { stdout } = spawnSync("ps", ["-ww", "-o", "command=", "-p", String(first)], { encoding: "utf8" });
  return stdout.includes(`postgres -D ${dataDirectory} `) ? [first] : [];
}

const processNumbers = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Every Postgres process runs inside its data directory. A process that we may not inspect was not started by us. */
function isPostgresIn(pid: number, dataDirectory: string): boolean {
  try {
    if (readlinkSync(`/proc/${pid}/cwd`) !== realpathSync(dataDirectory)) return false;
    // An upgrade may have replaced the program file.
    return basename(readlinkSync(`/proc/${pid}/exe`)).replace(" (deleted)", "") === "postgres";
  } catch {
    return false;
  }
}

function firstProcessOf(dataDirectory: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDirectory, "postmaster.pid"), "utf8").split("\n")[0]);
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It ended between the check and the signal.
    }
  }
}
