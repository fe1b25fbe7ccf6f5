import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@holdfast/server";
import pg from "pg";
import type { AbreastPlan, AbreastResult } from "./abreast.ts";
import type { LoadPlan, LoadResult } from "./load.ts";
import { endProgram, firstLine, startProgram, wholeOutput } from "./processes.ts";
import type { ServerPlan, ServerReady } from "./server.ts";

/** What every benchmark is told. */
export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  /** Profiles of the CPU time are wanted, where a benchmark makes them. */
  readonly profile?: boolean;
  print(line: string): void;
}

/** Where a run happens: one Postgres with fsync on, and whatever servers were started on it. */
export interface Stage extends AsyncDisposable {
  readonly postgres: EmbeddedPostgres;
  /** The URL of a database of that name, made when it is not there. */
  database(name: string): Promise<string>;
  /** For one organization, in the database of that name or address, unless told otherwise. */
  server(plan?: Partial<ServerPlan> & { database?: string }): Promise<RunningProgram & ServerReady>;
  sql<T>(databaseUrl: string, text: string, values?: unknown[]): Promise<T[]>;
}

export interface RunningProgram {
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/**
 * As much as Postgres writes from one checkpoint to the next under load, in pieces of 1 MB. The files of its write-ahead
 * log that a checkpoint finds are written over from then on; one that has to be made holds up all commits for as long as
 * 16 MB take.
 */
export const WRITTEN_BEFORE =
  "select count(pg_logical_emit_message(false, 'bench', repeat('x', 1000000))) from generate_series(1, 2000)";

/** Its Postgres is like one that has been at work for a while. */
export async function openStage(): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const postgres = await startEmbeddedPostgres({ dataDir: dir });
  const running = new Set<ChildProcess>();
  const stage: Stage = {
    postgres,
    async database(name) {
      const known = await stage.sql(postgres.url, "select 1 from pg_database where datname = $1", [name]);
      if (known.length === 0) await stage.sql(postgres.url, `create database ${name}`);
      const url = new URL(postgres.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    async server({ database, ...plan } = {}) {
      const databaseUrl = database === undefined ? postgres.url : await stage.database(database);
      const whole: ServerPlan = { organizations: 1, databaseUrl, ...plan };
      const child = startProgram(new URL("server.ts", import.meta.url), [JSON.stringify(whole)]);
      running.add(child);
      return { child, stop: () => endProgram(child), ...(await firstLine<ServerReady>(child)) };
    },
    async sql<T>(databaseUrl: string, text: string, values: unknown[] = []) {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      const { rows } = await client.query(text, values).finally(() => client.end());
      return rows as T[];
    },
    async [Symbol.asyncDispose]() {
      for (const child of running) await endProgram(child);
      await postgres.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await stage.sql(postgres.url, WRITTEN_BEFORE);
  await stage.sql(postgres.url, "checkpoint");
  return stage;
}

/** One run of load. An answer that is not 2xx would make the figure a lie, so it ends the benchmark. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const result = await wholeOutput<LoadResult>(
    startProgram(new URL("load.ts", import.meta.url), [JSON.stringify(plan)]),
  );
  if (result.failed > 0 || result.answers === 0)
    throw new Error(`${result.failed} of ${result.answers + result.failed} requests failed.`);
  return result;
}

/** The same of several servers in turn, a moment each: see abreast.ts. */
export const runAbreast = (plans: AbreastPlan): Promise<AbreastResult> =>
  wholeOutput(startProgram(new URL("abreast.ts", import.meta.url), [JSON.stringify(plans)]));
