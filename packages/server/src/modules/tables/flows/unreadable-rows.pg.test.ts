import { beforeAll, expect, test } from "vitest";
import { READABLE_BYTES } from "../../../kernel/commits/rules/unreadable-record.ts";
import { dumpOrganization } from "../../../kernel/organizations/flows/dump.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { builtInHooks } from "../../open-modules.ts";
import { openTableTools } from "./table-tools.ts";

const { app, db, pool, attach, post, update } = await startWithTables();

const ORDINARY = 20;
/** `1e131071` has 131 072 digits in JSON, and 8 bytes in jsonb. */
const DIGITS = "(select jsonb_agg(1e131071::numeric) from generate_series(1, 400))";
const UNREADABLE = ["a1", "n0100", "z1"];
let model = "";
let texts = "";

beforeAll(async () => {
  await db.query(`create table public.notes (id text primary key, title text, body text, doc jsonb, raw bytea, digits numeric[]);
    insert into public.notes select 'n' || lpad(n::text, 3, '0'), 'Note ' || n, 'Text', '{"a":[1,"b"]}', '\\x00ff', '{1.50}' from generate_series(1, ${ORDINARY}) n;
    insert into public.notes (id, title, body) values ('a1', 'Large', repeat('x', ${READABLE_BYTES} + 1)), ('z1', 'Escaped', repeat(E'\\x01', 9000000));
    insert into public.notes (id, title, doc) values ('n0100', 'Digits', ${DIGITS})`);
  const fields = { title: {}, body: {}, doc: { type: "json" }, raw: {}, digits: { type: "array" } } as const;
  ({ model } = await attach("public.notes", fields));
  await db.query(`create table public.texts (id text primary key, body text);
    insert into public.texts select 'b', repeat('x', 8000) || 'a' union all select 'c', repeat('x', 8000) union all select 'd', repeat('x', 8000);
    insert into public.texts values ('a', 'short'), ('e', repeat('y', 5000)), ('f', null)`);
  texts = (await attach("public.texts", { body: {} })).model;
});

const marked = (answer: { readonly body: Readonly<Record<string, unknown>> }) =>
  (answer.body.unreadable as { model: string; id: string; message: string }[] | undefined) ?? [];
const idsOf = (answer: { readonly body: Readonly<Record<string, unknown>> }) =>
  (answer.body.data as { id: string }[]).map(({ id }) => id);
const LARGE = /^The record has \d+ bytes of JSON \(up to 16777216 can be read\)\. Make its row smaller/;

test("[DS91] a record that is larger than can be read is 413, with what to do, and others are read", async () => {
  for (const id of UNREADABLE) {
    const answer = await app.call("GET", `/v1/models/${model}/${id}`);
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ code: "record_too_large", message: expect.stringMatching(LARGE) });
  }
  const { body } = await app.call("GET", `/v1/models/${model}/n001`);
  const data = { id: "n001", title: "Note 1", body: "Text", doc: { a: [1, "b"] }, raw: "\\x00ff", digits: ["1.50"] };
  expect(body.data).toEqual(data);
});

test("[DS91] [DS135] lists, batch reads and queries leave it out, name it, and go on behind it", async () => {
  const all = await app.call("GET", `/v1/models/${model}?limit=100`);
  expect(all.status).toBe(200);
  expect(idsOf(all)).toHaveLength(ORDINARY);
  expect(marked(all).map((one) => [one.model, one.id])).toEqual(UNREADABLE.map((id) => [model, id]));
  for (const { message } of marked(all)) expect(message).toMatch(LARGE);
  const batch = await app.call("GET", `/v1/models/${model}?ids=a1,n002`);
  expect(idsOf(batch)).toEqual(["n002"]);
  expect(marked(batch).map(({ id }) => id)).toEqual(["a1"]);
  const found: string[] = [];
  const left: string[] = [];
  for (let cursor: unknown = ""; cursor !== null; ) {
    const page = await app.call(
      "GET",
      `/v1/models/${model}?limit=1${cursor === "" ? "" : `&starting_after=${cursor}`}`,
    );
    found.push(...idsOf(page));
    left.push(...marked(page).map(({ id }) => id));
    cursor = page.body.next_cursor;
  }
  expect(found).toHaveLength(ORDINARY);
  expect(left).toEqual(UNREADABLE);
  const query = await post(`/v1/models/${model}/query`, { orderBy: "title", limit: 100, count: true });
  expect(query.body.count).toBe(ORDINARY + UNREADABLE.length);
  expect(idsOf(query)).toHaveLength(ORDINARY);
  expect(
    marked(query)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(UNREADABLE);
});

test.each(["asc", "desc"])(
  "[DS91] a list by a text that is long in some records goes through all of them, %s and back",
  async (order) => {
    const model = texts;
    const page = (side: string, cursor: unknown) =>
      app.call(
        "GET",
        `/v1/models/${model}?limit=1&order_by=body&order=${order}${cursor === "" ? "" : `&${side}=${cursor}`}`,
      );
    const ids: string[] = [];
    const take = (answer: Awaited<ReturnType<typeof page>>) => {
      expect(answer.status).toBe(200);
      ids.push(...idsOf(answer), ...marked(answer).map(({ id }) => id));
      return answer.body;
    };
    let last = take(await page("", ""));
    while (last.next_cursor !== null) last = take(await page("starting_after", last.next_cursor));
    const forward = order === "asc" ? ["a", "c", "d", "b", "e", "f"] : ["e", "b", "d", "c", "a", "f"];
    expect(ids).toEqual(forward);
    while (last.previous_cursor !== null) last = take(await page("ending_before", last.previous_cursor));
    expect(ids.slice(forward.length)).toEqual(forward.toReversed().slice(1));
  },
);

test("[DS91] [DS135] snapshots leave it out and name it on their last line, page by page", async () => {
  for (const limit of [1, 7, 1_000]) {
    const found: string[] = [];
    const left: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { text }: { text: string } = await app.call(
        "GET",
        `/v1/snapshot?model=${model}&limit=${limit}${cursor === "" ? "" : `&starting_after=${cursor}`}`,
      );
      const lines = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      const end = lines.at(-1) as { count: number; next_cursor: string | null; unreadable?: { id: string }[] };
      expect(end.count).toBe(lines.length - 2);
      found.push(...lines.slice(1, -1).map(({ id }) => String(id)));
      left.push(...(end.unreadable ?? []).map(({ id }) => id));
      cursor = end.next_cursor;
    }
    expect(found).toHaveLength(ORDINARY);
    expect(left).toEqual(UNREADABLE);
  }
});

test("[DS91] [DS137] [DS131] a write of it is refused, and others are not", async () => {
  const written = await update(model, "a1", { title: "Another" });
  expect([written.status, written.body.code]).toEqual([400, "record_too_large"]);
  expect((await update(model, "n003", { title: "Third" })).status).toBe(200);
});

test("[DS91] [DS136] a dump has all other records", async () => {
  const lines: string[] = [];
  await dumpOrganization(pool, builtInHooks.places, app.organization, async (line) => void lines.push(line));
  const rows = lines.map((line) => JSON.parse(line) as { model?: string; data?: { id: string }; groups?: unknown });
  const records = rows.filter((row) => row.model === model && row.groups && !("sync_id" in row && "verb" in row));
  expect(new Set(records.map(({ data }) => data?.id)).size).toBe(ORDINARY);
});

test("[DS91] [DS136] detaching keeps all other records, and says how many are left out", async () => {
  const left: number[] = [];
  const choice = { organization: app.organization, livemode: true };
  await openTableTools(pool, { ...builtInHooks, schemaPushed: [] }, app.databaseUrl).detach(choice, model, {
    drop: false,
    leftOut: (n) => left.push(n),
  });
  expect(left).toEqual([UNREADABLE.length]);
  const list = await app.call("GET", `/v1/models/${model}?limit=100`);
  expect(idsOf(list)).toHaveLength(ORDINARY);
  expect(marked(list)).toEqual([]);
});
