import type { ModelSchema } from "@holdfast/sdk/protocol";
import { askJson } from "../../../scripts/testing/ask-json.ts";
import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { openStage } from "../stage/stage.ts";

const ROWS = 1_000_000;
const PAGE = 100;
const DECKS = 10_000;
const REQUESTS = 200;

interface Listed {
  readonly data: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

/** Pages of a large model: the last one against the first, one filter, and what it takes to build the index for it. */
export async function measureLists({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server();
  const list = (search: string) =>
    request<Listed>(`${server.url}/v1/models/slide?limit=${PAGE}&${search}`, server.tokens);
  print(`filling in ${ROWS.toLocaleString("en-US")} rows …`);
  await stage.sql(
    stage.postgres.url,
    `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
     select (select tenant from holdfast.head where schema_version > 0), 'slide', md5(n::text), n,
       json_build_object('id', md5(n::text), 'deckId', 'deck-' || n % ${DECKS}, 'title', 'Slide ' || n, 'order', n % 1000, 'notes', repeat('n', 200)),
       array['deck:deck-' || n % ${DECKS}], n, 'system:key_filler', now(), now(), 'system:key_filler' from generate_series(1, ${ROWS}) n`,
  );
  await stage.sql(stage.postgres.url, "vacuum analyze holdfast.record");
  const buildSeconds = await buildIndex(server.url, server.tokens, () =>
    stage.sql(stage.postgres.url, "select 1 from pg_index where indrelid = 'holdfast.record'::regclass and indisvalid"),
  );
  print(`index built in ${buildSeconds.toFixed(1)} s; walking to the last page …`);
  const last = await walk(list, ROWS / PAGE);

  const asked = {
    first: "",
    last: `starting_after=${last}`,
    filtered: "filter[deckId]=deck-77",
    sorted: "order_by=order&filter[order][gte]=500",
  };
  const runs: Record<keyof typeof asked, number[]> = { first: [], last: [], filtered: [], sorted: [] };
  for (let n = 0; n < rounds; n++) {
    const times: Record<keyof typeof asked, number[]> = { first: [], last: [], filtered: [], sorted: [] };
    for (let i = 0; i < REQUESTS; i++)
      for (const name of Object.keys(asked) as (keyof typeof asked)[]) {
        const start = performance.now();
        const { data } = await list(asked[name]);
        times[name].push(performance.now() - start);
        if (data.length !== PAGE) throw new Error(`The list ${asked[name]} held ${data.length} records.`);
      }
    for (const name of Object.keys(asked) as (keyof typeof asked)[])
      runs[name].push(
        percentile(
          times[name].sort((a, b) => a - b),
          0.5,
        ),
      );
    print(
      `round ${n + 1} of ${rounds}: ${Object.entries(runs)
        .map(([name, ms]) => `${name} ${ms.at(-1)?.toFixed(2)} ms`)
        .join(", ")}`,
    );
  }
  const first = summarize(runs.first);
  const ratio = (name: keyof typeof asked) => (summarize(runs[name]).median / first.median).toFixed(2);
  const rows = ROWS.toLocaleString("en-US");
  return [
    { what: `list of ${PAGE} of ${rows} rows by id, page 1, p50`, unit: "ms", runs: first },
    {
      what: `the same, page ${(ROWS / PAGE).toLocaleString("en-US")}, p50`,
      unit: "ms",
      runs: summarize(runs.last),
      against: `**${ratio("last")}** of page 1`,
      note: "target 1.5",
    },
    {
      what: "the same, filtered by an indexed text, p50",
      unit: "ms",
      runs: summarize(runs.filtered),
      against: `${ratio("filtered")} of page 1`,
    },
    {
      what: "the same, from the middle of an indexed number on, sorted by it, p50",
      unit: "ms",
      runs: summarize(runs.sorted),
      against: `${ratio("sorted")} of page 1`,
    },
    { what: `index of a text field of ${rows} rows, from the push on`, unit: "s", runs: summarize([buildSeconds]) },
  ];
}

/** Pushes a schema that wants one more index, and waits until it can be used. */
async function buildIndex(url: string, tokens: readonly string[], valid: () => Promise<unknown[]>): Promise<number> {
  const before = (await valid()).length;
  const { models } = await request<ModelSchema>(`${url}/v1/schema`, tokens);
  const slide = models.slide as ModelSchema["models"][string];
  const deckId = { type: "string", index: true } as const;
  const start = performance.now();
  await request(`${url}/v1/schema`, tokens, {
    models: { ...models, slide: { ...slide, fields: { ...slide.fields, deckId } } },
  });
  while ((await valid()).length === before) await new Promise((resolve) => setTimeout(resolve, 100));
  return (performance.now() - start) / 1_000;
}

/** The cursor that leads to a page. Cursors are signed, so the way leads over all pages before. */
async function walk(list: (search: string) => Promise<Listed>, page: number): Promise<string> {
  let cursor = "";
  for (let n = 1; n < page; n++)
    cursor = (await list(cursor === "" ? "" : `starting_after=${cursor}`)).next_cursor ?? "";
  return cursor;
}

const request = <T>(url: string, [token = ""]: readonly string[], body?: unknown): Promise<T> =>
  askJson(url, token, body === undefined ? "GET" : "POST", body);
