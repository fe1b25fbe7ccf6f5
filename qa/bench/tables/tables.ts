import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { percentile, type Runs, summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { creates } from "../stage/creates.ts";
import { endProgram, startProgram } from "../stage/processes.ts";
import type { ServerReady } from "../stage/server.ts";
import { type Options, openStage, runAbreast, type Stage } from "../stage/stage.ts";
import type { ListenPlan } from "../stream/listeners.ts";
import { attach } from "./attach.ts";
import { attachingWhileWritten } from "./attaching.ts";
import { openReading } from "./reading.ts";

const CONNECTIONS = 64;
/** For each server of those that are sent to in turn. */
const TURNS_SECONDS = 12;
const SQL_PER_SECOND = 200;
const HEARD_SECONDS = 10;
const BULK_ROWS = 100_000;
const SINGLE_UPDATES = 3_000;
const MARK = "Heard ";

const TABLE = `create table public.slides (id text primary key, deck_id text, title text, "order" double precision default 0, notes text)`;

/** Attached tables beside hosted records, and what the triggers cost the caller's own SQL. */
export async function measureTables({ rounds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const hosted = await stage.server({ database: "hosted" });
  const databaseUrl = await stage.database("attached");
  const attached = await stage.server({ databaseUrl });
  await stage.sql(databaseUrl, TABLE);
  await attach(databaseUrl, attached.organizations[0], "public.slides");
  const figures = new Map<string, number[]>();
  const keep = (found: Readonly<Record<string, number>>, n: number) => {
    for (const [name, value] of Object.entries(found)) figures.set(name, [...(figures.get(name) ?? []), value]);
    const said = Object.entries(found).map(([name, value]) => `${name} ${round(value)}`);
    print(`round ${n + 1} of ${rounds}: ${said.join(", ")}`);
  };
  for (let n = 0; n < rounds; n++) {
    keep(await writesInTurn(hosted, attached), n);
    keep(await heardFromSql(databaseUrl, attached), n);
    keep(await costOfTriggers(stage, databaseUrl, attached.child), n);
    // Otherwise the next round would record what this one has left.
    await collected(stage, databaseUrl);
  }
  await checkEqual(stage, databaseUrl);
  await Promise.all([hosted.stop(), attached.stop()]);
  const read = await openReading(stage);
  for (let n = 0; n < rounds; n++) keep(await read(), n);
  for (let n = 0; n < rounds; n++) keep(await attachingWhileWritten(stage), n);
  return rowsOf(new Map([...figures].map(([name, values]) => [name, summarize(values)])));
}

/** Both servers are sent to in turn, a moment each; the share is the middle one of those of the moments. */
async function writesInTurn(hosted: ServerReady, attached: ServerReady) {
  const plans = [hosted, attached].map((server) => ({
    ...{ ...creates(server), connections: CONNECTIONS, seconds: TURNS_SECONDS },
  }));
  const [ofHosted = [], ofAttached = []] = await runAbreast(plans);
  return {
    hosted: middle(ofHosted),
    attached: middle(ofAttached),
    attachedOfHosted: middle(ofAttached.map((rate, i) => rate / (ofHosted[i] ?? 0))),
  };
}

/** From sending an SQL statement to hearing its commit on a client's socket. */
async function heardFromSql(databaseUrl: string, { url, tokens: [token = ""] }: ServerReady) {
  const listener = startProgram(new URL("../stream/listeners.ts", import.meta.url), [
    JSON.stringify({ url, tokens: [token], sockets: 1, mark: MARK } satisfies ListenPlan),
  ]);
  const lines = createInterface({ input: listener.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  await lines.next();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
  await insertSteadily(pool, 3, "Warm ");
  await insertSteadily(pool, HEARD_SECONDS, MARK);
  await pool.end();
  await pause(1_000);
  listener.kill("SIGTERM");
  const delays = (JSON.parse((await lines.next()).value as string) as number[]).sort((a, b) => a - b);
  await endProgram(listener);
  if (delays.length !== HEARD_SECONDS * SQL_PER_SECOND) throw new Error(`Only ${delays.length} inserts were heard.`);
  return { heard50: percentile(delays, 0.5), heard99: percentile(delays, 0.99) };
}

async function insertSteadily(pool: pg.Pool, seconds: number, mark: string): Promise<void> {
  const sent: Promise<unknown>[] = [];
  const start = performance.now();
  for (let n = 0; n < seconds * SQL_PER_SECOND; n++) {
    const wait = start + (n * 1_000) / SQL_PER_SECOND - performance.now();
    if (wait > 0) await pause(wait);
    const now = String(process.hrtime.bigint()).padStart(20, "0");
    sent.push(
      pool.query({
        name: "insert",
        text: "insert into slides (id, deck_id, title) values (gen_random_uuid()::text, 'deck-1', $1)",
        values: [`${mark}${now}`],
      }),
    );
  }
  await Promise.all(sent);
}

/**
 * The same statements on a table with triggers and on one without, in turn. The server stands still meanwhile: it would
 * take a part of the machine to record the changes. `updateCostBusy`: when it does.
 */
async function costOfTriggers(stage: Stage, databaseUrl: string, server: ChildProcess) {
  await stage.sql(databaseUrl, `drop table if exists plain; create table plain (like slides including all)`);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const took = async (work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  const insert = (table: string) =>
    took(() =>
      client.query(`insert into ${table} (id, deck_id, title, notes)
        select '${table}' || gen_random_uuid(), 'deck-1', 'Title ' || n, repeat('n', 80) from generate_series(1, ${BULK_ROWS}) n`),
    );
  const update = async (table: string) => {
    const { rows } = await client.query<{ id: string }>(`select id from ${table} limit 100`);
    return took(async () => {
      for (let n = 0; n < SINGLE_UPDATES; n++)
        await client.query({
          name: `update_${table}`,
          text: `update ${table} set title = $1 where id = $2`,
          values: [`Title ${n}`, rows[n % rows.length]?.id],
        });
    });
  };
  await insert("plain");
  const inTurn = async (work: (table: string) => Promise<number>) => {
    const [first, slides, second] = [await work("plain"), await work("slides"), await work("plain")];
    return 100 * (slides / ((first + second) / 2) - 1);
  };
  const updateCostBusy = await inTurn(update);
  server.kill("SIGSTOP");
  const updateCost = await inTurn(update);
  const insertCost = await inTurn(insert);
  server.kill("SIGCONT");
  await client.end();
  await collected(stage, databaseUrl);
  return { insertCost, updateCost, updateCostBusy };
}

/** Until all captured changes are in the log. */
async function collected(stage: Stage, databaseUrl: string): Promise<void> {
  for (let waiting = 1; waiting > 0; ) {
    await pause(500);
    const [row] = await stage.sql<{ n: number }>(
      databaseUrl,
      "select count(*)::int as n from holdfast.captured_change",
    );
    waiting = row?.n ?? 0;
  }
}

/** A fast write that leaves table and log unequal is worth nothing. */
async function checkEqual(stage: Stage, databaseUrl: string): Promise<void> {
  await collected(stage, databaseUrl);
  const [row] = await stage.sql<{ n: number }>(
    databaseUrl,
    `select count(*)::int as n from slides t full join (
        select * from (select distinct on (id) id, verb, data from holdfast.log where model = 'slide' order by id, sync_id desc) l
        where verb <> 'deleted') r using (id)
      where t.title is distinct from r.data->>'title' or t.id is null`,
  );
  if (row?.n !== 0) throw new Error(`${row?.n} rows differ from what the log says.`);
}

const middle = (values: readonly number[]): number => summarize(values).median;

function rowsOf(figures: ReadonlyMap<string, Runs>): Row[] {
  const of = (name: string) => figures.get(name) as Runs;
  const share = of("attachedOfHosted");
  return [
    { what: "commits to hosted records, 64 connections", unit: "/s", runs: of("hosted") },
    {
      ...{ what: "commits to an attached table, 64 connections", unit: "/s", runs: of("attached") },
      against: `**${round(share.median)}** (${round(share.min)} – ${round(share.max)}) of hosted`,
      note: "target 0.60",
    },
    { what: "snapshot of an attached table, of hosted", unit: "", runs: of("snapshotOfHosted"), note: "target 0.80" },
    { what: "lists of an attached table, of hosted", unit: "", runs: of("listOfHosted"), note: "target 0.80" },
    {
      ...{ what: "attaching a table of 1 000 000 rows while 4 writers write", unit: "ms", runs: of("attachMs") },
      note: "target 2 000 ms",
    },
    {
      ...{ what: "p99 of these writers meanwhile, of before", unit: "×", runs: of("writersSlower") },
      note: "target 3",
    },
    ...[
      { what: `SQL insert sent → heard by a client, ${SQL_PER_SECOND}/s, p50`, name: "heard50", note: "target 60 ms" },
      { what: `SQL insert sent → heard by a client, ${SQL_PER_SECOND}/s, p99`, name: "heard99", note: "target 300 ms" },
    ].map(({ what, name, note }) => ({ what, unit: "ms", runs: of(name), note })),
    ...[
      { what: `cost for SQL: one insert of ${BULK_ROWS} rows`, name: "insertCost", note: "target 60 %" },
      { what: "cost for SQL: updates of single rows, one connection", name: "updateCost", note: "target 15 %" },
      {
        what: "the same while the server records them, on the same two cores",
        name: "updateCostBusy",
        note: "no target",
      },
    ].map(({ what, name, note }) => ({ what, unit: "%", runs: of(name), note })),
  ];
}
