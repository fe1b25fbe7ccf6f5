import type { LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { type Answer, startApp } from "../testing/app.ts";

const app = await startApp();
const { call } = app;
const records = ({ body }: Answer) => body.data as Record<string, unknown>[];
const ids = (answer: Answer) => records(answer).map(({ id }) => id);

await call("POST", "/v1/schema", {
  json: {
    models: {
      ...((await call("GET", "/v1/schema")).body.models as object),
      thing: {
        fields: {
          name: { type: "string" },
          size: { type: "number", nullable: true },
          at: { type: "datetime" },
          done: { type: "boolean" },
          kind: { type: "enum", values: ["b", "a"] },
          toString: { type: "string" },
        },
        groups: [{ kind: "name", from: "name" }],
      },
    },
  },
});
const things = "/v1/models/thing";
const put = (rows: Record<string, object>) =>
  call("POST", "/v1/commits", {
    json: { operations: Object.entries(rows).map(([id, data]) => ({ action: "create", model: "thing", id, data })) },
  });

/** Follows the cursors to the end; `between` runs after each page. */
async function pages(search: string, between: (page: Answer) => Promise<unknown> = async () => {}): Promise<Answer[]> {
  const all: Answer[] = [];
  let cursor = "";
  do {
    const page = await call("GET", `${things}?${search}${cursor && `&starting_after=${encodeURIComponent(cursor)}`}`);
    expect(page.status).toBe(200);
    expect(page.body.has_more).toBe(page.body.next_cursor !== null);
    all.push(page);
    cursor = (page.body.next_cursor as string | null) ?? "";
    await between(page);
  } while (cursor !== "");
  return all;
}

const NAMES = ["", "A", "a", "B", "b", "é", "z", "Z", "ﬁ", "𝕳", "\uffff", "10", "9", "_"];
const rows = Object.fromEntries(
  Array.from({ length: 57 }, (_, i) => [
    `t${String((i * 37) % 57).padStart(2, "0")}`,
    {
      ...(i % 5 !== 0 && { name: `${NAMES[i % NAMES.length]}x` }),
      ...(i % 4 !== 0 && { size: i % 3 === 0 ? null : ((i * 7) % 6) - 2.5 }),
      ...(i % 6 !== 0 && {
        at: [
          "2024-01-01T00:00:00Z",
          "2023-12-31T23:30:00-01:00",
          "2024-01-01T00:00:00.000001Z",
          "0001-01-01T00:00:00+10:00",
          "9999-12-31T23:59:59Z",
        ][i % 5],
      }),
      ...(i % 2 === 0 && { done: i % 3 === 0, kind: i % 3 === 0 ? "a" : "b" }),
      ...(i % 7 === 0 && { toString: `s${i}` }),
    },
  ]),
);
await put(rows);

const codePoints = (a: string, b: string) => {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const by = (x[i]!.codePointAt(0) as number) - (y[i]!.codePointAt(0) as number);
    if (by !== 0) return by;
  }
  return x.length - y.length;
};
/** Microseconds since the year 1: what an instant is compared by. */
const instant = (text: string) => {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? "";
  return BigInt(Date.parse(text.replace(/\.\d+/, ""))) * 1_000n + BigInt(fraction.padEnd(6, "0").slice(0, 6));
};
const compare = (field: string, a: unknown, b: unknown): number => {
  if (field === "at") {
    const by = instant(a as string) - instant(b as string);
    return by < 0n ? -1 : by > 0n ? 1 : 0;
  }
  return typeof a === "string" ? codePoints(a, b as string) : Number(a) - Number(b);
};

test.each(
  ["id", "name", "size", "at", "done", "kind", "toString", "createdAt", "updatedAt"].flatMap(
    (field) =>
      [
        [field, "asc"],
        [field, "desc"],
      ] as const,
  ),
)("[G3] [G4] by %s %s, page by page: every record once, in a total order, absent values last", async (field, order) => {
  const seen = (await pages(`order_by=${field}&order=${order}&limit=7`)).flatMap(records);
  expect(seen.map(({ id }) => id).sort()).toEqual(Object.keys(rows).sort());
  const sign = order === "asc" ? 1 : -1;
  for (const [i, after] of seen.slice(1).entries()) {
    const before = seen[i]!;
    // All were made in one commit: by time there is nothing but the id.
    const [a, b] = field.endsWith("At") ? [undefined, undefined] : [own(before, field), own(after, field)];
    const by =
      a === undefined || b === undefined
        ? Number(a === undefined) - Number(b === undefined)
        : sign * compare(field, a, b);
    expect([
      before.id,
      after.id,
      by <= 0 && (by < 0 || sign * codePoints(String(before.id), String(after.id)) < 0),
    ]).toEqual([before.id, after.id, true]);
  }
});
const own = (row: Record<string, unknown>, field: string) =>
  Object.hasOwn(row, field) ? (row[field] ?? undefined) : undefined;

test("[G4] records that go while one pages: nothing comes twice, and what stays is not left out", async () => {
  const model = Array.from({ length: 30 }, (_, i) => `g${String(i).padStart(2, "0")}`);
  await put(Object.fromEntries(model.map((id, i) => [id, { name: "same", size: i % 3 }])));
  const gone = new Set<unknown>();
  const seen: unknown[] = [];
  await pages(`order_by=size&limit=4&ids=${model.join(",")}`, async (page) => {
    seen.push(...ids(page));
    // The very record that the cursor stands on, and one further on.
    for (const id of [ids(page).at(-1), model.find((one) => !seen.includes(one) && !gone.has(one))]) {
      if (id === undefined) continue;
      if (!seen.includes(id)) gone.add(id);
      await call("DELETE", `${things}/${id}`);
    }
  });
  expect(new Set(seen).size).toBe(seen.length);
  expect([...seen].sort()).toEqual(model.filter((id) => !gone.has(id)));
});

test("[G4] a cursor belongs to its list, its order and its organization", async () => {
  const cursor = encodeURIComponent(String((await call("GET", `${things}?limit=3`)).body.next_cursor));
  const status = async (path: string, token = app.keys.live) => (await call("GET", path, { token })).status;
  expect(await status(`${things}?starting_after=${cursor}`)).toBe(200);
  expect(await status(`${things}?limit=50&starting_after=${cursor}`)).toBe(200);
  for (const path of [
    `${things}?order=desc&`,
    `${things}?order_by=name&`,
    `${things}?state=all&`,
    `${things}?ids=a&`,
    "/v1/models/slide?",
    "/v1/snapshot?",
  ])
    expect([path, await status(`${path}starting_after=${cursor}`)]).toEqual([path, 400]);
  expect(await status(`${things}?starting_after=${cursor}`, app.keys.test)).not.toBe(200);
  const broken = cursor.replace(/^./, (first) => (first === "a" ? "b" : "a"));
  expect(await status(`${things}?starting_after=${broken}`)).toBe(400);
  expect(await status(`${things}?starting_after=${cursor}x`)).toBe(400);
});

test("[G5] archived records are listed when asked, with their time", async () => {
  await put({ h1: { name: "h" }, h2: { name: "h" } });
  await call("POST", `${things}/h1/archive`);
  const list = (state: string) => call("GET", `${things}?ids=h1,h2${state}`);
  expect(ids(await list(""))).toEqual(["h2"]);
  expect(ids(await list("&state=live"))).toEqual(["h2"]);
  const archived = await list("&state=archived");
  expect([ids(archived), archived.body.archived]).toEqual([["h1"], { h1: expect.stringMatching(/Z$/) }]);
  expect(ids(await list("&state=all"))).toEqual(["h1", "h2"]);
  expect((await list("")).body).not.toHaveProperty("archived");
});

test("[G1] a record is read with where it stands", async () => {
  await put({ r1: { name: "r" } });
  const answer = await call("GET", `/api${things}/r1`);
  const { syncId } = answer.body;
  expect(answer.body).toEqual({
    object: "model",
    model: "thing",
    id: "r1",
    data: { id: "r1", name: "r" },
    stamp: syncId,
    claims: [],
    syncId,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    updatedBy: expect.stringMatching(/^system:key_/),
    archivedAt: null,
  });
});

test("[G3] a page deep in a large list costs what the first one costs", async () => {
  const [tenant] = await app.sql<{ tenant: number }>("select tenant from holdfast.head order by sync_id desc limit 1");
  await app.sql(
    `insert into holdfast.record select $1, 'activity', 'a' || lpad(n::text, 6, '0'), 1, '{}', '{}', null, 1, '', now(), now(), ''
     from generate_series(1, 30000) n`,
    [tenant?.tenant],
  );
  const timed = async (search: string) => {
    const begun = performance.now();
    const answer = await call("GET", `/v1/models/activity?limit=100${search}`);
    expect(answer.status).toBe(200);
    return { answer, ms: performance.now() - begun };
  };
  const { answer } = await timed("");
  let cursor = String(answer.body.next_cursor);
  for (let i = 0; i < 20; i++) cursor = String((await timed(`&starting_after=${cursor}`)).answer.body.next_cursor);
  const [plan] = await app.sql<{ "QUERY PLAN": { Plan: Record<string, number> }[] }>(
    `explain (analyze, buffers, format json) select id from holdfast.record where tenant = ${tenant?.tenant} and model = 'activity'
     and archived_at is null and id > 'a029000' order by id asc limit 101`,
  );
  expect(plan!["QUERY PLAN"][0]!.Plan["Shared Hit Blocks"]).toBeLessThan(200);
});

test("[G6] the feed pages through the log to its head", async () => {
  const seen: number[] = [];
  let after = "0";
  for (;;) {
    const { body } = await call("GET", `/v1/log?limit=13&after=${after}`);
    seen.push(...(body.data as LogEntry[]).map(({ syncId }) => syncId));
    expect(Number(body.next_cursor)).toBe(seen.at(-1));
    after = String(body.next_cursor);
    if (!body.has_more) break;
  }
  expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1));
  expect(seen.length).toBe((await call("GET", "/v1/log?limit=1")).body.stamp);
  expect((await call("GET", `/v1/log?after=${seen.length + 1}`)).body.code).toBe("read_at_in_future");
});

test("[G6] a view shows what is in it, and examines the rest", async () => {
  await put({ v1: { name: "va" }, v2: { name: "vb" } });
  const before = Number((await call("GET", "/v1/log?limit=1")).body.stamp);
  await call("PATCH", `${things}/v1`, { json: { data: { name: "vb" } } });
  await call("PATCH", `${things}/v2`, { json: { data: { size: 1 } } });
  await call("DELETE", `${things}/v2`);
  const view = async (search: string) => {
    const { body } = await call("GET", `/v1/log?after=${before}&${search}`);
    expect(body.next_cursor).toBe(String(before + 3));
    return (body.data as LogEntry[]).map(({ id, verb, left, data }) => [id, verb, left ?? false, data === null]);
  };
  expect(await view("group=name:va")).toEqual([["v1", "deleted", true, true]]);
  expect(await view("group=name:vb")).toEqual([
    ["v1", "updated", false, false],
    ["v2", "updated", false, false],
    ["v2", "deleted", false, true],
  ]);
  expect(await view("group=name:vc&group=name:va")).toHaveLength(1);
  expect(await view("model=slide")).toEqual([]);
  expect(await view("model=slide&model=THING")).toHaveLength(3);
  expect(await view(`group=org:${app.organization}`)).toHaveLength(3);
});

test("[G6] a reader waits for news, and only as long as it asked", async () => {
  const { body } = await call("GET", "/v1/log?limit=1");
  const waiting = call("GET", `/v1/log?after=${body.stamp}&wait=20000`);
  await put({ w1: { name: "w" } });
  expect(((await waiting).body.data as LogEntry[]).map(({ id }) => id)).toEqual(["w1"]);
  const head = Number(body.stamp) + 1;
  const begun = performance.now();
  expect((await call("GET", `/v1/log?after=${head}&wait=150`)).body).toMatchObject({
    data: [],
    next_cursor: String(head),
    has_more: false,
  });
  expect(performance.now() - begun).toBeGreaterThan(140);
  // What is not for this reader does not end its waiting, but is examined.
  const other = call("GET", `/v1/log?after=${head}&wait=400&model=slide`);
  await put({ w2: { name: "w" } });
  expect((await other).body).toMatchObject({ data: [], next_cursor: String(head + 1) });
});

test("[G7] a snapshot pages through all records; with the log from its stamp it adds up to the present", async () => {
  const table = new Map<string, { syncId: number; data: unknown; archivedAt: unknown }>();
  let cursor: string | null = "";
  let stamp = -1;
  let last = "";
  for (let page = 0; cursor !== null; page++) {
    const answer: Answer = await call(
      "GET",
      `/v1/snapshot?model=thing&model=Slide&limit=20${cursor && `&starting_after=${encodeURIComponent(cursor)}`}`,
    );
    expect(answer.headers["content-type"]).toMatch(/^application\/x-ndjson/);
    expect(answer.text.endsWith("\n")).toBe(true);
    const lines = answer.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const [start, end] = [lines.shift()!, lines.pop()!];
    expect([start.object, end.object, end.count]).toEqual(["snapshot", "snapshot_end", lines.length]);
    if (stamp < 0) stamp = Number(start.stamp);
    expect(start.stamp).toBe(stamp);
    for (const { model, id, syncId, data, archivedAt } of lines) {
      const key = `${model}/${id}`;
      expect(key > last).toBe(true);
      last = key;
      table.set(key, { syncId: Number(syncId), data, archivedAt: archivedAt ?? null });
    }
    cursor = end.next_cursor as string | null;
    await call("PATCH", `${things}/t0${page % 9}`, { json: { data: { size: 1_000 + page } } });
    await call("DELETE", `${things}/t${20 + page}`);
    await call("POST", `${things}/t${30 + page}/archive`);
    await put({ [`u${page}`]: { name: "new" } });
  }
  for (const entry of (await call("GET", `/v1/log?limit=1000&after=${stamp}`)).body.data as LogEntry[]) {
    const key = `${entry.model}/${entry.id}`;
    const before = table.get(key);
    if (before && before.syncId >= entry.syncId) continue;
    if (entry.data === null) table.delete(key);
    else
      table.set(key, {
        syncId: entry.syncId,
        data: entry.data,
        archivedAt: entry.verb === "archived" ? entry.createdAt : (before?.archivedAt ?? null),
      });
  }
  const now = await app.sql<{ key: string; data: unknown; archived: boolean }>(
    "select model || '/' || id as key, data, archived_at is not null as archived from holdfast.record where model in ('thing', 'slide') and tenant = (select tenant from holdfast.head order by sync_id desc limit 1) order by 1",
  );
  expect(
    [...table]
      .map(([key, { data, archivedAt }]) => ({ key, data, archived: archivedAt !== null }))
      .sort((a, b) => (a.key < b.key ? -1 : 1)),
  ).toEqual(now.sort((a, b) => (a.key < b.key ? -1 : 1)));
  expect(now.length).toBeGreaterThan(60);
});

test("[G7] a snapshot of a group has its records only", async () => {
  await put({ k1: { name: "kk" }, k2: { name: "kl" } });
  const { text } = await call("GET", "/v1/snapshot?group=name:kk");
  expect(
    text
      .split("\n")
      .slice(1, -2)
      .map((line) => (JSON.parse(line) as { id: string }).id),
  ).toEqual(["k1"]);
});

test("[M5] the same schema again changes nothing, in whatever order it is spelled", async () => {
  const { body } = await call("GET", "/v1/schema");
  const models = Object.fromEntries(Object.entries(body.models as object).reverse());
  const again = await call("POST", "/v1/schema", { json: { models } });
  expect([again.status, again.body]).toMatchObject([200, { version: body.version, hash: body.hash, unchanged: true }]);
});

test("[M3] what would hide data is refused with the list, what adds lands", async () => {
  const models = (await call("GET", "/v1/schema")).body.models as Record<string, { fields: object }>;
  const { slide: _, ...rest } = models;
  const dropped = await call("POST", "/v1/schema", {
    json: { models: { ...rest, thing: { fields: { name: { type: "number" } } } } },
  });
  expect([dropped.status, dropped.body.code]).toEqual([409, "schema_incompatible"]);
  expect(dropped.body.problems).toEqual(
    expect.arrayContaining([
      { model: "slide", problem: expect.any(String) },
      { model: "thing", field: "name", problem: expect.stringContaining("narrowed") },
      { model: "thing", field: "size", problem: expect.stringContaining("removed") },
    ]),
  );
  const added = await call("POST", "/v1/schema", {
    json: { models: { ...models, other: { fields: { a: { type: "string" } } } } },
  });
  expect([added.status, added.body.unchanged]).toEqual([201, false]);
  expect((await call("POST", "/v1/models/other", { json: { id: "o1", data: { a: "x" } } })).status).toBe(200);
});

test("[M4] new group rules file the records anew", async () => {
  await put({ m41: { name: "mm", done: true } });
  const models = (await call("GET", "/v1/schema")).body.models as Record<string, object>;
  const groups = [
    { kind: "name", from: "name" },
    { kind: "self", from: "id" },
  ];
  const pushed = await call("POST", "/v1/schema", {
    json: { models: { ...models, thing: { ...models.thing, groups } } },
  });
  expect([pushed.status, pushed.body.warnings]).toEqual([201, [expect.stringContaining("thing")]]);
  const { text } = await call("GET", "/v1/snapshot?group=self:m41");
  expect(text).toContain('"id":"m41"');
  // A premise on a group that was just made counts as moved.
  const premise = await call("POST", "/v1/commits", {
    json: {
      operations: [{ action: "update", model: "thing", id: "m41", data: { size: 1 } }],
      reads: [{ group: "self:m41", readAt: 0 }],
    },
  });
  expect(premise.body.code).toBe("stale_context");
});

test("[M2] a schema that is none is refused", async () => {
  for (const [json, code] of [
    [{}, "missing_field"],
    [{ models: [] }, "invalid_type"],
    [{ models: {} }, "invalid_schema"],
    [{ models: { a: {} } }, "missing_field"],
    [{ models: { a: { fields: { b: { type: "text" } } } } }, "invalid_value"],
    [{ models: { a: { fields: { b: { type: "string", size: 1 } } } } }, "unknown_field"],
    [{ models: { a: { fields: {} }, A: { fields: {} } } }, "invalid_schema"],
    [{ models: { a: { fields: {}, conflict: "row" } } }, "invalid_value"],
  ] as const) {
    const answer = await call("POST", "/v1/schema", { json });
    expect([json, answer.status, answer.body.code]).toEqual([json, 400, code]);
  }
});

test("[G4] a cursor is the very text that was given: no sign more, none less, none in another spelling", async () => {
  for (let n = 0; n < 3; n += 1) await call("POST", "/v1/models/slide", { json: { id: `cursor${n}`, data: {} } });
  const next = String((await call("GET", "/v1/models/slide?limit=1")).body.next_cursor);
  const status = async (cursor: string) =>
    (await call("GET", `/v1/models/slide?limit=1&starting_after=${encodeURIComponent(cursor)}`)).status;
  expect(await status(next)).toBe(200);
  const [body = "", signature = ""] = next.split(".");
  for (const other of [
    `${next}=`,
    `${next}!`,
    `${next} `,
    `${next}A`,
    `${next}.`,
    next.slice(0, -1),
    `${body}=.${signature}`,
  ])
    expect([other, await status(other)]).toEqual([other, 400]);
});
