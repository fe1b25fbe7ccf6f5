import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { newMasterKey, newSecretToken } from "@holdfast/server";
import { type SourceProgram, sourceProgram } from "@holdfast/server/testing/source-program";
import pg from "pg";
import { type Follower, follow } from "../support/follower.ts";
import { KillableServer } from "../support/killable-server.ts";
import { killBackend, killPostgres, stallPostgres } from "../support/postgres-process.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import type { Totals } from "../support/writers.ts";
import { startApiWriters } from "./api-writers.ts";
import { check, type Verdict } from "./check.ts";
import { readEvidence } from "./read-evidence.ts";
import { startSqlWriters } from "./sql-writers.ts";
import { ATTACHED, TABLES_SQL } from "./tables-sql.ts";

export interface RunOptions {
  readonly databaseUrl: string;
  /** The data directory of that Postgres, if the run may kill it. */
  readonly postgresDir?: string;
  readonly seconds: number;
  readonly seed: number;
  /** Writers of each kind. */
  readonly writers: number;
  /** One fault every so often; absent: none. */
  readonly faultEveryMs?: number;
  /** The server's program. */
  readonly main?: SourceProgram;
  print(line: string): void;
}

export const FAULTS = {
  server: "kill -9 of a server",
  stalled: "SIGSTOP of a server, 1 to 3 s",
  postgres: "kill -9 of Postgres",
  backend: "kill -9 of one of its processes",
  frozen: "SIGSTOP of Postgres, 2 s",
} as const;
export type Fault = keyof typeof FAULTS;

export interface Findings {
  readonly seed: number;
  readonly seconds: number;
  readonly verdict: Verdict;
  readonly totals: Totals;
  readonly hurt: ReadonlyMap<Fault, number>;
}

/**
 *   clients ──HTTP──► two servers ──► Postgres ◄── writers in plain SQL
 *                        ▲ kill -9      ▲ kill -9
 *
 * on the same rows of attached tables. Afterwards the checker compares tables, records, log and what the writers remember.
 */
export async function runTables(options: RunOptions): Promise<Findings> {
  const { databaseUrl, seed, writers: count, main, print } = options;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-tables-"));
  const key = newSecretToken(true);
  const env = {
    DATABASE_URL: databaseUrl,
    HOLDFAST_SECRET_KEY: key,
    HOLDFAST_MASTER_KEY: newMasterKey(),
    HOLDFAST_LOG_LEVEL: "silent",
    HOLDFAST_SCHEMA: "",
  };
  const servers = [0, 1].map(() => new KillableServer(folder, { env, ...(main && { main }) }));
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const begun = performance.now();
  try {
    for (const server of servers) {
      closing.push(() => server.stop());
      await server.start();
    }
    await attach(databaseUrl, main);
    const followers = servers.map(({ url }) => follow(url, key));
    closing.push(() => followers.map((follower) => follower.close()));
    const api = startApiWriters({ servers, key, writers: count, seed });
    const sql = startSqlWriters({ databaseUrl, writers: count, seed });
    const hurt = await underFire(options, servers, () => {
      const { acknowledged } = api.totals();
      return `${acknowledged} commits acknowledged, ${sql.calls().length} transactions in SQL`;
    });
    print("no more faults: every open question is asked until it is answered");
    await Promise.all([api.finish(), sql.finish()]);
    const evidence = { ...(await readEvidence(databaseUrl)), commits: api.calls(), transactions: sql.calls() };
    await Promise.all(followers.map((follower: Follower) => follower.reaches(evidence.head)));
    const verdict = check({ ...evidence, followers });
    return { ...{ seed, verdict, hurt }, totals: api.totals(), seconds: (performance.now() - begun) / 1_000 };
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** As an operator does it, before the writers begin. */
async function attach(databaseUrl: string, main: SourceProgram | undefined): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(TABLES_SQL);
    await holdfast(["tables", "attach", ...ATTACHED, "--yes"], databaseUrl, main);
  } finally {
    await client.end();
  }
}

const CLI = new URL("../../packages/server/src/holdfast.ts", import.meta.url).pathname;

async function holdfast(words: readonly string[], databaseUrl: string, main: SourceProgram | undefined): Promise<void> {
  const { flags, file } = main ? { ...main, file: join(dirname(main.file), "holdfast.ts") } : sourceProgram(CLI);
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", DATABASE_URL: databaseUrl };
  const child = spawn(process.execPath, [...flags, file, ...words], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`holdfast ${words.join(" ")} ended with ${code}: ${said}`);
}

async function underFire(
  { seconds, seed, faultEveryMs, postgresDir, print }: RunOptions,
  servers: readonly KillableServer[],
  progress: () => string,
): Promise<ReadonlyMap<Fault, number>> {
  const chance = SeededRandom.of(seed, 2_000);
  const hurt = new Map<Fault, number>();
  const strike: Record<Fault, () => Promise<unknown>> = {
    async server() {
      const server = chance.oneOf(servers);
      await server.end();
      await pause(chance.below(1_000));
      await server.startAgain();
    },
    stalled: () => chance.oneOf(servers).stall(1_000 + chance.below(2_000)),
    postgres: () => killPostgres(postgresDir as string),
    backend: () => killBackend(postgresDir as string),
    frozen: () => stallPostgres(postgresDir as string, 2_000),
  };
  const faults = (Object.keys(strike) as Fault[]).filter(
    (fault) => postgresDir !== undefined || fault === "server" || fault === "stalled",
  );
  const end = performance.now() + seconds * 1_000;
  if (faultEveryMs === undefined) {
    await pause(seconds * 1_000);
    return hurt;
  }
  // Each of them in turn, and until each has happened: on a slow machine a short run lasts longer.
  for (let n = 0; performance.now() < end || n < faults.length; n++) {
    await pause(faultEveryMs);
    const fault = faults[n % faults.length] as Fault;
    await strike[fault]();
    hurt.set(fault, (hurt.get(fault) ?? 0) + 1);
    print(`${FAULTS[fault]}; ${progress()}`);
  }
  return hurt;
}
