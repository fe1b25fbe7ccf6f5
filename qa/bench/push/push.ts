import type { ModelSchema, SchemaPush } from "@holdfast/sdk/protocol";
import { askJson, sendAsJson } from "../../../scripts/testing/ask-json.ts";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { ServerReady } from "../stage/server.ts";
import { type Options, openStage, type Stage } from "../stage/stage.ts";

const ROWS = 100_000;
const WRITERS = 4;

interface Kind {
  readonly what: string;
  readonly push: SchemaPush;
}

interface Measured {
  readonly longestMs: number;
  readonly failed: number;
  readonly pushSeconds: number;
  readonly settleSeconds: number;
}

/** Schema pushes that rewrite every record of a model, while writers of the same tenant commit. */
export async function measurePush({ rounds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server({ organizations: rounds });
  const found = new Map<string, Measured[]>();
  for (const [n, token] of server.tokens.entries()) {
    print(`filling in ${ROWS.toLocaleString("en-US")} rows …`);
    await stage.sql(stage.postgres.url, fill(server.organizations[n] as string));
    await stage.sql(stage.postgres.url, "vacuum analyze holdfast.record");
    const { models } = await askJson<ModelSchema>(`${server.url}/v1/schema`, token, "GET");
    for (const { what, push } of kindsOf(models)) {
      const measured = await measureOne(stage, server, token, push);
      found.set(what, [...(found.get(what) ?? []), measured]);
      const { longestMs, failed, pushSeconds, settleSeconds } = measured;
      print(
        `${what}: push ${pushSeconds.toFixed(1)} s, rows ${settleSeconds.toFixed(1)} s later, longest commit ${longestMs.toFixed(0)} ms, ${failed} failed`,
      );
    }
  }
  return [...found].flatMap(([what, runs]) => [
    {
      what: `${what}: the longest commit meanwhile`,
      unit: "ms",
      runs: summarize(runs.map(({ longestMs }) => longestMs)),
      note: "target 2 000",
    },
    {
      what: "the same: commits that failed",
      unit: "",
      runs: summarize(runs.map(({ failed }) => failed)),
      note: "target 0",
    },
    {
      what: "the same: until it is committed",
      unit: "s",
      runs: summarize(runs.map(({ pushSeconds }) => pushSeconds)),
    },
    {
      what: "the same: from there until all rows had their new form",
      unit: "s",
      runs: summarize(runs.map(({ settleSeconds }) => settleSeconds)),
    },
  ]);
}

/** One after the other, each from the schema that the one before left. */
function kindsOf(models: ModelSchema["models"]): Kind[] {
  const { slide } = models;
  if (!slide) throw new Error("The reference schema has no slides.");
  const { title, ...others } = slide.fields;
  if (!title) throw new Error("A slide of the reference schema has no title.");
  const renamed = { ...slide, fields: { ...others, heading: title } };
  const regrouped = { ...renamed, groups: [...(slide.groups ?? []), { kind: "template", from: "templateId" }] };
  const retyped = { ...regrouped, fields: { ...regrouped.fields, settings: { type: "number" as const } } };
  const records = `${ROWS.toLocaleString("en-US")} records of 600 B`;
  return [
    {
      what: `a rename in ${records}`,
      push: { models: { ...models, slide: renamed }, renames: [{ model: "slide", from: "title", to: "heading" }] },
    },
    { what: `other groups for ${records}`, push: { models: { ...models, slide: regrouped } } },
    { what: `another type in ${records}`, push: { models: { ...models, slide: retyped }, force: true } },
  ];
}

async function measureOne(stage: Stage, server: ServerReady, token: string, push: SchemaPush): Promise<Measured> {
  const beside = { longestMs: 0, failed: 0 };
  let pushing = true;
  const write = async () => {
    while (pushing) {
      const id = `r${Math.ceil(Math.random() * ROWS)}`;
      const start = performance.now();
      const answer = await sendAsJson(`${server.url}/v1/models/slide/${id}`, token, "PATCH", {
        data: { notes: "written" },
      });
      if (!answer.ok) beside.failed += 1;
      beside.longestMs = Math.max(beside.longestMs, performance.now() - start);
      await pause(5);
    }
  };
  const writers = Array.from({ length: WRITERS }, write);
  await pause(1_000);
  const start = performance.now();
  await askJson(`${server.url}/v1/schema`, token, "POST", push);
  const pushSeconds = (performance.now() - start) / 1_000;
  const committedAt = performance.now();
  while ((await stage.sql(stage.postgres.url, "select from holdfast.head where rewriting")).length > 0) await pause(50);
  const settleSeconds = (performance.now() - committedAt) / 1_000;
  await pause(500);
  pushing = false;
  await Promise.all(writers);
  return { ...beside, pushSeconds, settleSeconds };
}

const fill = (organization: string) =>
  `do $$ declare w int; begin select id into w from holdfast.tenant where organization = '${organization}' and livemode;
    insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
      select w, 'slide', 'r' || n, n, json_build_object('id', 'r' || n, 'deckId', 'deck-' || n % 1000, 'title', 'Slide ' || n, 'order', n % 1000,
        'templateId', 'template-' || n % 100, 'settings', 'none', 'notes', repeat('n', 450)),
        array['deck:deck-' || n % 1000], n, 'system:key_filler', now(), now(), 'system:key_filler'
      from generate_series(1, ${ROWS}) n;
    update holdfast.head set sync_id = ${ROWS} where tenant = w; end $$`;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
