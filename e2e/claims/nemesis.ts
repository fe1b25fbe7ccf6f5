import { setTimeout as pause } from "node:timers/promises";
import type { Chance } from "@holdfast/sdk/testing";
import type { KillableServer } from "../support/killable-server.ts";
import { killPostgres } from "../support/postgres-process.ts";
import type { Crowd } from "./crowd.ts";
import type { Gate } from "./gate.ts";

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
  readonly crowd: Crowd;
  readonly servers: readonly KillableServer[];
  readonly gates: readonly Gate[];
  /** Where Postgres runs; absent: it is not ours to kill. */
  readonly postgresDir: string | undefined;
}

/** Leases last up to 3.5 s: who stands still for longer comes back with one that is over. */
const PAST_LEASES_MS = 4_000;

export interface Nemesis {
  readonly hurt: Hurt;
  one(fault?: Fault): Promise<Fault>;
}

/** One fault at a time, drawn from all that can be done here. */
export function createNemesis({ crowd, servers, gates, postgresDir }: Victims, chance: Chance): Nemesis {
  const hurt = Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, 0])) as Record<Fault, number>;
  const draws: readonly Fault[] = [
    ...(["client", "client", "paused", "paused", "server", "stalled", "cut"] as const),
    ...(postgresDir === undefined ? [] : (["postgres"] as const)),
  ];
  const strike: Record<Fault, () => Promise<void>> = {
    client: () => crowd.kill(chance.below(crowd.size)),
    paused: () => crowd.stop(chance.below(crowd.size), PAST_LEASES_MS),
    async server() {
      const server = chance.oneOf(servers);
      await server.end();
      await pause(chance.below(1_000));
      await startAgain(server);
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

/** A server refuses to start while its database is away; whoever runs it starts it again. */
async function startAgain(server: KillableServer): Promise<void> {
  for (let tried = 1; ; tried++)
    try {
      return await server.start();
    } catch (error) {
      if (tried === 20) throw error;
      await pause(500);
    }
}
