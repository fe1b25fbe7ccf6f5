// The floor of the lane: transactions of 32 log lines, records and receipts on one connection, without HTTP and without a rule.
import { randomBytes } from "node:crypto";
import pg from "pg";

const { url, seconds } = JSON.parse(process.argv[2] ?? "{}") as { url: string; seconds: number };
/** What a round holds when 64 connections write: one half is committed while the other waits. */
const ROUND = 32;
const data = JSON.stringify({ deckId: "deck-1", title: "A slide", order: 3, notes: "n".repeat(850) });
const receipt = JSON.stringify({ object: "commit_receipt", status: "confirmed", filler: "r".repeat(150) });
const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig);
await client.connect();
await client.query("create table if not exists round_log (n bigint primary key, id text not null, data json not null)");
await client.query("create index if not exists round_log_record on round_log (id, n)");
await client.query("create table if not exists round_record (id text primary key, data json not null)");
await client.query("create table if not exists round_receipt (name text primary key, body json not null)");
const text = `with line as materialized (select * from unnest($1::bigint[], $2::text[], $3::json[], $4::json[]) as line(n, id, data, body)),
  logged as (insert into round_log (n, id, data) select n, id, data from line),
  kept as (insert into round_record (id, data) select id, data from line)
  insert into round_receipt (name, body) select 'k' || id, body from line`;
const names = Array.from({ length: ROUND }, () => randomBytes(12).toString("base64url"));
let n = Date.now() * 1_000;

async function round(): Promise<void> {
  const lines = names.map((name) => ({ n: ++n, id: `${name}-${n}` }));
  const values = [
    lines.map((line) => line.n),
    lines.map(({ id }) => id),
    lines.map(() => data),
    lines.map(() => receipt),
  ];
  await Promise.all([client.query("begin"), client.query({ name: "round", text, values }), client.query("commit")]);
}

const until = async (end: number) => {
  let rounds = 0;
  for (; performance.now() < end; rounds++) await round();
  return rounds;
};
await until(performance.now() + 500);
const start = performance.now();
const rounds = await until(start + seconds * 1_000);
process.stdout.write(JSON.stringify({ perSecond: (rounds * ROUND * 1_000) / (performance.now() - start) }));
await client.end();
