import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { newMasterKey, newSecretToken } from "@holdfast/server";
import { attachReference, differingModels } from "../support/attached-tables.ts";
import { audit, type Verdict as LogVerdict, type WriteCall } from "../support/audit.ts";
import { KillableServer, type ServerPlan } from "../support/killable-server.ts";
import { openDatabase } from "../support/log-tables.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { check, type Verdict } from "./check.ts";
import { openGate } from "./gate.ts";
import { type Call, type History, readRecords } from "./history.ts";
import { createNemesis, type Fault, type Hurt } from "./nemesis.ts";
import { MODEL, type Plan } from "./plan.ts";
import { readLog } from "./read-log.ts";
import { fillEnvironment, participantsOf } from "./test-environment.ts";
import { startWorkerPool } from "./worker-pool.ts";

export interface RunOptions {
  readonly databaseUrl: string;
  /** The data directory of that Postgres, if the run may kill it. */
  readonly postgresDir?: string;
  readonly claimants: number;
  readonly records: number;
  /** Processes of claimants. */
  readonly processes: number;
  readonly operations: number;
  readonly seed: number;
  /** The run ends then, however many operations were done. */
  readonly withinMs: number;
  /** One fault every so often; absent: only those that are listed. */
  readonly faultEveryMs?: number;
  /** These, in this order, evenly over the run. */
  readonly faults?: readonly Fault[];
  /** The rows of all models are in attached tables. */
  readonly attached?: boolean;
  /** How each of the two servers is started. */
  readonly servers?: readonly [ServerPlan, ServerPlan];
  print(line: string): void;
}

export interface Findings {
  readonly seed: number;
  readonly history: History;
  readonly verdict: Verdict;
  readonly audited: LogVerdict;
  /** Models whose tables do not have the same rows as the records. */
  readonly differing: readonly string[];
  readonly hurt: Hurt;
  readonly seconds: number;
}

/**
 *   claimants, many to a process ──► gate ──► server ──┐
 *          ▲ kill, SIGSTOP           ▲ cut    ▲ kill   ├──► Postgres ◄── kill
 *          │                ──► gate ──► server ──┘
 *   every request and every claim that is seen goes into a file
 *
 * Afterwards the checker compares the records with the rules of claims, by the times in the log itself.
 */
export async function runClaims(asked: RunOptions): Promise<Findings> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-claims-"));
  const key = newSecretToken(true);
  const env = {
    DATABASE_URL: asked.databaseUrl,
    HOLDFAST_SECRET_KEY: key,
    HOLDFAST_MASTER_KEY: newMasterKey(),
    HOLDFAST_LOG_LEVEL: "silent",
    ...(asked.attached && { HOLDFAST_SCHEMA: "" }),
  };
  const servers = [0, 1].map((i) => {
    const plan = asked.servers?.[i] ?? {};
    return new KillableServer(folder, { ...plan, env: { ...env, ...plan.env } });
  });
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const begun = performance.now();
  try {
    // One after the other: the first one makes the tables and pushes the schema.
    for (const server of servers) {
      closing.push(() => server.stop());
      await server.start();
    }
    if (asked.attached) await attachReference(asked.databaseUrl);
    const gates = await Promise.all(servers.map(({ url }) => openGate(url)));
    closing.push(() => {
      for (const gate of gates) gate.close();
    });
    const [first] = servers as [KillableServer, KillableServer];
    const { claimants, records } = await fillEnvironment(first.url, key, asked);
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
    closing.push(() => workerPool.end());
    const nemesis = createNemesis({ workerPool, servers, gates, postgresDir: asked.postgresDir }, chance);
    const participants = participantsOf(claimants);
    await drive(asked, workerPool, nemesis);
    asked.print("no more faults: every claimant finishes what it does");
    await workerPool.finish();
    const history = {
      participants,
      ...readRecords(folder),
      log: await readLog(first.url, key),
    };
    return {
      seed: asked.seed,
      history,
      verdict: check(history),
      audited: await auditLog(asked.databaseUrl, history.calls),
      differing: asked.attached ? await differingModels(asked.databaseUrl) : [],
      hurt: nemesis.hurt,
      seconds: (performance.now() - begun) / 1_000,
    };
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** Injects faults until the worker pool has sent enough requests. */
async function drive(
  { operations, withinMs, faultEveryMs, faults = [], print }: RunOptions,
  workerPool: ReturnType<typeof startWorkerPool>,
  nemesis: ReturnType<typeof createNemesis>,
): Promise<void> {
  const begun = performance.now();
  const planned = [...faults];
  /** How much of the run is behind us: of its requests, or of its time. */
  const share = () => Math.max(workerPool.count() / operations, (performance.now() - begun) / withinMs);
  let last = begun;
  let reportedAt = begun;
  while (planned.length > 0 || share() < 1) {
    await pause(50);
    const now = performance.now();
    const due = planned.length > 0 && share() >= (faults.length - planned.length + 1) / (faults.length + 1);
    if (due || (faultEveryMs !== undefined && now - last >= faultEveryMs)) {
      await nemesis.one(due ? planned.shift() : undefined);
      last = performance.now();
    }
    if (now - reportedAt > 5_000) {
      reportedAt = now;
      print(
        `${workerPool.count()}/${operations} requests, ${Object.values(nemesis.hurt).reduce((sum, n) => sum + n, 0)} faults, ${Math.round((now - begun) / 1_000)} s`,
      );
    }
  }
}

/** Audits the log: every acknowledged write once, no foreign entries, no holes. */
async function auditLog(databaseUrl: string, calls: readonly Call[]): Promise<LogVerdict> {
  const database = await openDatabase(databaseUrl);
  try {
    return audit({ ...(await database.everything()), calls: calls.flatMap(writeOf), followers: [] });
  } finally {
    await database.close();
  }
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
