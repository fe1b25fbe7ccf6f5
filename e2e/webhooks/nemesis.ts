import type { Chance } from "@holdfast/sdk/testing";
import { MOODS } from "./behaviour.ts";
import type { Slot } from "./place.ts";

export const FAULTS = {
  server: "kill -9 of a server",
  restarted: "SIGTERM of a server, and started again",
  stalled: "SIGSTOP of a server past its leases",
  receiver: "kill -9 of the receiver",
  postgres: "kill -9 of Postgres",
  moods: "the receiver's endpoints feel otherwise",
} as const;
export type Fault = keyof typeof FAULTS;

export interface Nemesis {
  readonly hurt: Readonly<Record<Fault, number>>;
  one(fault?: Fault): Promise<Fault>;
}

/** One fault at a time, drawn from all that can be done here. */
export function createNemesis(
  place: Slot,
  { chance, servers, postgresDir }: { chance: Chance; servers: number; postgresDir: string | undefined },
): Nemesis {
  const hurt = Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, 0])) as Record<Fault, number>;
  const draws: readonly Fault[] = [
    ...(["server", "server", "restarted", "stalled", "receiver", "moods", "moods", "moods"] as const),
    ...(postgresDir === undefined ? [] : (["postgres"] as const)),
  ];
  const strike: Record<Fault, () => Promise<void>> = {
    server: () => place.senders.kill(chance.below(servers), chance.below(1_000)),
    restarted: () => place.senders.restart(chance.below(servers)),
    stalled: () => place.senders.stop(chance.below(servers), place.times.leaseMs + 200 + chance.below(1_000)),
    receiver: () => place.receiver.kill(),
    postgres: () => place.senders.killPostgres(postgresDir as string),
    async moods() {
      const moods = Object.keys(MOODS) as (keyof typeof MOODS)[];
      for (const { hook, removed } of place.owner.owned)
        if (!removed) await place.receiver.feel(hook, chance.percent(50) ? "shaky" : chance.oneOf(moods));
    },
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
