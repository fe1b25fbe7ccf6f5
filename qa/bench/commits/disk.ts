import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { ServerReady } from "../stage/server.ts";
import { type Options, openStage, runLoad, type Stage } from "../stage/stage.ts";

const TABLES = ["log", "record", "receipt"] as const;
const DATA = { deckId: "deck-1", title: "A slide", notes: "n".repeat(140) };

/** What a commit of one record with about 200 bytes leaves on the disk, and in the write-ahead log. */
export async function measureDisk({ rounds, seconds, print }: Options): Promise<Row[]> {
  const found = new Map<string, number[]>();
  for (let n = 0; n < rounds; n++) {
    await using stage = await openStage();
    const server = await stage.server({ database: "disk" });
    const bytes = await bytesOfCommits(stage, await stage.database("disk"), server, seconds);
    for (const [what, each] of Object.entries(bytes)) found.set(what, [...(found.get(what) ?? []), each]);
    const said = Object.entries(bytes).map(([what, each]) => `${what} ${each.toFixed(0)}`);
    print(`round ${n + 1} of ${rounds}: ${said.join(", ")}`);
  }
  return [...found].map(([what, runs]) => ({
    ...{ what: `create of a record with 200 B: ${what}`, unit: "B", runs: summarize(runs) },
  }));
}

async function bytesOfCommits(stage: Stage, databaseUrl: string, { url, tokens }: ServerReady, seconds: number) {
  const sizes = async () => {
    const columns = TABLES.map((name) => `pg_total_relation_size('holdfast.${name}')::float8 as ${name}`);
    const [row] = await stage.sql<Record<string, number>>(
      databaseUrl,
      `select (pg_current_wal_lsn() - '0/0')::float8 as wal, (select count(*)::float8 from holdfast.log) as commits,
        ${columns.join(", ")}`,
    );
    return row as Record<string, number>;
  };
  const body = JSON.stringify({ id: "s[<id>]", idempotencyKey: "k[<id>]", data: DATA });
  const requests = tokens.map((token) => ({ path: "/v1/models/slide", token, body }));
  const before = await sizes();
  await runLoad({ url, connections: 64, seconds, requests });
  const after = await sizes();
  const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
  const each = (name: string) => grown(name) / grown("commits");
  return {
    "write-ahead log": each("wal"),
    ...Object.fromEntries(TABLES.map((name) => [`in the ${name} table and its indexes`, each(name)])),
  };
}
