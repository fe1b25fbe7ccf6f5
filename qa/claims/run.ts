import type { LogEntry } from "@holdfast/sdk/protocol";
import { differingModels } from "../support/attached-tables.ts";
import { audit, type Verdict as LogVerdict, type WriteCall } from "../support/audit.ts";
import { openFaultEnvironment, postgresOf } from "../support/fault-environment.ts";
import type { ServerPlan } from "../support/killable-server.ts";
import { openDatabase } from "../support/log-tables.ts";
import { createRandomActs, type RandomActs } from "../support/random-acts.ts";
import { readLog } from "../support/requester.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { check, type Verdict } from "./check.ts";
import { fillEnvironment, participantsOf } from "./claimants.ts";
import { type Call, type Entry, type History, readRecords } from "./history.ts";
import { MODEL, type Plan } from "./plan.ts";
import { startWorkerPool, type WorkerPool } from "./worker-pool.ts";

export interface RunOptions {
  /** Undefined: on a Postgres of its own, which the run may kill. */
  readonly databaseUrl?: string;
  readonly claimants: number;
  readonly records: number;
  /** Processes of claimants. */
  readonly processes: number;
  readonly operations: number;
  readonly seed: number;
  /** The run ends then, however many operations were done. */
  readonly withinMs: number;
  /** One fault every so often, first these; absent: none. */
  readonly faultEveryMs?: number;
  readonly faults?: readonly Fault[];
  /** The rows of all models are in attached tables. */
  readonly attached?: boolean;
  /** How each of the two servers is started. */
  readonly servers?: readonly [ServerPlan, ServerPlan];
  print(line: string): void;
}

export type Fault = "client" | "paused" | "server" | "stalled" | "postgres" | "cut";

export interface Findings {
  readonly seed: number;
  readonly history: History;
  readonly verdict: Verdict;
  readonly audited: LogVerdict;
  /** Models whose tables do not have the same rows as the records. */
  readonly differing: readonly string[];
  readonly nemesis: RandomActs<Fault>;
  readonly seconds: number;
}

/** Leases last up to 3.5 s, so a process that is suspended for longer resumes with an expired one. */
const PAST_LEASES_MS = 4_000;

/**
 *   claimants, many to a process ──► gate ──► server ──┐
 *          ▲ kill, SIGSTOP           ▲ cut    ▲ kill   ├──► Postgres ◄── kill
 *          │                ──► gate ──► server ──┘
 *   every request and every claim that is seen goes into a file
 *
 * Afterwards the checker compares the records with the rules of claims, by the times in the log itself.
 */
export async function runClaims(asked: RunOptions): Promise<Findings> {
  const begun = performance.now();
  await using environment = await openFaultEnvironment({
    name: "claims",
    servers: asked.servers ?? [{}, {}],
    postgres: postgresOf(asked.databaseUrl),
    attached: asked.attached ?? false,
  });
  const { folder, key, request, databaseUrl } = environment;
  const gates = await environment.openGates();
  const { claimants, records } = await fillEnvironment(request, asked);
  const chance = new SeededRandom(asked.seed);
  const plans = Array.from(
    { length: asked.processes },
    (_, which): Omit<Plan, "name"> => ({
      folder,
      seed: Math.floor(chance.roll() * 2 ** 31),
      urls: gates.map(({ url }) => url),
      claimants: claimants.filter((_one, i) => i % asked.processes === which),
      records,
      // Where lines are put into another order their first order says nothing: only on one record.
      ...(which === 0 && { orderer: { actor: "key", token: key, record: records.at(-1) as string } }),
    }),
  );
  const workerPool = startWorkerPool(plans);
  environment.closing(() => workerPool.end());
  const { server, stalled, postgres, cut } = environment.faults(chance);
  const nemesis = createRandomActs<Fault>({ ...faultsOf(workerPool, chance), server, stalled, postgres, cut }, chance);
  const seconds = () => (performance.now() - begun) / 1_000;
  const end = performance.now() + asked.withinMs;
  await nemesis.repeat({
    ...{ first: asked.faults, everyMs: asked.faultEveryMs },
    isOver: () => workerPool.count() >= asked.operations || performance.now() > end,
    tell: () =>
      asked.print(
        `${workerPool.count()}/${asked.operations} requests, ${nemesis.sum()} faults, ${Math.round(seconds())} s`,
      ),
  });
  asked.print("no more faults: every claimant finishes what it does");
  await workerPool.finish();
  const log = (await readLog(request)).filter(({ model }) => model === MODEL).map(entryOf);
  const history = { participants: participantsOf(claimants), ...readRecords(folder), log };
  return {
    seed: asked.seed,
    history,
    verdict: check(history),
    audited: await auditLog(databaseUrl, history.calls),
    differing: asked.attached ? await differingModels(databaseUrl) : [],
    nemesis,
    seconds: seconds(),
  };
}

const faultsOf = (workerPool: WorkerPool, chance: SeededRandom) => ({
  client: {
    says: "kill -9 of a process of claimants",
    often: 2,
    act: () => workerPool.kill(chance.below(workerPool.size)),
  },
  paused: {
    says: "SIGSTOP of a process of claimants past its leases",
    often: 2,
    act: () => workerPool.stop(chance.below(workerPool.size), PAST_LEASES_MS),
  },
});

const entryOf = ({ syncId, id, changedFields, actor, clientTxId, claim, createdAt }: LogEntry): Entry => ({
  syncId,
  record: id,
  fields: changedFields,
  actor,
  name: clientTxId,
  claim,
  at: Date.parse(createdAt),
});

/** Audits the log: every acknowledged write once, no foreign entries, no holes. */
async function auditLog(databaseUrl: string, calls: readonly Call[]): Promise<LogVerdict> {
  await using database = await openDatabase(databaseUrl);
  return audit({ ...(await database.everything()), calls: calls.flatMap(writeOf), followers: [] });
}

/** Refused writes are left out: if one were in the log, it would be a foreign entry. */
function writeOf({ what, asked, answered, answer }: Call): WriteCall[] {
  if (what.op !== "write" || (answer && answer.status >= 400 && answer.status < 500)) return [];
  const ids = what.also === undefined ? [what.record] : [what.also, what.record];
  return [
    {
      name: what.name,
      operations: ids.map((id) => ({ model: MODEL, id })),
      asked: asked.mono,
      ...(answer?.status === 200 && answered
        ? { answered: answered.mono, receipt: { lastSyncId: answer.lastSyncId as number } }
        : { abandoned: true as const }),
    },
  ];
}
