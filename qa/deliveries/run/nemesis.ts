import type { SeededRandom } from "../../support/seeded-random.ts";
import type { TestEnvironment } from "../environment/test-environment.ts";
import { MOODS } from "../receiver/behaviour.ts";

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

/** Injects random faults, one at a time. */
export function createNemesis(
  environment: TestEnvironment,
  { chance, servers, postgresDir }: { chance: SeededRandom; servers: number; postgresDir: string | undefined },
): Nemesis {
  const hurt = Object.fromEntries(Object.keys(FAULTS).map((fault) => [fault, 0])) as Record<Fault, number>;
  const draws: readonly Fault[] = [
    ...(["server", "server", "restarted", "stalled", "receiver", "moods", "moods", "moods"] as const),
    ...(postgresDir === undefined ? [] : (["postgres"] as const)),
  ];
  const strike: Record<Fault, () => Promise<void>> = {
    server: () => environment.senders.kill(chance.below(servers), chance.below(1_000)),
    restarted: () => environment.senders.restart(chance.below(servers)),
    stalled: () =>
      environment.senders.stop(chance.below(servers), environment.times.leaseMs + 200 + chance.below(1_000)),
    receiver: () => environment.receiver.kill(),
    postgres: () => environment.senders.killPostgres(postgresDir as string),
    async moods() {
      const moods = Object.keys(MOODS) as (keyof typeof MOODS)[];
      for (const { hook, removed } of environment.owner.owned)
        if (!removed) await environment.receiver.feel(hook, chance.percent(50) ? "shaky" : chance.oneOf(moods));
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
