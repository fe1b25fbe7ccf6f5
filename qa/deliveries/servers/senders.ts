import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { fromSources, sourceProgram } from "@holdfast/server/testing/source-program";
import type { FaultEnvironment } from "../../support/fault-environment.ts";
import type { KillableServer, ServerPlan } from "../../support/killable-server.ts";
import { killPostgres } from "../../support/postgres-process.ts";
import type { Trouble } from "../judge/evidence.ts";
import { monotonic } from "../receiver/recording.ts";
import type { SenderPlan } from "./server-process.ts";

const PROGRAM = fileURLToPath(new URL("./server-process.ts", import.meta.url));
const RETRY_MS = 250;

/** The servers that deliver, on one Postgres, and the faults to inject. */
export interface Senders {
  readonly troubles: readonly Trouble[];
  urls(): readonly string[];
  /** kill -9, and a restart after a while. */
  kill(which: number, downMs?: number): Promise<void>;
  /** SIGTERM, and a restart when the process has ended. */
  restart(which: number): Promise<void>;
  /** Suspends the process until it is killed and restarted, or resumed. */
  freeze(which: number): { kill(): Promise<void>; resume(): void };
  /** Another process killed all of them at this time. */
  wereKilled(at: number): Promise<void>;
  /** SIGSTOP, SIGCONT. */
  stop(which: number, forMs: number): Promise<void>;
  /** kill -9 of Postgres. Resolves when every server is connected again. */
  killPostgres(): Promise<void>;
  /** Resolves when no fault is in progress. */
  rest(): Promise<void>;
}

/** How each server is started. */
export const senderPlan = (plan: SenderPlan): ServerPlan => ({
  main: plan.sources === undefined ? sourceProgram(PROGRAM) : fromSources(PROGRAM),
  env: { WEBHOOK_PLAN: JSON.stringify(plan) },
});

/** `changed`: the processes were replaced. */
export async function sendersOf(
  { servers, folder }: Pick<FaultEnvironment, "servers" | "folder">,
  changed: (pids: readonly number[]) => Promise<void>,
): Promise<Senders> {
  /** For each server, the fault in progress: one after the other. */
  const doing: Promise<void>[] = servers.map(() => Promise.resolve());
  const troubles: Trouble[] = [];
  const pids = () => servers.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));

  function next(which: number, change: (server: KillableServer) => Promise<void>): Promise<void> {
    const done = (doing[which] as Promise<void>).then(() => change(servers[which] as KillableServer));
    doing[which] = done.catch(() => {});
    return done;
  }

  async function revive(server: KillableServer, from: number, downMs: number): Promise<void> {
    await server.end();
    await pause(downMs);
    await server.startAgain();
    await changed(pids());
    troubles.push({ what: "server killed", from, to: monotonic() });
  }

  await changed(pids());
  return {
    troubles,
    urls: () => servers.map(({ url }) => url),
    kill: (which, downMs = 0) => next(which, (server) => revive(server, monotonic(), downMs)),
    restart: (which) =>
      next(which, async (server) => {
        const from = monotonic();
        await server.stop();
        await server.startAgain();
        await changed(pids());
        troubles.push({ what: "server restarted", from, to: monotonic() });
      }),
    freeze(which) {
      const from = monotonic();
      const { pid = 0 } = servers[which] as KillableServer;
      process.kill(pid, "SIGSTOP");
      return {
        kill: () => next(which, (server) => revive(server, from, 0)),
        resume() {
          process.kill(pid, "SIGCONT");
          troubles.push({ what: "server stopped", from, to: monotonic() });
        },
      };
    },
    wereKilled: async (at) =>
      void (await Promise.all(servers.map((_, which) => next(which, (server) => revive(server, at, 0))))),
    stop: (which, forMs) =>
      next(which, async (server) => {
        const from = monotonic();
        await server.stall(forMs);
        troubles.push({ what: "server stopped", from, to: monotonic() });
      }),
    async killPostgres() {
      const from = monotonic();
      await killPostgres(folder);
      for (const { url } of servers) while (!(await isReady(url))) await pause(RETRY_MS);
      troubles.push({ what: "postgres killed", from, to: monotonic() });
    },
    rest: async () => void (await Promise.all(doing)),
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await answer.text();
    return answer.ok;
  } catch {
    // The server is restarting itself, or waits for its database.
    return false;
  }
}
