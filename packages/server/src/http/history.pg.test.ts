import type { LogEntry } from "@holdfast/sdk/protocol";
import pg from "pg";
import { expect, test } from "vitest";
import { session } from "../db/connection/pool.ts";
import { readRecordHistory } from "../db/log/log.ts";
import { type Answer, startApp } from "../testing/app.ts";

const app = await startApp();
const { call } = app;
const slides = "/v1/models/slide";
const history = (id: string, search = "") => call("GET", `${slides}/${id}/history${search}`);
const entries = ({ status, body }: Answer) => {
  expect([status, body.code]).toEqual([200, undefined]);
  return body.data as LogEntry[];
};
const [{ tenant } = { tenant: 0 }] = await app.sql<{ tenant: number }>(
  "select id as tenant from holdfast.tenant where organization = $1 and livemode",
  [app.organization],
);

test("[G12] a history is the record's entries, word for word as in the feed, with other records' left out", async () => {
  await call("POST", slides, { json: { id: "h1", data: { deckId: "d1", title: "one" }, clientTxId: "c1" } });
  await call("POST", slides, { json: { id: "other", data: { deckId: "d1" } } });
  await call("PATCH", `${slides}/h1`, { json: { data: { title: "two", order: 0.1 } } });
  await call("PATCH", "/v1/models/document/h1", { json: { data: { title: "of another model" } } });
  await call("POST", `${slides}/h1/archive`);
  await call("POST", `${slides}/h1/unarchive`);
  await call("DELETE", `${slides}/h1`);
  const feed = await call("GET", "/v1/log?model=slide");
  const wanted = (feed.body.data as LogEntry[]).filter(({ id }) => id === "h1");
  const answer = await history("h1");
  expect(wanted.map(({ verb }) => verb)).toEqual(["created", "updated", "archived", "unarchived", "deleted"]);
  expect(answer.body).toEqual({
    object: "list",
    data: wanted,
    has_more: false,
    next_cursor: null,
    stamp: feed.body.stamp,
    logId: feed.body.logId,
  });
  for (const entry of wanted) expect(feed.text.includes(JSON.stringify(entry))).toBe(true);
  for (const entry of wanted) expect(answer.text.includes(JSON.stringify(entry))).toBe(true);
  expect(entries(await call("GET", "/api/v1/models/SLIDE/h1/history?order=desc"))).toEqual(wanted.toReversed());
});

test("[G12] a record that comes back under its id goes on with its history", async () => {
  await call("POST", slides, { json: { id: "h1", data: { deckId: "d1", title: "again" } } });
  expect(entries(await history("h1")).map(({ verb }) => verb)).toEqual([
    "created",
    "updated",
    "archived",
    "unarchived",
    "deleted",
    "created",
  ]);
});

test("[G12] pages of a history: each entry once, in either order, while the record goes on changing", async () => {
  await call("POST", slides, { json: { id: "h2", data: { deckId: "d1", order: 0 } } });
  for (let i = 1; i <= 24; i++) await call("PATCH", `${slides}/h2`, { json: { data: { order: i } } });
  for (const order of ["asc", "desc"]) {
    const before = entries(await history("h2", `?limit=100&order=${order}`)).map(({ syncId }) => syncId);
    const seen: number[] = [];
    let cursor = "";
    do {
      const page = await history("h2", `?limit=7&order=${order}${cursor && `&starting_after=${cursor}`}`);
      seen.push(...entries(page).map(({ syncId }) => syncId));
      expect(page.body.has_more).toBe(page.body.next_cursor !== null);
      cursor = String(page.body.next_cursor ?? "");
      await call("PATCH", `${slides}/h2`, { json: { data: { order: seen.length + (order === "asc" ? 100 : 200) } } });
    } while (cursor !== "" && seen.length < 200);
    expect(seen.slice(0, before.length)).toEqual(before);
    expect(new Set(seen).size).toBe(seen.length);
  }
  expect(entries(await history("h2"))).toHaveLength(20);
});

test("[G4] [G12] a history's cursor belongs to its record, its order and its organization", async () => {
  const cursor = String((await history("h2", "?limit=1")).body.next_cursor);
  const code = async (path: string, token = app.keys.live) =>
    (await call("GET", `${path}starting_after=${cursor}`, { token })).body.code;
  expect(await code(`${slides}/h2/history?`)).toBeUndefined();
  expect(await code(`${slides}/h1/history?`)).toBe("invalid_cursor");
  expect(await code(`${slides}/h2/history?order=desc&`)).toBe("invalid_cursor");
  expect(await code(`${slides}?`)).toBe("invalid_cursor");
  for (const token of [app.keys.test, app.keys.other])
    expect(await code(`${slides}/h2/history?`, token)).toBe("invalid_cursor");
});

test("[G12] [G2] what was never there, or is another's, is 404; what makes no sense is 400", async () => {
  const answers = async (path: string, token = app.keys.live) => {
    const { status, body } = await call("GET", path, { token });
    return [status, body.code];
  };
  expect(await answers(`${slides}/never/history`)).toEqual([404, "record_not_found"]);
  expect(await answers("/v1/models/document/h1/history")).toEqual([404, "record_not_found"]);
  expect(await answers(`${slides}/h1/history`, app.keys.test)).toEqual([404, "record_not_found"]);
  expect(await answers(`${slides}/h1/history`, app.keys.other)).toEqual([404, "record_not_found"]);
  expect(await answers("/v1/models/nothing/h1/history")).toEqual([404, "unknown_model"]);
  expect(await answers(`${slides}/a%20b/history`)).toEqual([400, "invalid_id"]);
  expect(await answers(`${slides}/a%00b/history`)).toEqual([400, "invalid_id"]);
  for (const [search, code] of [
    ["limit=0", "invalid_limit"],
    ["limit=101", "invalid_limit"],
    ["limit=1&limit=1", "invalid_limit"],
    ["order=up", "invalid_value"],
    ["order_by=id", "unknown_parameter"],
    ["filter[title]=x", "unknown_parameter"],
    ["starting_after=", "invalid_cursor"],
    ["starting_after=e30.AAAA", "invalid_cursor"],
    ["starting_after=%00", "invalid_cursor"],
  ])
    expect([search, ...(await answers(`${slides}/h1/history?${search}`))]).toEqual([search, 400, code]);
});

test("[G12] [T7] a reader of groups is told what is in them, and a record that left as deleted", async () => {
  await call("POST", slides, { json: { id: "h3", data: { deckId: "near" } } });
  await call("PATCH", `${slides}/h3`, { json: { data: { title: "x" } } });
  await call("PATCH", `${slides}/h3`, { json: { data: { deckId: "far" } } });
  await call("PATCH", `${slides}/h3`, { json: { data: { title: "y" } } });
  const mint = async (syncGroup: string, operation = "slide.read") => {
    const json = { participantId: "reader", operations: [operation], syncGroups: [syncGroup] };
    return String((await call("POST", "/v1/capabilities", { json })).body.token);
  };
  const read = async (token: string, search = "") => {
    const { status, body } = await call("GET", `${slides}/h3/history${search}`, { token });
    if (status !== 200) return [status, body.code];
    return {
      told: (body.data as LogEntry[]).map(({ verb, left, data }) => [verb, left ?? false, data === null]),
      next: body.next_cursor,
    };
  };
  const [near, far] = [await mint("deck:near"), await mint("deck:far")];
  expect(await read(near)).toEqual({
    told: [
      ["created", false, false],
      ["updated", false, false],
      ["deleted", true, true],
    ],
    next: null,
  });
  expect(await read(far)).toEqual({
    told: [
      ["updated", false, false],
      ["updated", false, false],
    ],
    next: null,
  });
  expect(await read(await mint("deck:elsewhere"))).toEqual([404, "record_not_found"]);
  expect(await read(await mint("deck:near", "document.read"))).toEqual([403, "capability_scope_denied"]);
  expect(await read(await mint(`org:${app.organization}`))).toMatchObject({ told: { length: 4 } });
  const { next } = (await read(near, "?limit=2")) as { next: string };
  expect(await read(near, `?limit=2&starting_after=${next}`)).toEqual({ told: [["deleted", true, true]], next: null });
  expect(await read(far, `?limit=2&starting_after=${next}`)).toEqual([400, "invalid_cursor"]);
});

test("[S8] many entries on one record are still judged field by field, and then as a whole", async () => {
  const make = async (json: object) => Number((await call("POST", slides, { json })).body.lastSyncId);
  const readAt = await make({ id: "s8", data: { title: "a" } });
  const commit = (operations: object[]) => call("POST", "/v1/commits", { json: { operations } });
  const change = async (data: object) => (await call("PATCH", `${slides}/s8`, { json: { data, readAt } })).status;
  const counts = Array.from({ length: 1_005 }, (_, i) => ({
    action: "update",
    model: "slide",
    id: "s8",
    data: { order: i + 1 },
  }));
  for (let i = 0; i < 900; i += 100) await commit(counts.slice(i, i + 100));
  expect(await change({ title: "a2" })).toBe(200);
  for (let i = 900; i < 1_005; i += 100) await commit(counts.slice(i, i + 100));
  // More entries than are looked at: nobody vouches for the field.
  expect(await change({ notes: "n" })).toBe(409);
});

test("[G12] a history speaks in the words of the schema as it is now", async () => {
  const models = (await call("GET", "/v1/schema")).body.models as Record<string, { fields: Record<string, object> }>;
  await call("POST", slides, { json: { id: "h6", data: { deckId: "d1", notes: "a" } } });
  await call("PATCH", `${slides}/h6`, { json: { data: { notes: "b" } } });
  const { notes, ...fields } = models.slide!.fields;
  const pushed = await call("POST", "/v1/schema", {
    json: {
      models: { ...models, slide: { ...models.slide, fields: { ...fields, remarks: notes } } },
      renames: [{ model: "slide", from: "notes", to: "remarks" }],
    },
  });
  expect(pushed.status).toBe(201);
  expect(entries(await history("h6")).map(({ data, changedFields }) => [data?.remarks, changedFields])).toEqual([
    ["a", null],
    ["b", ["remarks"]],
  ]);
});

test("[G13] of a trimmed log a history holds what is left, and says so", async () => {
  const make = async (id: string) =>
    Number((await call("POST", slides, { json: { id, data: { deckId: "d1" } } })).body.lastSyncId);
  await make("h4");
  await make("gone");
  await call("DELETE", `${slides}/gone`);
  await make("h5");
  const cut = Number((await call("PATCH", `${slides}/h4`, { json: { data: { title: "old" } } })).body.lastSyncId);
  const kept = Number((await call("PATCH", `${slides}/h4`, { json: { data: { title: "new" } } })).body.lastSyncId);
  await app.sql("update holdfast.head set trimmed_to = $2 where tenant = $1", [tenant, cut]);
  await app.sql("delete from holdfast.log where tenant = $1 and sync_id <= $2", [tenant, cut]);
  const answer = await history("h4");
  expect(entries(answer).map(({ syncId }) => syncId)).toEqual([kept]);
  expect(answer.body.trimmedTo).toBe(cut);
  expect((await history("h5")).body).toMatchObject({ data: [], has_more: false, next_cursor: null, trimmedTo: cut });
  expect((await history("gone")).status).toBe(404);
});

test("[G12] a page deep in a long history costs what the first one costs", async () => {
  await app.sql(
    `insert into holdfast.log select $1, n, 'slide', 'long', 'updated', '{}', '[]', '{}', null, '', null, null, '', 'system', null, now()
     from generate_series(1000001, 1030000) n`,
    [tenant],
  );
  await app.sql("analyze holdfast.log");
  const client = new pg.Client({ ...session, connectionString: app.databaseUrl });
  await client.connect();
  // The statement itself, explained instead of run.
  const explained: unknown[] = [];
  const explain = async ({ text, values }: { text: string; values: unknown[] }) => {
    const { rows } = await client.query<{ "QUERY PLAN": string }>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    const [{ Plan }] = JSON.parse(rows[0]!["QUERY PLAN"]) as [{ Plan: Record<string, number> }];
    explained.push((Plan["Shared Hit Blocks"] ?? 0) + (Plan["Shared Read Blocks"] ?? 0) < 50);
    return { rows: [] };
  };
  const question = { tenant, model: "slide", id: "long", groups: undefined, limit: 100, bytes: 4_194_304 };
  for (const descending of [false, true])
    for (const after of [undefined, 1_015_000])
      await readRecordHistory({ query: explain } as never, { ...question, descending, after });
  expect(explained).toEqual([true, true, true, true]);
  await client.end();
});
