import { isSyncGroup, type LogEntry, type Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { creates, hundred, startApp } from "../../testing/app.ts";
import { follow } from "../../testing/stream/stream.ts";

const app = await startApp();
const second = await app.another();
const { call, url } = app;

/** A tenant of its own for each test: a schema is the whole tenant's. */
async function tenant(models: Record<string, Model>) {
  const { token, organization } = await app.newOrganization();
  const push = (next: Record<string, Model>, rest: object = {}) =>
    call("POST", "/v1/schema", { token, json: { models: next, ...rest } });
  await push(models);
  const ask = (method: string, path: string, json?: unknown) =>
    call(method, path, { token, ...(json !== undefined && { json }) });
  const log = async (after = 0) => (await ask("GET", `/v1/log?after=${after}`)).body.data as LogEntry[];
  const listed = async (path: string) => (await ask("GET", path)).body.data;
  const snapshot = async () =>
    (await ask("GET", "/v1/snapshot")).text
      .trim()
      .split("\n")
      .slice(1, -1)
      .map((line) => (JSON.parse(line) as { data: object }).data);
  /** What each record is filed under, by its id. */
  const groups = async () => {
    const rows = await app.sql<{ id: string; groups: string[] }>(
      "select r.id, r.groups from holdfast.record r join holdfast.tenant w on w.id = r.tenant where w.organization = $1",
      [organization],
    );
    return new Map(rows.map((row) => [row.id, row.groups]));
  };
  return { token, push, ask, log, listed, snapshot, groups };
}

const text = { type: "string" } as const;
const note = (fields: Model["fields"], rest: Partial<Model> = {}): Record<string, Model> => ({
  Note: { fields, ...rest },
});

const ODD = [
  ...["", " ", "a b", "a\tb", "\n", "a\v", "a\f", "\r", "\u00a0", "\u0085", "\u1680", "\u180e", "\u2003", "\u200b"],
  ...["\u2028"],
];
const LONG = ["x".repeat(200), "x".repeat(201), "\u{1f600}".repeat(200), "\u{1f600}".repeat(201)];
const values = [...ODD, "\u202f", "\u205f", "\u3000", "\ufeff", "fine", "a:b", "[x]", "\u00e9", "\u{1f600}", ...LONG];

test("[M4] [M6] records that were there before their groups are filed as a write would file them", async () => {
  const { push, ask, groups } = await tenant(note({ a: text, b: text }));
  for (const [i, a] of values.entries()) await ask("POST", "/v1/models/note", { id: `n${i}`, data: { a } });
  await push(note({ a: text, b: text }, { groups: [{ kind: "a", from: "a" }] }));
  const filed = await groups();
  const named = values.filter((a) => isSyncGroup(`a:${a}`));
  expect([...filed.values()].flat().sort()).toEqual(named.map((a) => `a:${a}`).sort());
  expect(named).toContain("\u{1f600}".repeat(200));
  // Another field of theirs is written: they stay where they are.
  for (const i of values.keys()) await ask("PATCH", `/v1/models/note/n${i}`, { data: { b: "x" } });
  expect(await groups()).toEqual(filed);
});

test("[M7] values hidden by force appear in no older entry, even after the records are deleted", async () => {
  const { push, ask, log } = await tenant({ ...note({ a: text, b: text }), other: { fields: { a: text } } });
  for (const model of ["note", "other"]) {
    await ask("POST", `/v1/models/${model}`, { id: "r", data: { a: "x" } });
    await ask("DELETE", `/v1/models/${model}/r`);
  }
  await ask("POST", "/v1/models/note", { id: "n", data: { a: "x", b: "y" } });
  await ask("DELETE", "/v1/models/note/n");
  await push(note({ b: text }), { force: true });
  await push({ ...note({ b: text }), other: { fields: { c: text } } });
  const told = (await log()).filter(({ verb }) => verb === "created").map(({ model, data }) => [model, data]);
  expect(told).toEqual([
    ["Note", { id: "r" }],
    ["other", { id: "r" }],
    ["Note", { id: "n", b: "y" }],
  ]);
});

test("[M7] hidden values are deleted with their record, even if the same commit creates it again", async () => {
  const { push, ask, listed } = await tenant(note({ a: text, b: text }));
  await ask("POST", "/v1/models/note", { id: "n", data: { a: "x", b: "old" } });
  await push(note({ a: text }), { force: true });
  await ask("POST", "/v1/commits", {
    operations: [
      { action: "delete", model: "note", id: "n" },
      { action: "create", model: "note", id: "n", data: { a: "new" } },
    ],
  });
  await push(note({ a: text, b: text }));
  expect(await listed("/v1/models/note")).toEqual([{ id: "n", a: "new" }]);
});

test("[M4] a premise on a group that was read before the group rules changed has moved", async () => {
  const { push, ask } = await tenant(note({ a: text, b: text }, { groups: [{ kind: "a", from: "a" }] }));
  await ask("POST", "/v1/models/note", { id: "n", data: { a: "x", b: "y" } });
  await ask("POST", "/v1/models/note", { id: "m", data: { a: "x", b: "z" } });
  await push(note({ a: text, b: text }, { groups: [{ kind: "b", from: "b" }] }));
  const write = (group: string, readAt: number) =>
    ask("POST", "/v1/commits", {
      operations: [{ action: "update", model: "note", id: "n", data: { a: "new" } }],
      reads: [{ group, readAt, onStale: "reject" }],
    });
  expect((await write("b:z", 1)).body.code).toBe("stale_context");
  expect((await write("b:z", 2)).status).toBe(200);
  // The write above was to the other group.
  expect((await write("b:y", 2)).body.code).toBe("stale_context");
});

test("[M9] readers of rows that a push changed get a resync, on every server", async () => {
  const { token, push, ask } = await tenant(note({ a: text, b: text }));
  await ask("POST", "/v1/models/note", { id: "n", data: { a: "x" } });
  const heard = [await follow(url, token, {}), await follow(second.server.url, token, {})];
  await push(note({ a: text, b: text, c: text }));
  for (const stream of heard) expect(await stream.next("schema")).toMatchObject({ version: 2 });
  await push(note({ a: text, c: text }), { force: true });
  for (const stream of heard) expect(await stream.next("resync")).toEqual({ frame: "resync", reason: "schema" });
});

test("[M7] a forced change of more records than one batch rewrites every one of them", async () => {
  const { token, push } = await tenant(note({ a: text, b: text }));
  for (let n = 0; n < 25; n++)
    await call("POST", "/v1/commits", { token, json: creates("note", hundred(`n${n}`), { a: "x", b: "y" }) });
  await push(note({ a: text }), { force: true });
  await until(async () => expect(await app.sql("select from holdfast.head where rewriting")).toEqual([]));
  const [counted] = await app.sql<{ whole: number; hidden: number }>(
    `select count(*) filter (where data::jsonb ? 'b')::int as whole, count(*) filter (where hidden::jsonb = '{"b":"y"}')::int as hidden
     from holdfast.record r join holdfast.secret_key k on k.tenant = r.tenant where k.last4 = $1`,
    [token.slice(-4)],
  );
  expect(counted).toEqual({ whole: 0, hidden: 2_500 });
});

test("[M9] [M37] readers receive rowsVersion, so that one that was away notices a push that changed records", async () => {
  const { token, push, ask } = await tenant(note({ a: text, b: text }));
  await ask("POST", "/v1/models/note", { id: "n", data: { a: "x" } });
  const versions = async () => {
    const [start = ""] = (await ask("GET", "/v1/snapshot")).text.split("\n");
    const stream = await follow(url, token, {});
    const welcome = stream.frames.find(({ frame }) => frame === "welcome");
    return [JSON.parse(start), (await ask("GET", "/v1/log")).body, welcome].map(
      (each) => (each as { rowsVersion?: number }).rowsVersion,
    );
  };
  const before = await versions();
  expect(before).toEqual([before[0], before[0], before[0]]);
  await push(note({ a: text, b: text, c: text }));
  expect(await versions()).toEqual(before);
  await push(note({ a: text, c: text }), { force: true });
  const after = await versions();
  expect(after).toEqual([after[0], after[0], after[0]]);
  expect(Number(after[0])).toBeGreaterThan(Number(before[0]));
});
