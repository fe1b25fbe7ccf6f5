import pg from "pg";
import { percentile } from "../report/statistics.ts";
import type { Stage } from "../stage/stage.ts";
import { attach } from "./attach.ts";

const ROWS = 1_000_000;
const WRITERS = 4;
const BEFORE_MS = 3_000;

/** Attaching a large table as an operator does it, while writers of the caller's own write it. */
export async function attachingWhileWritten(stage: Stage): Promise<Readonly<Record<string, number>>> {
  const server = await stage.server({ database: "large" });
  const databaseUrl = await stage.database("large");
  await stage.sql(databaseUrl, "create table public.larges (id int primary key, title text, notes text)");
  await stage.sql(
    databaseUrl,
    `insert into larges select n, 'Title ' || n, repeat('n', 80) from generate_series(1, ${ROWS}) n`,
  );
  await stage.sql(databaseUrl, "vacuum analyze larges");
  const stop = new AbortController();
  const took: { at: number; ms: number }[] = [];
  const writing = Array.from({ length: WRITERS }, (_, n) => write(databaseUrl, n, stop.signal, took));
  await new Promise((resolve) => setTimeout(resolve, BEFORE_MS));
  const start = performance.now();
  await attach(databaseUrl, server.organizations[0], "public.larges");
  const end = performance.now();
  stop.abort();
  await Promise.all(writing);
  await server.stop();
  await stage.sql(databaseUrl, "drop schema holdfast cascade; drop table larges");
  const p99 = (within: (at: number) => boolean) =>
    percentile(
      took.flatMap(({ at, ms }) => (within(at) ? ms : [])).sort((a, b) => a - b),
      0.99,
    );
  const before = p99((at) => at < start);
  return { attachMs: end - start, writersBefore99: before, writersSlower: p99((at) => at >= start) / before };
}

async function write(databaseUrl: string, n: number, stop: AbortSignal, took: { at: number; ms: number }[]) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (let i = n; !stop.aborted; i += WRITERS) {
    const at = performance.now();
    await client.query({
      name: "update",
      text: "update larges set title = $1 where id = $2",
      values: [`T${i}`, 1 + ((i * 7_919) % ROWS)],
    });
    took.push({ at, ms: performance.now() - at });
  }
  await client.end();
}
