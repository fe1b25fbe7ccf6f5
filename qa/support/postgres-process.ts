import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The embedded Postgres' first process; undefined while it is being started. */
function postmaster(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, "postgres/data/postmaster.pid"), "utf8").split("\n")[0]);
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** The processes that it has started; none where the system has no /proc. */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((child) => parentOf(child) === pid);
  } catch {
    return [];
  }
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

/** Runs until it found a Postgres to hurt. */
async function running(dataDir: string): Promise<number> {
  for (;;) {
    const pid = postmaster(dataDir);
    if (pid !== undefined) return pid;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function killPostgres(dataDir: string): Promise<void> {
  process.kill(await running(dataDir), "SIGKILL");
}

/** One of its processes: Postgres then ends all of them and recovers by itself. */
export async function killBackend(dataDir: string): Promise<boolean> {
  const children = childrenOf(await running(dataDir));
  const victim = children[Math.floor(Math.random() * children.length)];
  if (victim === undefined) return false;
  return signal(victim, "SIGKILL");
}

/** Suspends all of its processes for a while: connections stay open, without responses. */
export async function stallPostgres(dataDir: string, forMs: number): Promise<boolean> {
  const pid = await running(dataDir);
  const all = [pid, ...childrenOf(pid)];
  for (const one of all) signal(one, "SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, forMs));
  for (const one of all) signal(one, "SIGCONT");
  return all.length > 1;
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    // It ended by itself meanwhile.
    return false;
  }
}
