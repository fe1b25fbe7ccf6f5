import { type ChildProcess, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/** Any logger with these three will do; a pino logger fits as it is. */
export type EmbeddedLog = { info(line: string): void; warn(line: string): void; error(line: string): void };

export type PostgresProcess = { readonly pid: number; stop(): Promise<void> };

/**
 * Starts Postgres and keeps it running until `stop()`:
 *
 *   start ──ready──► running ──it ended──► pause ──► start again, until it runs; the pause grows
 *     └─ failed the first time: thrown          stop() ends it from anywhere
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

  // Where the kernel cannot end Postgres together with us, an orderly exit of Node at least does.
  const endWithUs = () => child.kill("SIGINT");
  process.once("exit", endWithUs);

  function watch(): void {
    const startedAt = Date.now();
    child.once("exit", (code, signal) => {
      if (stopping.signal.aborted) return;
      log.error(`Postgres (process ${child.pid}) exited unexpectedly (${signal ?? `code ${code}`}); restarting it`);
      // One that ran for a while earns a quick start; one that falls at once is given time.
      restarting = startAgain(Date.now() - startedAt > 60_000 ? 0 : 1);
    });
  }

  async function startAgain(failures: number): Promise<void> {
    for (; ; failures++) {
      await sleep(Math.min(50 * 2 ** failures, 10_000), undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      try {
        child = await start();
        // Its recovery may take long, and nobody waits for it any more.
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
      // A restart may have been about to spawn another one.
      await end(child);
    },
  };
}

/**
 * Put before a command, lets the kernel send it SIGINT, an orderly stop, when this process ends in any way. Only some
 * systems have it; on the others the next start finds what was left running.
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
    // No time limit: recovery after a crash takes as long as it takes, and reports itself in these lines.
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
  // Fast shutdown: clients are disconnected, everything is written. Then ever less polite.
  for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
    if (hasEnded(child)) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill(signal);
    await Promise.race([ended, sleep(30_000, undefined, { ref: false })]);
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
