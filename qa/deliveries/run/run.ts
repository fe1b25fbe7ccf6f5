import { setTimeout as pause } from "node:timers/promises";
import { differingModels } from "../../support/attached-tables.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { type Options, openTestEnvironment, type TestEnvironment } from "../environment/test-environment.ts";
import type { Evidence } from "../judge/evidence.ts";
import { judgeDeliveries, type Verdict } from "../judge/judge.ts";
import { createNemesis, type Fault } from "./nemesis.ts";
import { type ChangeKind, createOwnerChanges } from "./owner-changes.ts";
import { startWriters } from "./writers.ts";

export interface RunOptions extends Omit<Options, "servers"> {
  /** The data directory of that Postgres, if the run may kill it. */
  readonly postgresDir?: string | undefined;
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

export interface Findings {
  readonly seed: number;
  readonly evidence: Evidence;
  readonly verdict: Verdict;
  readonly hurt: Readonly<Record<Fault, number>>;
  readonly done: Readonly<Record<ChangeKind, number>>;
  readonly operations: number;
  /** Models whose tables do not have the same rows as the records. */
  readonly differing: readonly string[];
  /** From the last fault until everything was delivered; undefined: something was still pending at the end. */
  readonly calmMs: number | undefined;
  readonly seconds: number;
}

const CALM_MS = 180_000;
const PROGRESS_MS = 5_000;

/** Writers write, the receiver misbehaves, processes are killed and the owner changes endpoints. Then the faults end, and everything is judged. */
export async function runDeliveries(options: RunOptions): Promise<Findings> {
  const { seed, print } = options;
  const begun = performance.now();
  const environment = await openTestEnvironment(options);
  try {
    const chance = new SeededRandom(seed);
    const ownerChanges = createOwnerChanges(environment, chance);
    const nemesis = createNemesis(environment, { chance, servers: options.servers, postgresDir: options.postgresDir });
    while (environment.owner.owned.length < options.endpoints) {
      const hook = `first-${environment.owner.owned.length}`;
      await environment.receiver.feel(hook, environment.owner.owned.length === 0 ? "good" : "shaky");
      await environment.register(hook, environment.owner.owned.length % 2 === 0 ? ["*"] : ["slide", "document"]);
    }
    const writers = startWriters(environment, options.writers, seed);
    const until = performance.now() + options.forMs;
    const { faults = [], changes = [] } = options;
    await Promise.all([
      repeat({ until, least: faults.length, everyMs: options.faultEveryMs }, (n) => nemesis.one(faults[n])),
      repeat({ until, least: changes.length, everyMs: options.meddleEveryMs }, (n) => ownerChanges.one(changes[n])),
      repeat({ until, least: 0, everyMs: PROGRESS_MS }, async () =>
        print(progress(environment, writers.operations, nemesis.hurt, until)),
      ),
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
      hurt: nemesis.hurt,
      done: ownerChanges.done,
      operations: writers.operations,
      differing: options.attached ? await differingModels(options.databaseUrl) : [],
      calmMs,
      seconds: (performance.now() - begun) / 1_000,
    };
  } finally {
    await environment.close();
  }
}

interface Pace {
  readonly until: number;
  /** Repeats the work at least `least` times, and until the time is over. */
  readonly least: number;
  readonly everyMs: number;
}

async function repeat({ until, least, everyMs }: Pace, work: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; ; n++) {
    const left = n < least ? everyMs : Math.max(0, Math.min(everyMs, until - performance.now()));
    await pause(left);
    if (n >= least && performance.now() >= until) return;
    await work(n);
  }
}

/** Ends all faults: the receiver accepts everything, and disabled endpoints are enabled again. */
async function calmDown(environment: TestEnvironment, print: (line: string) => void): Promise<boolean> {
  print("no more faults: everything that waits is delivered");
  for (const { hook, removed } of environment.owner.owned) if (!removed) await environment.receiver.feel(hook, "calm");
  for (const endpoint of environment.owner.owned)
    if (!endpoint.removed) await environment.owner.act(endpoint, { what: "enable" });
  return await environment.settle(CALM_MS);
}

function progress(
  environment: TestEnvironment,
  operations: number,
  hurt: Readonly<Record<string, number>>,
  until: number,
): string {
  const faults = Object.values(hurt).reduce((sum, n) => sum + n, 0);
  const left = Math.max(0, Math.round((until - performance.now()) / 1_000));
  return `${operations} operations, ${environment.records.notes.size} requests, ${faults} faults, ${left} s left`;
}
