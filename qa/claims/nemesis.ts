import { setTimeout as pause } from "node:timers/promises";
import type { KillableServer } from "../support/killable-server.ts";
import { killPostgres } from "../support/postgres-process.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { Gate } from "./gate.ts";
import type { WorkerPool } from "./worker-pool.ts";

export const FAULTS = {
  client: "kill -9 of a process of claimants",
  paused: "SIGSTOP of a process of claimants past its leases",
  server: "kill -9 of a server",
  stalled: "SIGSTOP of a server, 1 to 3 s",
  postgres: "kill -9 of Postgres",
  cut: "all connections to a server cut",
} as const;
export type Fault = keyof typeof FAULTS;
export type Hurt = Readonly<Record<Fault, number>>;

export interface Victims {
  readonly workerPool: WorkerPool;
  readonly servers: readonly KillableServer[];
  readonly gates: readonly Gate[];
  /** Where Postgres runs; absent: it is not ours to kill. */
  readonly postgresDir: string | undefined;
}

/** Leases last up to 3.5 s, so a process that is suspended for longer resumes with an expired one. */
const PAST_LEASES_MS = 4_000;

export interface Nemesis {
  readonly hurt: Hurt;
  one(fault?: Fault): Promise<Fault>;
}

/** Injects random faults, one at a time. */
export function createNemesis({ workerPool, servers, gates, postgresDir }: Victims, chance: SeededRandom): Nemesis {
  const hurt = Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, 0])) as Record<Fault, number>;
  const draws: readonly Fault[] = [
    ...(["client", "client", "paused", "paused", "server", "stalled", "cut"] as const),
    ...(postgresDir === undefined ? [] : (["postgres"] as const)),
  ];
  const strike: Record<Fault, () => Promise<void>> = {
    client: () => workerPool.kill(chance.below(workerPool.size)),
    paused: () => workerPool.stop(chance.below(workerPool.size), PAST_LEASES_MS),
    async server() {
      const server = chance.oneOf(servers);
      await server.end();
      await pause(chance.below(1_000));
      await server.startAgain();
    },
    stalled: () => chance.oneOf(servers).stall(1_000 + chance.below(2_000)),
    postgres: () => killPostgres(postgresDir as string),
    cut: async () => void chance.oneOf(gates).cut(),
  };
  return {
    hurt,
    async one(fault = chance.oneOf(draws)) {
      await strike[fault]();
      hurt[fault] += 1;
      return fault;
    },
  };
}
