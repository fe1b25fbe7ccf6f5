import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { naughtyStrings } from "../../testing/naughty-strings.ts";
import { someAtATime } from "../../testing/some-at-a-time.ts";

const { call } = await startApp();
/** Half of a surrogate pair. */
const HALF = /\p{Surrogate}/u;
/** JSON that Postgres cannot store, or that is unsafe as a field name. */
const hopeless = (text: string) => text.includes("\0") || HALF.test(text) || text === "__proto__";

test("[L4] [H7] nasty strings as values come back as they were, or are refused", async () => {
  expect(naughtyStrings.length).toBeGreaterThan(150);
  await someAtATime(naughtyStrings, async (text, i) => {
    const config = { [text]: [text, { deep: text }], [`${text}2`]: text };
    const written = await call("POST", "/v1/models/ingestionjob", {
      json: { id: `n${i}`, data: { status: text, config } },
    });
    expect(written.status, String(text)).toEqual(hopeless(text) ? 400 : 200);
    if (written.status !== 200) return;
    const read = await call("GET", `/v1/models/ingestionjob/n${i}`);
    expect((read.body.data as { status: string; config: object }).status).toBe(text);
    // As text too: the order of keys is kept.
    expect(JSON.stringify((read.body.data as { config: object }).config)).toBe(
      JSON.stringify(JSON.parse(JSON.stringify(config))),
    );
    const listed = await call("GET", `/v1/models/ingestionjob?ids=n${i}`);
    expect((listed.body.data as { status: string }[])[0]?.status).toBe(text);
  });
  const snapshot = await call("GET", "/v1/snapshot?model=ingestionjob");
  const lines = snapshot.text.trimEnd().split("\n").slice(1, -1);
  expect(lines.map((line) => (JSON.parse(line) as { data: { status: string } }).data.status).sort()).toEqual(
    naughtyStrings.filter((text) => !hopeless(text)).sort(),
  );
});

test("[G9] [G26] [H7] nasty strings as names and values of conditions find nothing else, and break nothing", async () => {
  const models = (await call("GET", "/v1/schema")).body.models as object;
  const text = { type: "string", index: "text", nullable: true };
  const thing = {
    fields: { title: text, count: { type: "integer" }, meta: { type: "json" }, tags: { type: "array" } },
  };
  expect((await call("POST", "/v1/schema", { json: { models: { ...models, thing } } })).status).toBe(201);
  const things = "/v1/models/thing";
  const data = { title: "plain", count: 1, meta: {}, tags: [] };
  expect((await call("POST", things, { json: { id: "plain", data } })).status).toBe(200);
  const list = (parameters: Record<string, string>) => call("GET", `${things}?${new URLSearchParams(parameters)}`);
  const query = (json: object) => call("POST", `${things}/query`, { json });
  const hostile = [
    "a'; drop table holdfast.record; --",
    "name) or (1=1",
    "$1",
    "data->>'name'",
    "x'::text) is null or true --",
  ];
  // No more at once than may be searched for: the others would have to wait, and on a slow machine for too long.
  await someAtATime(
    [...naughtyStrings, ...hostile, "%", "\\"].filter((one) => one !== "" && one !== "id"),
    async (one) => {
      for (const found of [
        await list({ "filter[title]": one }),
        await query({ where: { title: { contains: one }, id: { startsWith: one } } }),
        await query({ where: { tags: { contains: one }, or: [{ meta: { [one]: one } }, { meta: one }] } }),
        await query({ search: one, where: { title: { notIn: [one, "plain"] } } }),
      ]) {
        if (found.status === 400) expect([hopeless(one), found.body.code], one).toEqual([true, "invalid_value"]);
        else expect(found.body, one).toMatchObject({ object: "list", data: [] });
      }
      for (const refused of [
        ...[await list({ [`filter[${one}]`]: "1" }), await list({ [`filter[title][${one}]`]: "1" })],
        ...[await list({ [`filter[title] ${one}`]: "1" }), await query({ [one]: 1 })],
        ...[
          await query({ where: { [one]: 1 } }),
          await query({ orderBy: one }),
          await query({ orderBy: [{ field: one }] }),
        ],
      ])
        expect(refused.status, one).toBe(400);
      expect((await list({ "filter[count][gte]": one })).status).toBeLessThan(500);
    },
    4,
  );
  expect((await query({})).body.data).toEqual([{ id: "plain", ...data }]);
});
