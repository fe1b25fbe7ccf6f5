import { dirname, join } from "node:path";
import type { SourceProgram } from "@holdfast/server/testing/source-program";
import { runSql } from "../../packages/server/src/testing/run-sql.ts";
import { openFaultEnvironment, postgresOf } from "../support/fault-environment.ts";
import { type Follower, follow } from "../support/follower.ts";
import { mustWork } from "../support/holdfast-command.ts";
import { createRandomActs, type RandomActs } from "../support/random-acts.ts";
import { createRequester } from "../support/requester.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import type { Totals } from "../support/writers.ts";
import { startApiWriters } from "./api-writers.ts";
import { check, type Verdict } from "./check.ts";
import type { ToldPaper } from "./evidence.ts";
import { readEvidence } from "./read-evidence.ts";
import { listPapers, readUnreadable, toldOf } from "./read-papers.ts";
import { startSqlWriters } from "./sql-writers.ts";
import { ATTACHED, TABLES_SQL } from "./tables-sql.ts";

export interface RunOptions {
  /** Undefined: on a Postgres of its own, which the run may kill. */
  readonly databaseUrl?: string;
  readonly seconds: number;
  readonly seed: number;
  /** Writers of each kind. */
  readonly writers: number;
  /** One fault every so often, and each at least once; absent: none. */
  readonly faultEveryMs?: number;
  /** The server's program. */
  readonly main?: SourceProgram;
  print(line: string): void;
}

const FAULTS = ["server", "stalled", "postgres", "backend", "frozen"] as const;
type Fault = (typeof FAULTS)[number];

export interface Findings {
  readonly seed: number;
  readonly seconds: number;
  readonly verdict: Verdict;
  readonly totals: Totals;
  readonly nemesis: RandomActs<Fault>;
}

/**
 *   clients ──HTTP──► two servers ──► Postgres ◄── writers in plain SQL
 *                        ▲ kill -9      ▲ kill -9
 *
 * on the same rows of attached tables. Afterwards the checker compares tables, records, log and what the writers remember.
 */
export async function runTables(options: RunOptions): Promise<Findings> {
  const { seed, writers: count, main, print, faultEveryMs } = options;
  const begun = performance.now();
  const plan = { env: { HOLDFAST_SCHEMA: "" }, ...(main && { main }) };
  await using environment = await openFaultEnvironment({
    ...{ name: "tables", servers: [plan, plan], postgres: postgresOf(options.databaseUrl) },
  });
  const { databaseUrl, servers, key } = environment;
  await runSql(databaseUrl, TABLES_SQL);
  const program = main && { ...main, file: join(dirname(main.file), "holdfast.ts") };
  await mustWork(["tables", "attach", ...ATTACHED, "--yes"], databaseUrl, program && { program });
  const told: ToldPaper[] = [];
  const followers = servers.map(({ url }, i) =>
    follow(url, key, (entry) => {
      const paper = toldOf(`follower ${i}`, entry);
      if (paper) told.push(paper);
    }),
  );
  environment.closing(() => followers.map((follower) => follower.close()));
  const api = startApiWriters({ servers, key, writers: count, seed });
  const sql = startSqlWriters({ databaseUrl, writers: count, seed });
  const chance = SeededRandom.of(seed, 2_000);
  const { server, stalled, postgres, backend, frozen } = environment.faults(chance);
  const nemesis = createRandomActs<Fault>({ server, stalled, postgres, backend, frozen }, chance);
  const end = performance.now() + options.seconds * 1_000;
  await nemesis.repeat({
    first: faultEveryMs === undefined ? [] : FAULTS,
    everyMs: faultEveryMs,
    isOver: () => performance.now() >= end,
    tell: () =>
      print(
        `${nemesis.sum()} faults, ${api.totals().acknowledged} commits acknowledged, ${sql.calls().length} transactions in SQL`,
      ),
  });
  print("no more faults: every open question is asked until it is answered");
  await Promise.all([api.finish(), sql.finish()]);
  const evidence = { ...(await readEvidence(databaseUrl)), commits: api.calls(), transactions: sql.calls() };
  await Promise.all(followers.map((follower: Follower) => follower.reaches(evidence.head)));
  const lists = await Promise.all(
    servers.map(({ url }, i) =>
      listPapers(
        `list ${i}`,
        createRequester(() => [url], key),
      ),
    ),
  );
  told.push(...(await readUnreadable(evidence.log, environment.request)));
  const verdict = check({ ...evidence, followers, told, lists });
  return { ...{ seed, verdict, nemesis }, totals: api.totals(), seconds: (performance.now() - begun) / 1_000 };
}
