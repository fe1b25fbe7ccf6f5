import { type LogEntry, type Model, schemaFingerprint } from "@holdfast/sdk/protocol";
import { describe, expect, test } from "vitest";
import { type Answer, startApp } from "../testing/app.ts";

const app = await startApp();
const second = await app.another();
const { call } = app;

const text = { type: "string" } as const;
const number = { type: "number", default: 0 } as const;
const tags = { type: "array", items: "string" } as const;

/** A page that is open while fields of its model get other names, and one that was loaded after that. */
const OLDER: Record<string, Model> = { Slide: { fields: { title: text, order: number, tags, note: text } } };
const NEWER: Record<string, Model> = {
  // A new field has a name that the older page knows for another one.
  Slide: { fields: { heading: text, place: number, labels: tags, note: text, extra: text } },
};
const RENAMES = [
  { model: "slide", from: "title", to: "heading" },
  { model: "slide", from: "order", to: "place" },
  { model: "slide", from: "tags", to: "labels" },
];
const LATEST: Record<string, Model> = {
  Slide: { fields: { ...NEWER.Slide?.fields, title: { type: "string" } } },
};

type Said = string | undefined;

async function tenant(models = OLDER) {
  const { organization, token } = await app.newOrganization();
  const push = async (next: Record<string, Model>, rest: object = {}, by = call) => {
    const answer = await by("POST", "/v1/schema", { token, json: { models: next, ...rest } });
    expect(answer.text).toContain('"version"');
  };
  await push(models);
  /** One page: its schema, and how it asks. */
  const page =
    (said: Said, by = call) =>
    (method: string, path: string, json?: unknown, key?: string) =>
      by(method, path, {
        token,
        ...(said !== undefined && { headers: { "holdfast-schema": said } }),
        ...(json !== undefined && { json }),
        ...(key !== undefined && { key }),
      });
  const age = (days: number) =>
    app.sql(
      `update holdfast.model_schema set created_at = created_at - interval '${days} days'
       where tenant in (select id from holdfast.tenant where organization = $1)`,
      [organization],
    );
  return { token, push, page, age };
}

/** Both pages, after the push. */
async function renamed() {
  const { push, page, ...rest } = await tenant();
  await page(undefined)("POST", "/v1/models/slide", {
    id: "a",
    data: { title: "One", order: 1, tags: ["x"], note: "n" },
  });
  await push(NEWER, { renames: RENAMES });
  await push(LATEST);
  const older = page(schemaFingerprint(OLDER));
  return { ...rest, push, page, older, newer: page(schemaFingerprint(LATEST)) };
}

const idOf = (answer: { body: Readonly<Record<string, unknown>> }) => String(answer.body.id);

describe("[M30] [M52] [M51] [M32] [M55] after a rename, a page with the older schema", () => {
  test("reads a record under its own names, and nothing of a field that has one of them now", async () => {
    const { older, newer } = await renamed();
    await newer("PATCH", "/v1/models/slide/a", { data: { title: "Another field", extra: "e" } });
    expect((await older("GET", "/v1/models/slide/a")).body.data).toEqual({
      ...{ id: "a", title: "One", order: 1, tags: ["x"], note: "n", extra: "e" },
    });
    expect((await newer("GET", "/v1/models/slide/a")).body.data).toEqual({
      ...{ id: "a", heading: "One", place: 1, labels: ["x"], note: "n", extra: "e", title: "Another field" },
    });
  });

  test("writes a record under its own names, whole, in part, and by changes", async () => {
    const { older, newer } = await renamed();
    expect((await older("POST", "/v1/models/slide", { id: "b", data: { title: "B" } })).status).toBe(200);
    expect((await older("PATCH", "/v1/models/slide/b", { data: { title: "B2", note: "m" } })).status).toBe(200);
    const changes = { order: { increment: 2 }, tags: { add: ["y"] } };
    expect((await older("PATCH", "/v1/models/slide/b", { changes })).status).toBe(200);
    expect((await newer("GET", "/v1/models/slide/b")).body.data).toEqual({
      ...{ id: "b", heading: "B2", place: 2, labels: ["y"], note: "m" },
    });
  });

  test("commits operations and bulks under its own names", async () => {
    const { older, newer } = await renamed();
    const operation = (id: string) => ({ action: "create", model: "SLIDE", id, data: { title: id } });
    expect((await older("POST", "/v1/commits", { operations: [operation("b"), operation("c")] })).status).toBe(200);
    const commits = ["d", "e"].map((id) => ({ clientTxId: id, operations: [operation(id)] }));
    await older("POST", "/v1/commits/bulk", { commits });
    const listed = (await newer("GET", "/v1/models/slide")).body.data as { heading: string }[];
    expect(listed.map(({ heading }) => heading)).toEqual(["One", "b", "c", "d", "e"]);
  });

  test("lists under its own names, by filters and in an order that it names", async () => {
    const { older } = await renamed();
    await older("POST", "/v1/models/slide", { id: "b", data: { title: "Two", order: 2 } });
    const listed = async (query: string) =>
      ((await older("GET", `/v1/models/slide?${query}`)).body.data as { title: string }[]).map(({ title }) => title);
    expect(await listed("order_by=order&order=desc")).toEqual(["Two", "One"]);
    expect(await listed("title=Two")).toEqual(["Two"]);
    expect(await listed("filter[title]=One")).toEqual(["One"]);
    expect(await listed("filter[order][gte]=2")).toEqual(["Two"]);
    expect(await listed("filter[tags][contains]=x")).toEqual(["One"]);
  });

  test("pages through a list in an order that it names", async () => {
    const { older } = await renamed();
    await older("POST", "/v1/models/slide", { id: "b", data: { title: "Two", order: 2 } });
    const first = await older("GET", "/v1/models/slide?order_by=title&limit=1");
    const next = `starting_after=${encodeURIComponent(String(first.body.next_cursor))}`;
    const last = await older("GET", `/v1/models/slide?order_by=title&limit=1&${next}`);
    expect(last.body.data).toMatchObject([{ title: "Two" }]);
  });

  test("[G26] queries under its own names, with conditions, several sort keys and pages", async () => {
    const { older, newer } = await renamed();
    await older("POST", "/v1/models/slide", { id: "b", data: { title: "Two", order: 2, tags: ["y"] } });
    await older("POST", "/v1/models/slide", { id: "c", data: { title: "Two", order: 1, tags: ["y"] } });
    const query = {
      where: { or: [{ title: "Two" }, { tags: { contains: "x" } }], order: { gte: 1 } },
      orderBy: ["title", { field: "order", order: "desc" }],
    };
    const titles = ({ body }: Answer) => (body.data as { title: string }[]).map(({ title }) => title);
    const first = await older("POST", "/v1/models/slide/query", { ...query, limit: 2 });
    expect(titles(first)).toEqual(["One", "Two"]);
    const rest = await older("POST", "/v1/models/slide/query", { ...query, starting_after: first.body.next_cursor });
    expect(rest.body.data).toMatchObject([{ id: "c", title: "Two", order: 1, tags: ["y"] }]);
    expect(titles(await older("GET", "/v1/models/slide?order_by=title:desc,order"))).toEqual(["Two", "Two", "One"]);
    const renamedQuery = { where: { heading: "One" }, orderBy: ["heading", "place"] };
    expect((await newer("POST", "/v1/models/slide/query", renamedQuery)).body.data).toMatchObject([{ heading: "One" }]);
    expect((await newer("POST", "/v1/models/slide/query", query)).body).toMatchObject({ code: "unknown_field" });
  });

  test("reads log, history and snapshot under its own names, entries from before the push among them", async () => {
    const { older } = await renamed();
    await older("PATCH", "/v1/models/slide/a", { data: { title: "New", order: 3 } });
    const entries = (await older("GET", "/v1/log?after=0")).body.data as LogEntry[];
    expect(entries.map(({ data }) => data?.title)).toEqual(["One", "New"]);
    expect(entries.at(-1)?.changedFields).toEqual(["title", "order"]);
    expect((await older("GET", "/v1/models/slide/a/history")).body.data).toEqual(entries);
    const lines = (await older("GET", "/v1/snapshot")).text.trim().split("\n");
    expect(JSON.parse(lines[1] as string).data).toEqual({ id: "a", title: "New", order: 3, tags: ["x"], note: "n" });
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ object: "snapshot_end", count: 1 });
  });

  test("follows records by conditions on its own names", async () => {
    const { older } = await renamed();
    await older("POST", "/v1/models/slide", { id: "b", data: { title: "Two", order: 2 } });
    const where = encodeURIComponent(JSON.stringify({ slide: { order: { gte: 2 }, title: "Two" } }));
    const entries = (await older("GET", `/v1/log?after=0&where=${where}`)).body.data as LogEntry[];
    expect(entries.map(({ id }) => id)).toEqual(["b"]);
    expect((await older("GET", `/v1/snapshot?where=${where}`)).text).toContain('"title":"Two"');
    const either = encodeURIComponent(JSON.stringify({ Slide: [{ title: "One" }, { order: 2 }] }));
    expect(((await older("GET", `/v1/log?after=0&where=${either}`)).body.data as unknown[]).length).toBe(2);
  });

  test("claims a field by its own name, and sees claims under it", async () => {
    const { older, newer } = await renamed();
    const claim = await older("POST", "/v1/models/slide/a/claim", { field: "title", clientId: "old" });
    expect(claim.body).toMatchObject({ field: "title", target: { field: "title" } });
    expect((await newer("GET", `/v1/claims/${idOf(claim)}`)).body).toMatchObject({ field: "heading" });
    expect((await older("GET", `/v1/claims/${idOf(claim)}`)).body).toMatchObject({ field: "title" });
    const target = { model: "slide", id: "a", field: "order" };
    expect((await older("POST", "/v1/claims", { target, clientId: "old" })).body).toMatchObject({ field: "order" });
    const fieldsOf = (list: unknown) => (list as { field: string }[]).map(({ field }) => field);
    const listed = await older("GET", "/v1/claims?model=slide&id=a");
    expect(fieldsOf(listed.body.claims)).toEqual(["title", "order"]);
    expect(fieldsOf((await newer("GET", "/v1/claims?model=slide&id=a")).body.claims)).toEqual(["heading", "place"]);
    expect(((await older("GET", "/v1/models/slide/a")).body.claims as unknown[]).length).toBe(2);
    // A field that the older page does not have, under a name that it knows for another one.
    await newer("POST", "/v1/models/slide/a/claim", { field: "title", clientId: "new" });
    expect(fieldsOf((await older("GET", "/v1/claims?model=slide&id=a")).body.claims)).toEqual(["title", "order"]);
    expect(fieldsOf((await older("GET", "/v1/claims/mine")).body.data ?? [])).not.toContain("heading");
  });

  test("is told of conflicts under its own names, if its write is held or refused", async () => {
    const { older, newer } = await renamed();
    const readAt = Number((await older("GET", "/v1/models/slide/a")).body.syncId);
    await newer("PATCH", "/v1/models/slide/a", { data: { heading: "Theirs" } });
    const held = await older(
      "PATCH",
      "/v1/models/slide/a",
      { data: { title: "Mine" }, readAt, onStale: "notify" },
      "k",
    );
    const notification = { conflictingFields: ["title"], currentValues: { title: "Theirs" } };
    expect(held.body.notifications).toMatchObject([notification]);
    const again = await older(
      "PATCH",
      "/v1/models/slide/a",
      { data: { title: "Mine" }, readAt, onStale: "notify" },
      "k",
    );
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.body.notifications).toMatchObject([notification]);
    expect((await older("GET", "/v1/commits/k")).body.notifications).toMatchObject([notification]);
    const operations = [
      { action: "update", model: "slide", id: "a", data: { title: "Mine" }, readAt, onStale: "notify" },
    ];
    const bulk = await older("POST", "/v1/commits/bulk", { commits: [{ clientTxId: "b", operations }] });
    expect(bulk.body.data).toMatchObject([{ notifications: [notification] }]);
  });

  test("bases its writes on fields by its own names", async () => {
    const { older, newer } = await renamed();
    const readAt = Number((await older("GET", "/v1/models/slide/a")).body.syncId);
    await newer("PATCH", "/v1/models/slide/a", { data: { heading: "Theirs" } });
    const commit = (fields: string[]) =>
      older("POST", "/v1/commits", {
        operations: [{ action: "update", model: "slide", id: "a", data: { note: "m" } }],
        reads: [{ model: "slide", id: "a", readAt, fields }],
      });
    expect((await commit(["title"])).body).toMatchObject({ code: "stale_context" });
    expect((await commit(["order"])).status).toBe(200);
  });

  test.each<[string, (ask: ReturnType<Awaited<ReturnType<typeof tenant>>["page"]>) => ReturnType<typeof call>, object]>(
    [
      [
        "a value of the wrong type",
        (ask) => ask("PATCH", "/v1/models/slide/a", { data: { title: 7 } }),
        { code: "invalid_type", param: "data.title", message: expect.stringContaining('"title"') },
      ],
      [
        "a value of the wrong type in a batch",
        (ask) =>
          ask("POST", "/v1/commits", {
            operations: [{ action: "update", model: "slide", id: "a", data: { order: "x" } }],
          }),
        {
          code: "invalid_type",
          param: "operations[0].data.order",
          receipt: { error: { field: "operations[0].data.order" } },
        },
      ],
      [
        "a change that its type does not have",
        (ask) => ask("PATCH", "/v1/models/slide/a", { changes: { title: { increment: 1 } } }),
        { code: "invalid_type", param: "changes.title" },
      ],
      [
        "a field that it cannot know",
        (ask) => ask("PATCH", "/v1/models/slide/a", { data: { heading: "x" } }),
        { code: "unknown_field", param: "data.heading" },
      ],
      [
        "a field that there never was",
        (ask) => ask("PATCH", "/v1/models/slide/a", { data: { never: "x" } }),
        { code: "unknown_field", param: "data.never" },
      ],
      [
        "a filter of the wrong type",
        (ask) => ask("GET", "/v1/models/slide?filter[order][gte]=x"),
        { code: "invalid_type", param: "filter[order][gte]", message: expect.stringContaining("filter[order][gte]") },
      ],
      [
        "a filter by a field that it cannot know",
        (ask) => ask("GET", "/v1/models/slide?heading=x"),
        { code: "unknown_column", param: "heading" },
      ],
      [
        "an order by a field that it cannot know",
        (ask) => ask("GET", "/v1/models/slide?order_by=place"),
        { code: "unknown_column", param: "order_by" },
      ],
      [
        "a condition of a query",
        (ask) => ask("POST", "/v1/models/slide/query", { where: { or: [{ order: { gte: "x" } }] } }),
        {
          ...{ code: "invalid_value", param: "where.or[0].order.gte" },
          message: expect.stringContaining("where.or[0].order.gte"),
        },
      ],
      [
        "a condition on a field that it cannot know",
        (ask) => ask("POST", "/v1/models/slide/query", { where: { heading: "x" } }),
        { code: "unknown_field", param: "where.heading" },
      ],
      [
        "a sort key that it cannot know",
        (ask) => ask("POST", "/v1/models/slide/query", { orderBy: ["title", "place"] }),
        { code: "unknown_field", param: "orderBy[1]" },
      ],
      [
        "a claim on a field that it cannot know",
        (ask) => ask("POST", "/v1/claims", { target: { model: "slide", id: "a", field: "place" } }),
        { code: "unknown_column", param: "target.field" },
      ],
    ],
  )("is told under its own names what is wrong with %s", async (_, ask, expected) => {
    const { older } = await renamed();
    expect((await ask(older)).body).toMatchObject(expected);
  });

  test("is told which fields have to be unique under its own names", async () => {
    const unique: Model["fields"] = { code: { ...text, unique: ["code", "area"] }, area: text };
    const { push, page } = await tenant({ Slide: { fields: unique } });
    const next: Model["fields"] = { key: { ...text, unique: ["key", "area"] }, area: text };
    await push({ Slide: { fields: next } }, { renames: [{ model: "slide", from: "code", to: "key" }] });
    const older = page("1");
    await older("POST", "/v1/models/slide", { id: "a", data: { code: "x", area: "y" } });
    const twice = await older("POST", "/v1/models/slide", { id: "b", data: { code: "x", area: "y" } });
    expect(twice.body).toMatchObject({ code: "not_unique", param: "data.code", fields: ["area", "code"] });
    expect(twice.body.message).toContain('"code"');
  });
});

test("[M30] [M53] rows under other names have another rowsVersion, so that a newer version of an app reads them again", async () => {
  const { older, newer, page } = await renamed();
  const versions = async (ask: Ask) => [
    (await ask("GET", "/v1/log")).body.rowsVersion,
    JSON.parse((await ask("GET", "/v1/snapshot")).text.split("\n")[0] as string).rowsVersion,
  ];
  const [own, current] = [await versions(older), await versions(newer)];
  expect(new Set(own).size).toBe(1);
  expect(current).toEqual([2, 2]);
  expect(own[0]).not.toBe(2);
  expect(await versions(page("1"))).toEqual(own);
});

test("[M31] [M54] a client can say the version, or nothing", async () => {
  const { page } = await renamed();
  expect((await page("1")("GET", "/v1/models/slide/a")).body.data).toHaveProperty("title");
  for (const said of ["2", "3", "99", undefined, schemaFingerprint(LATEST), "0000000"])
    expect((await page(said)("GET", "/v1/models/slide/a")).body.data).toHaveProperty("heading");
});

test.each(["x", "0", "-1", "1.5", "0abc123;0abc123", "0abc123,", "é", "9".repeat(400)])(
  "[M31] what is no schema is refused: %s",
  async (said) => {
    const { page } = await renamed();
    const ask = page(Buffer.from(said).toString("latin1"));
    expect((await ask("GET", "/v1/models/slide/a")).body).toMatchObject({
      ...{ code: "invalid_value", param: "Holdfast-Schema" },
    });
  },
);

test("[M33] a write that is sent again after the push is the same write, with each kind of key", async () => {
  const { push, page } = await tenant();
  const older = page(schemaFingerprint(OLDER));
  const send = () => older("POST", "/v1/models/slide", { id: "a", data: { title: "One" } }, "single");
  const operations = [{ action: "create", model: "slide", id: "b", data: { title: "B" }, idempotencyKey: "own" }];
  const batch = () => older("POST", "/v1/commits", { operations, clientTxId: "batch", idempotencyKey: "batch" });
  const bulk = () =>
    older("POST", "/v1/commits/bulk", {
      commits: [
        { clientTxId: "bulk", operations: [{ action: "create", model: "slide", id: "c", data: { title: "C" } }] },
      ],
    });
  const other = () => older("POST", "/v1/commits", { operations, idempotencyKey: "other" });
  const before = [await send(), await batch(), await bulk()];
  await push(NEWER, { renames: RENAMES });
  const after = [await send(), await batch(), await bulk()];
  expect(after.map(({ text: body }) => body)).toEqual(before.map(({ text: body }) => body));
  expect(after[0]?.headers["idempotent-replayed"]).toBe("true");
  // The operation's own key is known too, so that it is not done again.
  expect((await other()).status).toBe(200);
});

describe("[M34] a schema is spoken for 30 days after the push that changed a name", () => {
  test.each([
    ["reads", "GET", "/v1/models/slide/a", undefined],
    ["lists", "GET", "/v1/models/slide", undefined],
    ["the log", "GET", "/v1/log", undefined],
    ["snapshots", "GET", "/v1/snapshot", undefined],
    ["writes", "PATCH", "/v1/models/slide/a", { data: { note: "x" } }],
    ["commits", "POST", "/v1/commits", { operations: [{ action: "delete", model: "slide", id: "a" }] }],
    ["claims", "POST", "/v1/models/slide/a/claim", { field: "title" }],
  ])("%s", async (_, method, path, json) => {
    const { older, newer, page, age } = await renamed();
    await age(31);
    const late = await older(method, path, json);
    expect(late.status).toBe(400);
    expect(late.body).toMatchObject({ code: "schema_too_old", message: expect.stringContaining("Reload the page") });
    expect((await page("1")(method, path, json)).body).toMatchObject({ code: "schema_too_old" });
    expect((await newer("GET", "/v1/models/slide/a")).body.data).toMatchObject({ note: "n" });
  });

  test("and until then", async () => {
    const { older, age } = await renamed();
    await age(29);
    expect((await older("GET", "/v1/models/slide/a")).body.data).toMatchObject({ title: "One" });
  });

  test("a client whose names are the same is served for ever", async () => {
    const { push, page, age } = await tenant();
    await push({ ...OLDER, Deck: { fields: { name: text } } });
    await push(
      { ...OLDER, Deck: { fields: { label: text } } },
      { renames: [{ model: "deck", from: "name", to: "label" }] },
    );
    await age(100);
    const ask = page(schemaFingerprint(OLDER));
    expect((await ask("POST", "/v1/models/slide", { id: "a", data: { title: "One" } })).status).toBe(200);
  });
});

describe("[M35] a push through another server", () => {
  test.each([
    ["alone", (ask: Ask) => ask("PATCH", "/v1/models/slide/a", { data: { title: "Two" } })],
    ["in a batch", (ask: Ask) => ask("POST", "/v1/commits", { operations: [UPDATE] })],
    [
      "in a bulk",
      (ask: Ask) => ask("POST", "/v1/commits/bulk", { commits: [{ clientTxId: "one", operations: [UPDATE] }] }),
    ],
    [
      "in a bulk, behind a commit that it depends on",
      (ask: Ask) =>
        ask("POST", "/v1/commits/bulk", {
          commits: [
            { clientTxId: "one", operations: [{ ...UPDATE, data: { title: "One and a half" } }] },
            { clientTxId: "two", operations: [UPDATE] },
          ],
        }),
    ],
  ])("is known to the next write %s: it lands in the field that its client means", async (_, write) => {
    const { push, page } = await tenant();
    const older = page(schemaFingerprint(OLDER));
    await older("POST", "/v1/models/slide", { id: "a", data: { title: "One" } });
    await push(NEWER, { renames: RENAMES }, second.call);
    // By now the name is that of another field, so that a write that is not translated would be taken.
    await push(LATEST, {}, second.call);
    const answer = await write(older);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain("rejected");
    expect((await page(undefined)("GET", "/v1/models/slide/a")).body.data).toEqual({
      ...{ id: "a", heading: "Two", place: 0 },
    });
  });

  test.each([
    ["reads", (ask: Ask) => ask("GET", "/v1/models/slide/a")],
    ["lists", (ask: Ask) => ask("GET", "/v1/models/slide?title=One")],
    ["the log", (ask: Ask) => ask("GET", "/v1/log")],
    ["snapshots", (ask: Ask) => ask("GET", "/v1/snapshot")],
    ["histories", (ask: Ask) => ask("GET", "/v1/models/slide/a/history")],
    ["claims", (ask: Ask) => ask("POST", "/v1/models/slide/a/claim", { field: "title" })],
  ])("is known to the next request: %s", async (_, ask) => {
    const { push, page } = await tenant();
    const older = page(schemaFingerprint(OLDER));
    await older("POST", "/v1/models/slide", { id: "a", data: { title: "One" } });
    await ask(older);
    await push(NEWER, { renames: RENAMES }, second.call);
    const answer = await ask(older);
    expect(answer.status).toBeLessThan(300);
    expect(answer.text).toContain('"title"');
    expect(answer.text).not.toContain('"heading"');
  });
});

const UPDATE = { action: "update", model: "slide", id: "a", data: { title: "Two" } };

type Ask = (method: string, path: string, json?: unknown) => ReturnType<typeof call>;

test("[M30] after two fields have exchanged their names, a refused filter is named as the page calls it", async () => {
  const first: Record<string, Model> = { S: { fields: { a: number, b: text } } };
  const { push, page } = await tenant(first);
  await push({ S: { fields: { c: number, b: text } } }, { renames: [{ model: "s", from: "a", to: "c" }] });
  await push({ S: { fields: { c: number, a: text } } }, { renames: [{ model: "s", from: "b", to: "a" }] });
  await push({ S: { fields: { b: number, a: text } } }, { renames: [{ model: "s", from: "c", to: "b" }] });
  const { status, body } = await page("1")("GET", "/v1/models/s?a=zz");
  expect([status, body.param]).toEqual([400, "a"]);
  expect(body.message).toContain('"a" must be');
});
