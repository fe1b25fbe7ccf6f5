import type { FollowedRecords, LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";
import { follow } from "../../testing/stream/stream.ts";

const app = await startApp();
const { call, keys, url } = app;
const field = (type: string, more: object = {}) => ({ type, nullable: true, ...more });
const pushed = await call("POST", "/v1/schema", {
  json: {
    models: {
      task: {
        fields: {
          title: field("string"),
          project: field("string", { index: true }),
          effort: field("integer"),
          share: field("number"),
          isDone: field("boolean"),
          due: field("datetime"),
          labels: field("array"),
          meta: field("json"),
        },
      },
      note: {
        fields: { text: field("string"), owner: field("string") },
        groups: [{ kind: "user", from: "owner" }],
      },
      deck: { fields: { name: field("string") } },
    },
    force: true,
  },
});

if (pushed.status !== 201) throw new Error(pushed.text);

type Line = { readonly model: string; readonly id: string; readonly data: Record<string, unknown> };

async function snapshot(where?: FollowedRecords, more = "", ask = call): Promise<readonly Line[]> {
  const query = where ? `&where=${encodeURIComponent(JSON.stringify(where))}` : "";
  const lines: Line[] = [];
  for (let cursor = ""; ; ) {
    const { status, text } = await ask("GET", `/v1/snapshot?limit=7${more}${query}${cursor}`);
    expect(status, text).toBe(200);
    const all = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    lines.push(...all.slice(1, -1));
    const { next_cursor } = all.at(-1) as unknown as { next_cursor: string | null };
    if (next_cursor === null) return lines;
    cursor = `&starting_after=${encodeURIComponent(next_cursor)}`;
  }
}

const names = (lines: readonly Line[]) => lines.map(({ model, id }) => `${model} ${id}`);

test("[T14] [K7] [T23] conditions narrow what a token may read, and open nothing", async () => {
  const { body } = await call("POST", "/v1/ephemeral_keys", {
    json: { user: { id: "ann" }, syncGroups: ["user:ann"], operations: ["note.read"] },
  });
  const token = String(body.token);
  const make = async (id: string, owner: string, text: string) =>
    Number((await call("POST", "/v1/models/note", { json: { id, data: { owner, text } } })).body.lastSyncId);
  const since = await make("n0", "ben", "wanted");
  const stream = await follow(url, token, { since, where: { note: { text: "wanted" }, task: {} } });
  await make("n1", "ben", "wanted");
  await make("n2", "ann", "other");
  await make("n3", "ann", "wanted");
  await call("PATCH", "/v1/models/note/n1", { json: { data: { text: "other" } } });
  await call("PATCH", "/v1/models/note/n3", { json: { data: { owner: "ben" } } });
  const { body: last } = await call("DELETE", "/v1/models/note/n2");
  await stream.reaches(Number(last.lastSyncId));
  const heard = stream.entries.map(({ id, verb, left }) => `${id} ${verb}${left ? " left" : ""}`);
  // The end of n2, which is in the token's group, is none of what it follows.
  expect(heard).toEqual(["n3 created", "n3 deleted left"]);
  const lines = await snapshot({ note: { text: { in: ["wanted", "other"] } } }, "", (method, path) =>
    call(method, path, { token }),
  );
  expect(names(lines)).toEqual([]);
});

test("[T15] an archived record that an update brings to a reader says since when it is archived, and who created it, by condition and by group", async () => {
  const made = await call("POST", "/v1/models/note", { json: { id: "a1", data: { text: "old", owner: "ben" } } });
  const { body } = await call("POST", "/v1/models/note/a1/archive");
  const since = Number(body.lastSyncId);
  const { archivedAt, createdAt, createdBy } = (await call("GET", "/v1/models/note/a1")).body;
  expect([made.status, archivedAt, createdBy]).toEqual([200, expect.any(String), expect.stringMatching(/^system:/)]);
  const byCondition = await follow(url, keys.live, { since, where: { note: { text: "new" } } });
  const byGroup = await follow(url, keys.live, { since, groups: ["user:cleo"] });
  const { body: last } = await call("PATCH", "/v1/models/note/a1", { json: { data: { text: "new", owner: "cleo" } } });
  const live = await call("POST", "/v1/models/note", { json: { id: "a2", data: { text: "new", owner: "cleo" } } });
  const { body: end } = await call("PATCH", "/v1/models/note/a2", { json: { data: { text: "new", owner: "cleo" } } });
  const head = Math.max(...[last, live.body, end].map(({ lastSyncId }) => Number(lastSyncId)));
  for (const stream of [byCondition, byGroup]) {
    await stream.reaches(head);
    expect(stream.entries.map(({ id, verb, archivedAt: since, record }) => [id, verb, since, record])).toEqual([
      ["a1", "updated", archivedAt, { createdAt, createdBy }],
      ["a2", "created", undefined, undefined],
    ]);
  }
  const again = await call("GET", `/v1/log?after=${since}&limit=1`);
  const [whole] = again.body.data as LogEntry[];
  expect(whole).toMatchObject({ verb: "updated", archivedAt });
  // A reader of everything has seen the record.
  expect(whole?.record).toBeUndefined();
  const fed = await call("GET", `/v1/log?after=${since}&limit=1&group=user:cleo`);
  expect((fed.body.data as LogEntry[])[0]).toMatchObject({ id: "a1", record: { createdAt, createdBy } });
});

test("[T14] [T24] `follow` replaces the conditions; after a push that takes a field away the reader resyncs, and goes on", async () => {
  const stream = await follow(url, keys.live, { where: { deck: { name: "a" } } });
  const make = async (id: string, name: string) =>
    Number((await call("POST", "/v1/models/deck", { json: { id, data: { name } } })).body.lastSyncId);
  await stream.reaches(await make("f1", "b"));
  stream.send({ frame: "follow", where: { DECK: [{ name: "b" }, { id: "f3" }] } });
  stream.send({ frame: "ping", n: 1 });
  await stream.next("pong");
  await make("f2", "b");
  await make("f3", "c");
  await stream.reaches(await make("f4", "a"));
  expect(stream.entries.map(({ id }) => id)).toEqual(["f2", "f3"]);

  const { body } = await call("GET", "/v1/schema");
  const { deck: _, ...models } = (body as { models: Record<string, unknown> }).models;
  const renamed = { ...models, deck: { fields: { title: { type: "string" } } } };
  await call("POST", "/v1/schema", {
    json: { models: renamed, renames: [{ model: "deck", from: "name", to: "title" }], force: true },
  });
  await stream.next("resync");
  // A client of before goes on: no record has the field any more.
  stream.send({ frame: "hello", token: keys.live, where: { deck: { name: "b" } } });
  await stream.next("welcome");
  expect(names(await snapshot({ deck: { name: "b" } }, "&model=deck"))).toEqual([]);
  await call("POST", "/v1/schema", {
    json: {
      models: (body as { models: object }).models,
      renames: [{ model: "deck", from: "title", to: "name" }],
      force: true,
    },
  });
});

test("[M9] [M38] [T14] after a push that gives a field a type by which conditions compare otherwise, the reader resyncs", async () => {
  const { token } = await app.newOrganization();
  const push = (due: object) =>
    call("POST", "/v1/schema", { token, json: { models: { job: { fields: { due, note: { type: "string" } } } } } });
  await push({ type: "datetime" });
  const data = { due: "2031-01-01T01:00:00+01:00" };
  const made = await call("POST", "/v1/models/job", { token, json: { id: "j1", data } });
  const where = { job: { due: "2031-01-01T00:00:00Z" } };
  const stream = await follow(url, token, { since: 0, where });
  await stream.reaches(Number(made.body.lastSyncId));
  expect(stream.entries.map(({ id }) => id)).toEqual(["j1"]);
  const { body } = await push({ type: "string" });
  // The record is not in its part any more, so that it will not hear of its end.
  expect(await stream.next("resync")).toMatchObject({ reason: "schema" });
  const after = await call("GET", "/v1/log?after=0", { token });
  expect(after.body.rowsVersion).toBe(body.version);
});

test("[G24] with an index, the records of one value among many are found", async () => {
  const [{ tenant } = { tenant: 0 }] = await app.sql<{ tenant: number }>("select tenant from holdfast.record limit 1");
  await app.sql(
    `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
     select $1, 'task', 'many-' || n, 1, json_build_object('project', 'q' || n % 5000), '{}', 1, 'user:a', now(), now(), 'user:a'
       from generate_series(1, 60000) n`,
    [tenant],
  );
  await app.sql("analyze holdfast.record");
  await until(async () =>
    expect(await (await app.sql("select from pg_indexes where indexname like 'record_by_%'")).length).toBeGreaterThan(
      0,
    ),
  );
  const found = await snapshot({ task: { project: "q77" }, deck: { name: "none" } }, "&model=task&model=deck");
  expect(found).toHaveLength(12);
});
