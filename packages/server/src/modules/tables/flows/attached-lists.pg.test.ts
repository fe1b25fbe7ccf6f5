import type { Field } from "@holdfast/sdk/protocol";
import { beforeAll, describe, expect, test } from "vitest";
import { startWithTables } from "../../../testing/attached-tables.ts";

const { app, db, attach, mark, entries } = await startWithTables();

const FIELDS: Readonly<Record<string, Partial<Field>>> = {
  name: { type: "string", nullable: true },
  deck: { type: "string", nullable: true },
  n: { type: "integer", nullable: true },
  x: { type: "number", nullable: true },
  ok: { type: "boolean", nullable: true },
  at: { type: "datetime", nullable: true },
  kind: { type: "enum", values: ["small", "large", "medium"], nullable: true },
  tags: { type: "array", nullable: true },
};
const LONG = "é".repeat(600);
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  name: [null, "", "a", "A", "B", "Äb", "zoë", "a b", LONG, `${LONG}!`, `${LONG}a`, "50%", "x_y", "İ"],
  deck: ["d1", "d2", null],
  n: [null, 0, -3, 9, 10, 9007199254740991],
  x: [null, 0.5, -1.25, 1e21, 3],
  ok: [true, false, null],
  at: [null, "2026-01-02T03:04:05.600Z", "2026-01-02T03:04:05.600123Z", "0001-01-01T00:00:00.000Z"],
  kind: ["small", "medium", "large", null],
  tags: [null, [], ["a"], ["b", "a b"]],
};
const ROWS = 60;
const valueAt = (field: string, row: number) => {
  const values = VALUES[field] ?? [];
  return values[(row * 7 + field.length) % values.length] ?? null;
};

/** The same records, once in a table of the caller's and once kept by Holdfast. */
beforeAll(async () => {
  await db.query(`create table public.attacheds (id text primary key, name text, deck text, n bigint, x double precision,
    ok boolean, at timestamptz, kind text, tags text[])`);
  const names = Object.keys(FIELDS);
  const kept: object[] = [];
  for (let row = 0; row < ROWS; row++) {
    const id = `r${String(row).padStart(3, "0")}`;
    const data = Object.fromEntries(names.map((name) => [name, valueAt(name, row)]));
    await db.query(`insert into attacheds values ($1, ${names.map((_, i) => `$${i + 2}`).join(", ")})`, [
      id,
      ...names.map((name) => data[name]),
    ]);
    kept.push({ action: "create", model: "kept", id, data });
  }
  const { body } = await app.call("GET", "/v1/schema");
  const fields = Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, field])) as never;
  const groups = [{ kind: "deck", from: "deck" }];
  await attach("public.attacheds", FIELDS as never);
  const { attacheds } = (await app.call("GET", "/v1/schema")).body.models as Record<string, object>;
  const models = { ...(body.models as object), attacheds: { ...attacheds, groups }, kept: { fields, groups } };
  const pushed = await app.call("POST", "/v1/schema", { json: { models } });
  expect(pushed.status, pushed.text).toBe(201);
  const made = await app.call("POST", "/v1/commits", { key: "kept", json: { operations: kept } });
  expect(made.status, made.text).toBe(200);
});

/** All pages of a list. */
async function list(model: string, query: Readonly<Record<string, string>>, token?: string) {
  const found: unknown[] = [];
  for (let after: string | undefined; ; ) {
    const all = { limit: "7", ...query, ...(after !== undefined && { starting_after: after }) };
    const { status, body, text } = await app.call("GET", `/v1/models/${model}?${new URLSearchParams(all)}`, {
      ...(token !== undefined && { token }),
    });
    expect(status, text).toBe(200);
    found.push(...(body.data as object[]));
    after = (body.next_cursor as string | null) ?? undefined;
    if (after === undefined) return found;
  }
}

const both = async (query: Readonly<Record<string, string>>, token?: string) => {
  const [attached, kept] = [await list("attacheds", query, token), await list("kept", query, token)];
  expect(attached, JSON.stringify(query)).toEqual(kept);
  return attached;
};

async function snapshot(model: string, more = "", token?: string) {
  const path = `/v1/snapshot?limit=500&model=${model}${more}`;
  const { status, text } = await app.call("GET", path, token === undefined ? {} : { token });
  expect(status, text).toBe(200);
  const lines = text.trim().split("\n").slice(1, -1);
  return lines.map((line) => (JSON.parse(line) as { data: unknown }).data);
}

describe("[DS45] a list of an attached table is the list of the same records that Holdfast keeps", () => {
  test("by ids, and in the groups of a token; snapshots have the same records", async () => {
    expect(await both({ ids: "r003,r001,nope" })).toHaveLength(2);
    const { token } = await app.capability({
      ...{ participantId: "agent", operations: ["attacheds.read", "kept.read"], syncGroups: ["deck:d1"] },
    });
    const seen = await both({}, token);
    expect(seen.length).toBe(ROWS / 3);
    for (const model of ["attacheds", "kept"]) expect(await snapshot(model, "", token)).toEqual(seen);
    expect((await app.call("GET", "/v1/models/attacheds/r000", { token })).status).toBe(
      (await app.call("GET", "/v1/models/kept/r000", { token })).status,
    );
  });

  /** Also what no field of the type can have: nothing of it is refused. */
  const asked: Readonly<Record<string, readonly unknown[]>> = {
    ...VALUES,
    n: [null, 0, 9, 10, 1.5, 1e300, 2 ** 53, -(2 ** 63)],
    x: [null, 0.5, 1e21, 1e300],
    at: [null, "2026-01-02T03:04:05.6+00:00", "9999-12-31T23:59:59.999999-23:59", "0001-01-01T00:00:00+23:59"],
    tags: [],
    id: ["r001", "", "R001"],
  };
  const conditions = Object.entries(asked).flatMap(([field, values]) => [
    ...values.map((value) => ({ [field]: value })),
    ...values.map((value) => ({ [field]: { in: [value, ...values.slice(0, 2)] } })),
    ...(["n", "x", "at"].includes(field)
      ? ["gt", "gte", "lt", "lte"].flatMap((operator) =>
          values.filter((value) => value !== null).map((value) => ({ [field]: { [operator]: value } })),
        )
      : []),
  ]);
  test("[G24] and so are the parts that a reader follows", async () => {
    let met = 0;
    for (const one of [...conditions, { tags: { contains: "a" } }, { tags: { contains: "a b" }, ok: true }]) {
      const part = (model: string) => snapshot(model, `&where=${encodeURIComponent(JSON.stringify({ [model]: one }))}`);
      const attached = await part("attacheds");
      expect(attached, JSON.stringify(one)).toEqual(await part("kept"));
      met += attached.length;
    }
    expect(met).toBeGreaterThan(1_000);
  });
});

test("[DS45] [DS113] ids of a table whose key is a number are in the order of numbers, page by page", async () => {
  await db.query("create table public.numbereds (id int primary key, title text)");
  await db.query("insert into numbereds select n, 'T' || n % 2 from generate_series(1, 25) n");
  await attach("public.numbereds", { title: {} });
  const ids = async (query: Readonly<Record<string, string>>) =>
    ((await list("numbereds", query)) as { id: string }[]).map(({ id }) => Number(id));
  const all = Array.from({ length: 25 }, (_, i) => i + 1);
  expect(await ids({ order_by: "id" })).toEqual(all);
  expect(await ids({ order_by: "id", order: "desc" })).toEqual(all.toReversed());
  expect(await ids({ order_by: "title" })).toEqual([
    ...all.filter((n) => n % 2 === 0),
    ...all.filter((n) => n % 2 === 1),
  ]);
  expect(await ids({ ids: "3,abc,99" })).toEqual([3]);
  expect((await app.call("GET", "/v1/models/numbereds/abc")).status).toBe(404);
  const { text } = await app.call("GET", "/v1/snapshot?limit=7&model=numbereds");
  const lines = text.trim().split("\n").slice(1, -1);
  expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
});

test("[DS45] a key of char(n) is the same id in the log, in lists and in reads", async () => {
  await db.query(
    "create table public.padded (id char(4) primary key, title text); insert into padded values ('ab', 'A')",
  );
  const { model } = await attach("public.padded", { title: {} });
  await mark();
  await db.query("update padded set title = 'B'");
  const [entry] = await entries(1);
  const id = entry?.id ?? "";
  expect(id).toBe("ab");
  expect(((await app.call("GET", `/v1/models/${model}`)).body.data as { id: string }[]).map((one) => one.id)).toEqual([
    id,
  ]);
  expect((await app.call("GET", `/v1/models/${model}/${encodeURIComponent(id)}`)).body.data).toEqual({
    id,
    title: "B",
  });
});

test("[G4] [DS45] long texts are sorted by all of them, and their cursors fit into a URL, both ways", async () => {
  await db.query(`create table public.longs (id text primary key, title text);
    insert into longs select 'r' || n, repeat('é', 20000) || (9 - n) from generate_series(1, 7) n`);
  await attach("public.longs", { title: {} });
  const page = async (cursor = "") => {
    const { status, body, text } = await app.call("GET", `/v1/models/longs?order_by=title&limit=2${cursor}`);
    expect(status, text.slice(0, 300)).toBe(200);
    return { ...body, ids: (body.data as { id: string }[]).map(({ id }) => id) };
  };
  type Page = Awaited<ReturnType<typeof page>> & { next_cursor?: string; previous_cursor?: string };
  const pages: Page[] = [await page()];
  for (let last = pages[0]; last?.next_cursor; last = pages.at(-1))
    pages.push(await page(`&starting_after=${last.next_cursor}`));
  expect(pages.map(({ ids }) => ids)).toEqual([["r7", "r6"], ["r5", "r4"], ["r3", "r2"], ["r1"]]);
  for (const [n, { previous_cursor }] of pages.entries())
    if (n > 0) expect((await page(`&ending_before=${previous_cursor}`)).ids).toEqual(pages[n - 1]?.ids);

  const path = `/v1/models/longs?order_by=title&starting_after=${pages[0]?.next_cursor}`;
  for (const change of ["update longs set title = title || '.' where id = 'r6'", "delete from longs where id = 'r6'"]) {
    await db.query(change);
    const { status, body } = await app.call("GET", path);
    expect([status, body.code, body.param]).toEqual([400, "invalid_cursor", "starting_after"]);
  }
});

test("[DS46] [DS115] while a table is gone, its model cannot be read, and others can", async () => {
  await db.query("create table public.goings (id text primary key, title text); insert into goings values ('a', 'A')");
  await attach("public.goings", { title: {} });
  await db.query("alter table goings rename column id to key");
  const reads = ["/v1/models/goings", "/v1/models/goings/a", "/v1/snapshot?model=goings"];
  for (const path of reads) {
    const { status, body } = await app.call("GET", path);
    expect([path, status, body.code]).toEqual([path, 503, "source_changed"]);
  }
  await db.query("drop table goings");
  for (const path of reads) {
    const { status, body } = await app.call("GET", path);
    expect([path, status, body.code]).toEqual([path, 503, "source_changed"]);
  }
  expect((await app.call("GET", "/v1/models/kept?limit=1")).status).toBe(200);
  expect((await app.call("GET", "/v1/snapshot?model=kept")).status).toBe(200);
});
