import { type ChildProcess, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/** Any logger with these three methods, such as pino. */
export type EmbeddedLog = { info(line: string): void; warn(line: string): void; error(line: string): void };

export type PostgresProcess = { readonly pid: number; stop(): Promise<void> };

/**
 * Starts Postgres and keeps it running until `stop()`:
 *
 *   start ──ready──► running ──it ended──► pause ──► start again, until it runs; the pause grows
 *     └─ failed the first time: throws            stop() ends it in any state
 */
export async function keepPostgresRunning(
  start: () => Promise<ChildProcess>,
  log: EmbeddedLog,
): Promise<PostgresProcess> {
  const stopping = new AbortController();
  let child = await start();
  let restarting: Promise<void> = Promise.resolve();
  await untilReady(child, log);
  watch();

  // Where the kernel cannot stop Postgres with us, stop it at least on an orderly exit of Node.
  const endWithUs = () => child.kill("SIGINT");
  process.once("exit", endWithUs);

  function watch(): void {
    const startedAt = Date.now();
    child.once("exit", (code, signal) => {
      if (stopping.signal.aborted) return;
      log.error(`Postgres (process ${child.pid}) exited unexpectedly (${signal ?? `code ${code}`}); restarting it`);
      // Restart at once if it ran for a while. If it fails right away, pause first.
      restarting = startAgain(Date.now() - startedAt > 60_000 ? 0 : 1);
    });
  }

  async function startAgain(failures: number): Promise<void> {
    for (; ; failures++) {
      await sleep(Math.min(50 * 2 ** failures, 10_000), undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      try {
        child = await start();
        // Its recovery may take long, and the server is stopping.
        if (stopping.signal.aborted) return;
        await untilReady(child, log);
        log.warn(`Postgres is running again (process ${child.pid})`);
        return watch();
      } catch (error) {
        if (!stopping.signal.aborted) log.error(error instanceof Error ? error.message : String(error));
      }
    }
  }

  return {
    get pid() {
      return child.pid ?? 0;
    },
    stop: async () => {
      stopping.abort();
      process.off("exit", endWithUs);
      await end(child);
      await restarting;
      // A restart may have spawned another process meanwhile.
      await end(child);
    },
  };
}

/**
 * Wraps a command so that the kernel sends it SIGINT, an orderly stop, when this process ends in any way. Only some
 * systems support that. On the others, the next start finds and stops what was left running.
 */
export function endsWithUs(file: string, args: string[]): { file: string; args: string[] } {
  const prefix = ["--pdeathsig", "INT"];
  const works = process.platform === "linux" && spawnSync("setpriv", [...prefix, "true"]).status === 0;
  return works ? { file: "setpriv", args: [...prefix, file, ...args] } : { file, args };
}

function untilReady(child: ChildProcess, log: EmbeddedLog): Promise<void> {
  const lastLines: string[] = [];
  return new Promise<void>((resolve, reject) => {
    const fail = (why: string) =>
      reject(new EmbeddedPostgresError(`Postgres did not start (${why}). ${lastLines.join(" ")}`.trim()));
    child.on("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => fail(signal ?? `code ${code}`));
    // No timeout: recovery after a crash takes as long as it needs, and reports its progress in these lines.
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on("line", (line) => {
      if (lastLines.push(line) > 10) lastLines.shift();
      report(line, log);
      if (line.includes("database system is ready to accept connections")) resolve();
    });
  });
}

function report(line: string, log: EmbeddedLog): void {
  if (/^(FATAL|PANIC):/.test(line)) log.warn(`Postgres: ${line}`);
  else if (line.trim() !== "") log.info(`Postgres: ${line}`);
}

async function end(child: ChildProcess): Promise<void> {
  // First a fast shutdown: clients are disconnected and everything is written. Then increasingly forceful signals.
  for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    if (hasEnded(child)) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(signal);
    await Promise.race([ended, sleep(30_000, undefined, { ref: false })]);
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
