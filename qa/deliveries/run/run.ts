import { differingModels } from "../../support/attached-tables.ts";
import { createRandomActs, type RandomActs } from "../../support/random-acts.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { type Options, openTestEnvironment, type TestEnvironment } from "../environment/test-environment.ts";
import type { Evidence } from "../judge/evidence.ts";
import { judgeDeliveries, type Verdict } from "../judge/judge.ts";
import { MOODS } from "../receiver/behaviour.ts";
import { type ChangeKind, createOwnerChanges } from "./owner-changes.ts";
import { startWriters } from "./writers.ts";

export interface RunOptions extends Omit<Options, "servers"> {
  readonly servers: number;
  readonly endpoints: number;
  readonly writers: number;
  /** After this time the faults end. */
  readonly forMs: number;
  readonly faultEveryMs: number;
  readonly meddleEveryMs: number;
  /** These faults come first, in this order; random ones follow. */
  readonly faults?: readonly Fault[];
  readonly changes?: readonly ChangeKind[];
  print(line: string): void;
}

export type Fault = "server" | "restarted" | "stalled" | "receiver" | "postgres" | "moods";

export interface Findings {
  readonly seed: number;
  readonly evidence: Evidence;
  readonly verdict: Verdict;
  readonly nemesis: RandomActs<Fault>;
  readonly ownerChanges: RandomActs<ChangeKind>;
  readonly operations: number;
  /** Models whose tables do not have the same rows as the records. */
  readonly differing: readonly string[];
  /** From the last fault until everything was delivered; undefined: something was still pending at the end. */
  readonly calmMs: number | undefined;
  readonly seconds: number;
}

const CALM_MS = 180_000;

/** Writers write, the receiver misbehaves, processes are killed and the owner changes endpoints. Then the faults end, and everything is judged. */
export async function runDeliveries(options: RunOptions): Promise<Findings> {
  const { seed, print } = options;
  const begun = performance.now();
  await using environment = await openTestEnvironment(options);
  const chance = new SeededRandom(seed);
  const ownerChanges = createOwnerChanges(environment, chance);
  const nemesis = createNemesis(environment, options, chance);
  while (environment.owner.owned.length < options.endpoints) {
    const hook = `first-${environment.owner.owned.length}`;
    await environment.receiver.feel(hook, environment.owner.owned.length === 0 ? "good" : "shaky");
    await environment.register(hook, environment.owner.owned.length % 2 === 0 ? ["*"] : ["slide", "document"]);
  }
  const writers = startWriters(environment, options.writers, seed);
  const until = performance.now() + options.forMs;
  const isOver = () => performance.now() >= until;
  const tell = () => {
    const left = Math.round((until - performance.now()) / 1_000);
    print(
      `${writers.operations} operations, ${environment.records.notes.size} requests, ${nemesis.sum()} faults, ${left} s left`,
    );
  };
  await Promise.all([
    nemesis.repeat({ first: options.faults, everyMs: options.faultEveryMs, isOver, tell }),
    ownerChanges.repeat({ first: options.changes, everyMs: options.meddleEveryMs, isOver }),
  ]);
  await writers.stop();
  const calm = performance.now();
  const isCalm = await calmDown(environment, print);
  const calmMs = isCalm ? performance.now() - calm : undefined;
  const evidence = await environment.evidence();
  return {
    seed,
    evidence,
    verdict: judgeDeliveries(evidence),
    nemesis,
    ownerChanges,
    operations: writers.operations,
    differing: options.attached ? await differingModels(environment.databaseUrl) : [],
    calmMs,
    seconds: (performance.now() - begun) / 1_000,
  };
}

function createNemesis(
  { senders, receiver, owner, times }: TestEnvironment,
  { servers, databaseUrl }: RunOptions,
  chance: SeededRandom,
): RandomActs<Fault> {
  const any = () => chance.below(servers);
  async function change(): Promise<void> {
    const moods = Object.keys(MOODS) as (keyof typeof MOODS)[];
    for (const { hook, removed } of owner.owned)
      if (!removed) await receiver.feel(hook, chance.percent(50) ? "shaky" : chance.oneOf(moods));
  }
  return createRandomActs(
    {
      server: { says: "kill -9 of a server", often: 2, act: () => senders.kill(any(), chance.below(1_000)) },
      restarted: { says: "SIGTERM of a server, and started again", often: 1, act: () => senders.restart(any()) },
      stalled: {
        says: "SIGSTOP of a server past its leases",
        often: 1,
        act: () => senders.stop(any(), times.leaseMs + 200 + chance.below(1_000)),
      },
      receiver: { says: "kill -9 of the receiver", often: 1, act: () => receiver.kill() },
      postgres: {
        says: "kill -9 of Postgres",
        often: databaseUrl === undefined ? 1 : 0,
        act: () => senders.killPostgres(),
      },
      moods: { says: "the receiver's endpoints feel otherwise", often: 3, act: change },
    },
    chance,
  );
}

/** Ends all faults: the receiver accepts everything, and disabled endpoints are enabled again. */
async function calmDown(environment: TestEnvironment, print: (line: string) => void): Promise<boolean> {
  print("no more faults: everything that waits is delivered");
  for (const { hook, removed } of environment.owner.owned) if (!removed) await environment.receiver.feel(hook, "calm");
  for (const endpoint of environment.owner.owned)
    if (!endpoint.removed) await environment.owner.act(endpoint, { what: "enable" });
  return await environment.settle(CALM_MS);
}
