import { defineSchema } from "@holdfast/sdk";
import { createClient } from "@holdfast/sdk/node";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { openLine } from "../stage/line.ts";
import { type Options, openStage } from "../stage/stage.ts";

const ROWS = 6_000;
const BITS_PER_SECOND = 800_000;
const DELAY_MS = 150;

const schema = defineSchema({
  models: { slide: { fields: { title: { type: "string" }, notes: { type: "string" } } } },
});

/** How long a new client on a slow line takes until all rows can be read, of text and of what cannot be packed. */
export async function measureSlowLine({ rounds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const rows: Row[] = [];
  for (const [what, notes] of [
    [
      "of text",
      "(select string_agg(word, ' ') from (select substr(md5((n * 100 + i)::text), 1, 2) || 'ing' as word from generate_series(1, 85) i) words)",
    ],
    ["of hexadecimal chance", "(select string_agg(md5((n * 100 + i)::text), '') from generate_series(1, 15) i)"],
  ] as const) {
    const database = await stage.database(`slow_${rows.length}`);
    const server = await stage.server({ databaseUrl: database });
    await stage.sql(
      database,
      `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
       select (select tenant from holdfast.head where schema_version > 0), 'slide', md5(n::text), n, json_build_object('id', md5(n::text), 'title', 'Slide ' || n, 'notes', ${notes}),
         array[]::text[], n, 'system:key_filler', now(), now(), 'system:key_filler' from generate_series(1, ${ROWS}) n`,
    );
    const seconds: number[] = [];
    for (let n = 0; n < rounds; n++) {
      const line = await openLine(new URL(server.url), { delayMs: DELAY_MS, bitsPerSecond: BITS_PER_SECOND });
      const start = performance.now();
      const client = createClient({ schema, url: line.url, getToken: () => server.tokens[0] as string });
      await client.ready();
      const { length } = client.models.slide.list();
      if (length !== ROWS) throw new Error(`The client shows ${length} of ${ROWS} rows.`);
      seconds.push((performance.now() - start) / 1_000);
      await client.close();
      line.close();
      print(`${what}: ${seconds.at(-1)?.toFixed(1)} s, ${Math.round(line.received() / 1_024)} KiB`);
    }
    rows.push({
      what: `${ROWS.toLocaleString("en-US")} rows of 600 B ${what} at 0.8 Mbit/s and 300 ms, until all can be read`,
      unit: "s",
      runs: summarize(seconds),
      note: "target 60 s",
    });
    await server.stop();
  }
  return rows;
}
