import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { type Options, openStage } from "../stage/stage.ts";

const ROWS = 200_000;

/** How fast a new client gets everything: pages of 10 000 rows, read to their ends. */
export async function measureSnapshot({ rounds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server();
  await stage.sql(
    stage.postgres.url,
    `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
     select (select tenant from holdfast.head where schema_version > 0), 'slide', md5(n::text), n, json_build_object('id', md5(n::text), 'deckId', 'deck-1', 'title', 'Slide ' || n, 'order', n, 'notes', repeat('n', 200)),
       array['deck:deck-1'], n, 'system:key_filler', now(), now(), 'system:key_filler' from generate_series(1, ${ROWS}) n`,
  );
  await stage.sql(stage.postgres.url, "vacuum analyze");
  const found: Record<"identity" | "gzip", number[]> = { identity: [], gzip: [] };
  for (let n = 0; n < rounds; n++)
    for (const encoding of ["identity", "gzip"] as const) {
      const start = performance.now();
      const count = await readAll(server.url, server.tokens[0] as string, encoding);
      if (count !== ROWS) throw new Error(`The snapshot held ${count} of ${ROWS} rows.`);
      found[encoding].push((ROWS * 1_000) / (performance.now() - start));
      print(`round ${n + 1} of ${rounds}: ${encoding} ${Math.round(found[encoding].at(-1) as number)} rows/s`);
    }
  return [
    {
      what: `snapshot of ${ROWS.toLocaleString("en-US")} rows of 330 B, pages of 10 000`,
      unit: "rows/s",
      runs: summarize(found.identity),
      note: "target 80 000/s",
    },
    { what: "the same, compressed with gzip", unit: "rows/s", runs: summarize(found.gzip) },
  ];
}

export async function readAll(url: string, token: string, encoding: string): Promise<number> {
  let count = 0;
  let cursor: string | null = null;
  do {
    const search: string = cursor === null ? "" : `&starting_after=${encodeURIComponent(cursor)}`;
    const answer: Response = await fetch(`${url}/v1/snapshot?limit=10000${search}`, {
      headers: { authorization: `Bearer ${token}`, "accept-encoding": encoding },
    });
    const text = await answer.text();
    const end = JSON.parse(text.slice(text.lastIndexOf("\n", text.length - 2) + 1)) as {
      count: number;
      next_cursor: string | null;
    };
    count += end.count;
    cursor = end.next_cursor;
  } while (cursor !== null);
  return count;
}
