import { expect, test } from "vitest";
import type { SyncError } from "../../errors.ts";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/test-server.ts";
import { compileConditions } from "./conditions.ts";

const schema = defineSchema({
  models: {
    project: { fields: { name: { type: "string" } } },
    task: {
      fields: {
        title: { type: "string", required: true, index: "text" },
        status: { type: "enum", values: ["todo", "done"] },
        effort: { type: "integer" },
        rank: { type: "number" },
        isUrgent: { type: "boolean" },
        due: { type: "datetime" },
        labels: { type: "array" },
        codes: { type: "array", items: "integer" },
        meta: { type: "json" },
        projectId: { type: "string", references: "project", inverse: "tasks" },
      },
    },
  },
});

/** What the types of the package would refuse. */
interface Untyped {
  list(query?: unknown): readonly { readonly id: string }[];
  count(query?: unknown): number;
  exists(query?: unknown): boolean;
  countBy(field: unknown, query?: unknown): ReadonlyMap<unknown, number>;
  subscribe(query: unknown, listener: () => void): () => void;
}

async function open() {
  const { client: make, settle } = createTestServer(schema);
  const { client } = make();
  await client.ready();
  client.models.project.create({ name: "Website" }, { id: "p1" });
  client.models.task.create(
    {
      ...{ title: "Report", status: "todo", effort: 2, rank: 1.5, isUrgent: true, due: "2030-01-01T00:00:00Z" },
      ...{ labels: ["text"], codes: [7], meta: { a: 1 }, projectId: "p1" },
    },
    { id: "t1" },
  );
  client.models.task.create({ title: "Empty" }, { id: "t2" });
  const { task, project } = client.models as unknown as Readonly<Record<"task" | "project", Untyped>>;
  return { client, settle, task, project };
}

function errorOf(run: () => unknown): SyncError | undefined {
  try {
    run();
  } catch (error) {
    return error as SyncError;
  }
  return undefined;
}

const NEVER: readonly (readonly [where: object, param: string])[] = [
  [{ title: 1 }, "where.title"],
  [{ title: true }, "where.title"],
  [{ title: ["Report"] }, "where.title"],
  [{ title: new Date(0) }, "where.title"],
  [{ title: undefined }, "where.title"],
  [{ id: 1 }, "where.id"],
  [{ id: { in: ["t1", 2] } }, "where.id.in[1]"],
  [{ id: { eq: "t1" } }, "where.id"],
  [{ effort: "2" }, "where.effort"],
  [{ effort: 1.5 }, "where.effort"],
  [{ effort: 2 ** 53 }, "where.effort"],
  [{ effort: 2n }, "where.effort"],
  [{ effort: () => 2 }, "where.effort"],
  [{ effort: Symbol("2") }, "where.effort"],
  [{ effort: { not: "1" } }, "where.effort.not"],
  [{ effort: { notIn: [1, "2"] } }, "where.effort.notIn[1]"],
  [{ effort: { in: [undefined] } }, "where.effort.in[0]"],
  [{ effort: { in: new Set([2]) } }, "where.effort.in"],
  [{ effort: { gt: null } }, "where.effort.gt"],
  [{ effort: { gt: "1" } }, "where.effort.gt"],
  [{ effort: { gt: Number.NaN } }, "where.effort.gt"],
  [{ effort: { contains: "2" } }, "where.effort"],
  [{ effort: { startsWith: "2" } }, "where.effort"],
  [{ effort: { search: "2" } }, "where.effort"],
  [{ rank: Number.NaN }, "where.rank"],
  [{ rank: Number.POSITIVE_INFINITY }, "where.rank"],
  [{ rank: { in: [Number.NaN] } }, "where.rank.in[0]"],
  [{ isUrgent: "true" }, "where.isUrgent"],
  [{ isUrgent: 1 }, "where.isUrgent"],
  [{ isUrgent: { startsWith: "t" } }, "where.isUrgent"],
  [{ due: "yesterday" }, "where.due"],
  [{ due: 0 }, "where.due"],
  [{ due: "2030-01-01" }, "where.due"],
  [{ due: new Date("soon") }, "where.due"],
  [{ due: { lt: new Date("soon") } }, "where.due.lt"],
  [{ due: { lt: "tomorrow" } }, "where.due.lt"],
  [{ due: { in: [new Date("soon")] } }, "where.due.in[0]"],
  [{ due: { startsWith: "2030" } }, "where.due"],
  [{ status: "doing" }, "where.status"],
  [{ status: { in: ["todo", "doing"] } }, "where.status.in[1]"],
  [{ status: { not: "doing" } }, "where.status.not"],
  [{ status: { contains: 1 } }, "where.status.contains"],
  [{ labels: "text" }, "where.labels"],
  [{ labels: { gt: ["a"] } }, "where.labels"],
  [{ labels: { startsWith: "t" } }, "where.labels"],
  [{ labels: { search: "t" } }, "where.labels"],
  [{ labels: { contains: undefined } }, "where.labels.contains"],
  [{ codes: { contains: "7" } }, "where.codes.contains"],
  [{ codes: { contains: 1.5 } }, "where.codes.contains"],
  [{ meta: undefined }, "where.meta"],
  [{ meta: Number.NaN }, "where.meta"],
  [{ meta: { a: undefined } }, "where.meta.a"],
  [{ meta: { in: [undefined] } }, "where.meta.in[0]"],
  [{ meta: { gt: null } }, "where.meta.gt"],
  [{ meta: { search: 1 } }, "where.meta.search"],
  [{ $createdAt: "yesterday" }, "where.$createdAt"],
  [{ $createdBy: 1 }, "where.$createdBy"],
  [{ $syncId: { gt: "1" } }, "where.$syncId.gt"],
  [{ constructor: "Report" }, "where.constructor"],
  [{ toString: null }, "where.toString"],
  [{ or: [{ title: "Report" }, { effort: "2" }] }, "where.or[1].effort"],
  [{ and: [{ or: [{ due: "soon" }] }] }, "where.and[0].or[0].due"],
  [{ or: [undefined] }, "where.or[0]"],
];

test("[R18] [R70] [R92] [R91] a condition that no record can meet throws at the call, whatever is asked", async () => {
  const { task, project } = await open();
  for (const [where, param] of NEVER) {
    const calls: Record<string, () => unknown> = {
      list: () => task.list({ where }),
      count: () => task.count({ where }),
      exists: () => task.exists({ where }),
      countBy: () => task.countBy("status", { where }),
      subscribe: () => task.subscribe({ where }, () => {}),
    };
    for (const [name, run] of Object.entries(calls)) {
      const error = errorOf(run);
      expect(error, `${name} ${param}`).toMatchObject({ name: "SyncError", param });
      expect(error?.code, `${name} ${param}`).toMatch(/^(invalid_value|unknown_field)$/);
    }
    const included = errorOf(() => project.list({ include: { tasks: { where } } }));
    expect(included, `include ${param}`).toMatchObject({ name: "SyncError", param: `include.tasks.${param}` });
  }
});

test("[R70] the error says what would be right", async () => {
  const { task } = await open();
  const messageOf = (query: unknown) => errorOf(() => task.list(query))?.message;
  expect(messageOf({ where: { effort: "2" } })).toBe('where.effort must be of type integer, or null (got "2").');
  expect(messageOf({ where: { effort: { gt: null } } })).toBe("where.effort.gt must be of type integer (got null).");
  expect(messageOf({ where: { status: { in: ["doing"] } } })).toBe(
    'where.status.in[0] must be one of todo, done, or null (got "doing").',
  );
  expect(messageOf({ where: { due: new Date("soon") } })).toBe(
    "where.due must be an RFC 3339 date-time, or null (got Invalid Date).",
  );
  expect(messageOf({ where: { rank: Number.NaN } })).toBe("where.rank must be of type number, or null (got NaN).");
  expect(messageOf({ where: { labels: { gt: 1 } } })).toBe(
    'where.labels must be a value, or have operators: contains, not, in, notIn (got {"gt":1}).',
  );
  expect(messageOf({ where: { effort: "2".repeat(1_000) } })?.length).toBeLessThan(300);
  expect(messageOf({ orderBy: [{ title: "asc" }] })).toBe('orderBy[0] has no "title". Known: field, order, by.');
  expect(messageOf({ limit: "5" })).toBe('limit must be a whole number from 0 (got "5").');
  expect(messageOf({ wehre: {} })).toBe(
    'query has no "wehre". Known: where, search, archived, orderBy, order, locale, limit, from, before, include, staleOk.',
  );
});

const WRONG: readonly (readonly [query: unknown, param: string])[] = [
  ["skip", "query"],
  [[], "query"],
  [5, "query"],
  [{ where: [] }, "where"],
  [{ where: null }, "where"],
  [{ where: new Date(0) }, "where"],
  [{ search: null }, "search"],
  [{ search: ["a"] }, "search"],
  [{ limit: Number.NaN }, "limit"],
  [{ limit: -1 }, "limit"],
  [{ limit: 1.5 }, "limit"],
  [{ limit: "5" }, "limit"],
  [{ limit: null }, "limit"],
  [{ orderBy: "labels" }, "orderBy"],
  [{ orderBy: ["title", "codes"] }, "orderBy[1]"],
  [{ orderBy: null }, "orderBy"],
  [{ orderBy: { field: "title" } }, "orderBy"],
  [{ orderBy: [null] }, "orderBy[0]"],
  [{ orderBy: [{ field: "title", order: "down" }] }, "orderBy[0].order"],
  [{ orderBy: [{ field: "title", by: "values" }] }, "orderBy[0].by"],
  [{ orderBy: [{ field: "status", by: "value" }] }, "orderBy[0].by"],
  [{ order: null }, "order"],
  [{ locale: "not a language" }, "locale"],
  [{ archived: "yes" }, "archived"],
  [{ archived: null }, "archived"],
  [{ staleOk: "no" }, "staleOk"],
  [{ from: null }, "from"],
  [{ from: "t1" }, "from"],
  [{ from: { effort: 2 } }, "from"],
  [{ from: { id: "t1" }, before: { id: "t2" } }, "from"],
  [{ orderBy: "due", from: { due: new Date(0), id: "t1" } }, "from.due"],
  [{ include: null }, "include"],
  [{ include: { projekt: true } }, "include.projekt"],
  [{ include: { project: false } }, "include.project"],
  [{ include: { project: { limit: Number.NaN } } }, "include.project.limit"],
  [{ include: { project: { staleOk: false } } }, "include.project.staleOk"],
];

const UNKNOWN: typeof WRONG = [
  [{ wehre: { title: "a" } }, "wehre"],
  [{ orderby: "title" }, "orderby"],
  [{ constructor: 1 }, "constructor"],
  [{ orderBy: "titel" }, "orderBy"],
  [{ orderBy: "constructor" }, "orderBy"],
  [{ orderBy: [{ feld: "title" }] }, "orderBy[0].feld"],
  [{ orderBy: [{ field: "title", oder: "desc" }] }, "orderBy[0].oder"],
  [{ orderBy: [{ order: "desc" }] }, "orderBy[0]"],
  [{ orderBy: "effort", from: { efort: 2, id: "t1" } }, "from.efort"],
  [{ orderBy: "effort", before: { efort: 2, id: "t1" } }, "before.efort"],
  [{ include: { project: { wehre: {} } } }, "include.project.wehre"],
  [{ include: { project: { orderBy: [{ feld: "name" }] } } }, "include.project.orderBy[0].feld"],
  [{ include: { project: { include: { tasks: { orderby: "title" } } } } }, "include.project.include.tasks.orderby"],
];

test.each([
  ...WRONG.map((wrong) => [...wrong, "invalid_value"] as const),
  ...UNKNOWN.map((wrong) => [...wrong, "unknown_field"] as const),
])("[R18] [R33] the query %j throws at %s, as %s", async (query, param, code) => {
  const { task } = await open();
  expect(errorOf(() => task.list(query))).toMatchObject({ name: "SyncError", param, code });
});

test("[R18] [R79] a query that only counts refuses what does not count", async () => {
  const { task } = await open();
  for (const key of ["orderBy", "order", "locale", "limit", "from", "before", "include", "staleOk", "wehre"]) {
    const query = { [key]: "title" };
    expect(
      errorOf(() => task.count(query)),
      key,
    ).toMatchObject({ param: key });
    expect(
      errorOf(() => task.exists(query)),
      key,
    ).toMatchObject({ param: key });
    expect(
      errorOf(() => task.countBy("status", query)),
      key,
    ).toMatchObject({ param: key });
  }
  expect(errorOf(() => task.count(null))).toMatchObject({ param: "query" });
  expect(errorOf(() => task.subscribe(undefined, () => {}))).toMatchObject({ param: "query" });
  expect(errorOf(() => task.countBy("statos"))).toMatchObject({ param: "field" });
  expect(errorOf(() => task.countBy("meta"))).toMatchObject({ param: "field" });
});

class Filter {
  readonly effort = 2;
}

class Inherited {
  get where() {
    return { effort: 2 };
  }
}

test.each<[string, unknown, string]>([
  ["an instance", { where: new Filter() }, "where"],
  ["an instance with toJSON", { where: Object.assign(new Filter(), { toJSON: () => ({ effort: 2 }) }) }, "where"],
  ["a map", { where: new Map([["effort", 2]]) }, "where"],
  ["an instance within or", { where: { or: [new Filter()] } }, "where.or[0]"],
  ["an instance as a query", new Inherited(), "query"],
  ["a query with inherited keys", Object.create({ where: { effort: 2 } }), "query"],
  ["a condition with inherited operators", { where: { effort: Object.create({ in: [2] }) } }, "where.effort"],
  ["null", null, "query"],
])("[R18] [R77] %s is no query, whatever was asked before", async (_, query, param) => {
  const { task } = await open();
  for (const right of [{}, { where: { effort: 2 } }, { where: {} }, { where: { or: [{ effort: 2 }] } }]) {
    expect(task.list(right)).not.toHaveLength(0);
    task.count(right);
  }
  for (const ask of [() => task.list(query), () => task.count(query), () => task.countBy("effort", query)])
    expect(errorOf(ask)).toMatchObject({ code: "invalid_value", param });
  expect(task.list({})).toHaveLength(2);
});

test.each([
  ["undefined", undefined],
  ["a function", String],
  ["a symbol", Symbol("open")],
])("[R18] %s as a value throws, also after a text that is written like it", async (_, value) => {
  const { task } = await open();
  for (const text of [`\0${typeof value}${String(value)}`, `\0string\0${typeof value}${String(value)}`])
    expect(task.list({ where: { title: text } })).toEqual([]);
  expect(errorOf(() => task.list({ where: { title: value } }))).toMatchObject({ param: "where.title" });
});

/** The object, with itself in it. */
function within(it: Record<string, unknown>, key: string, asIts: (it: object) => unknown): object {
  it[key] = asIts(it);
  return it;
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

test.each<[string, object]>([
  ["conditions within themselves", { where: within({}, "and", (it) => [it]) }],
  ["a value within itself", { where: { meta: within({}, "a", (it) => it) } }],
  ["relations within themselves", { include: within({}, "project", (it) => ({ include: it })) }],
  ["a place within itself", { from: within({ id: "t1" }, "a", (it) => it) }],
  [
    "a value that is nested too deep, after one that is undefined",
    { where: { title: undefined, meta: nested(5_000) } },
  ],
])("[R18] [R78] %s throw what is wrong", async (_, query) => {
  const { client, task } = await open();
  const asks = [
    () => task.list(query),
    () => task.subscribe(query, () => {}),
    ...("include" in query || "from" in query ? [] : [() => task.count(query), () => task.countBy("effort", query)]),
    () => (client.models.task as unknown as { status(query: object): unknown }).status(query),
  ];
  for (const ask of asks)
    expect(errorOf(ask)).toMatchObject({ code: "invalid_value", message: "query is nested deeper than 64 levels." });
});

test("[R18] [R78] conditions have room for 64 levels", async () => {
  const { task } = await open();
  const and = (times: number): object => (times === 0 ? { title: "Report" } : { and: [and(times - 1)] });
  expect(task.list({ where: and(31) }).map(({ id }) => id)).toEqual(["t1"]);
  expect(errorOf(() => task.list({ where: and(32) }))).toMatchObject({ param: "query" });
});

test("[R18] a query may have no prototype, or be a proxy of a plain object", async () => {
  const { task } = await open();
  const bare = Object.assign(Object.create(null), { where: Object.assign(Object.create(null), { effort: 2 }) });
  expect(task.list(bare).map(({ id }) => id)).toEqual(["t1"]);
  const proxied = new Proxy({ where: new Proxy({ effort: { in: new Proxy([2], {}) } }, {}) }, {});
  expect(task.list(proxied).map(({ id }) => id)).toEqual(["t1"]);
});

test("[R18] what is counted by is a field, whatever was counted before", async () => {
  const { task } = await open();
  expect(task.count()).toBe(2);
  for (const field of [undefined, null, "", "nope", Symbol("effort"), "__proto__"])
    expect(errorOf(() => task.countBy(field))).toMatchObject({ code: "unknown_field", param: "field" });
});

test("[R76] an object that was passed in a query may change afterwards: the list is that of the query", async () => {
  const { task, client, settle } = await open();
  const where = { effort: 2 };
  const meta = { a: 1 };
  const labels = ["text"];
  const from = { id: "t2" };
  const ids = (query: object) => task.list(query).map(({ id }) => id);
  const right = [{ where: { effort: 2 } }, { where: { meta: { a: 1 } } }, { where: { labels: ["text"] } }];
  // The second list of a field finds its records by an index.
  for (const query of [{ where: { effort: 5 } }, { where }, { where: { meta } }, { where: { labels } }, { from }])
    ids(query);
  where.effort = 3;
  meta.a = 2;
  labels.push("more");
  from.id = "t1";
  client.models.task.update("t1", { rank: 2 });
  client.models.task.update("t2", { rank: 3 });
  for (let i = 0; i < 4; i++) await settle();
  // All rows are read again.
  client.follow({ models: ["task"] });
  for (let i = 0; i < 4; i++) await settle();
  for (const query of right) expect(ids(query), JSON.stringify(query)).toEqual(["t1"]);
  expect(ids({ from: { id: "t2" } })).toEqual(["t2"]);
});

test("[R76] a query that the app changes is another one, however often it was asked before", async () => {
  const { task } = await open();
  const query: { where: Record<string, unknown>; limit?: number } = { where: { effort: { in: [2] } } };
  const ids = () => task.list(query).map(({ id }) => id);
  const thrice = (found: readonly string[]) => {
    for (let i = 0; i < 3; i++) {
      expect(ids()).toEqual(found);
      expect(task.count({ where: query.where })).toBe(found.length);
    }
  };
  thrice(["t1"]);
  (query.where.effort as { in: unknown[] }).in.push(null);
  thrice(["t1", "t2"]);
  query.where = {};
  thrice(["t1", "t2"]);
  query.where.effort = 3;
  thrice([]);
  for (const wrong of [undefined, Number.NaN, () => 3, new Date(0)]) {
    query.where.effort = wrong;
    for (let i = 0; i < 3; i++) expect(errorOf(ids)).toMatchObject({ param: "where.effort" });
  }
  query.where.effort = { gte: new Date(0) };
  expect(errorOf(ids)).toMatchObject({ name: "SyncError" });
  query.where = { due: { gte: new Date("2030-01-01T00:00:00Z") } };
  thrice(["t1"]);
  (query.where.due as { gte: Date }).gte.setFullYear(2031);
  thrice([]);
});

test("[R70] a wrong condition throws also after the right one that it resembles was asked", async () => {
  const { task } = await open();
  const pairs: readonly (readonly [right: object, wrong: object])[] = [
    [{}, { effort: undefined }],
    [{}, { effort: () => 2 }],
    [{ due: null }, { due: new Date("soon") }],
    [{ title: "1970-01-01T00:00:00.000Z" }, { title: new Date(0) }],
    [{ rank: null }, { rank: Number.NaN }],
    [{ effort: { in: [null] } }, { effort: { in: [undefined] } }],
    [{ effort: { in: [null] } }, { effort: { in: Array(1) } }],
    [{ effort: 2 }, { effort: 2n }],
  ];
  for (const [right, wrong] of pairs) {
    for (const where of [right, right]) expect(errorOf(() => task.list({ where }))).toBeUndefined();
    expect(errorOf(() => task.list({ where: wrong }))).toMatchObject({ name: "SyncError" });
  }
});

test.each<[object, string]>([
  [{ status: null }, "t2"],
  [{ title: { not: null } }, "t1 t2"],
  [{ title: null }, ""],
  [{ status: { in: ["todo", null] } }, "t1 t2"],
  [{ status: { in: [] } }, ""],
  [{ status: { gte: "todo" } }, "t1"],
  [{ status: { startsWith: "to" } }, "t1"],
  [{ status: { contains: "od" } }, "t1"],
  [{ id: "t1" }, "t1"],
  [{ id: { startsWith: "t", not: "t1" } }, "t2"],
  [{ effort: { gt: 1.5, lt: 2.5 } }, "t1"],
  [{ effort: { gte: Number.NEGATIVE_INFINITY } }, "t1"],
  [{ isUrgent: { gt: false } }, "t1"],
  [{ due: new Date("2030-01-01T00:00:00Z") }, "t1"],
  [{ due: { in: [new Date("2030-01-01T00:00:00Z")] } }, "t1"],
  [{ due: { gte: new Date("2030-01-01T00:00:00Z") } }, "t1"],
  [{ labels: ["text"] }, "t1"],
  [{ labels: { contains: "text" } }, "t1"],
  [{ labels: { contains: 3 } }, ""],
  [{ codes: { contains: 7 } }, "t1"],
  [{ meta: { a: 1 } }, "t1"],
  [{ meta: { not: { a: 1 } } }, "t2"],
  [{ meta: 3 }, ""],
  [{ meta: null }, "t2"],
  [{ meta: { contains: 3 } }, ""],
  [{ $createdBy: { not: null } }, "t1 t2"],
])("[R70] [R92] [R91] %j is a condition", async (where, ids) => {
  const { task } = await open();
  const found = task.list({ where });
  expect(found.map(({ id }) => id).join(" ")).toBe(ids);
  expect(task.count({ where })).toBe(found.length);
});

test.each<[object, string]>([
  [{ limit: 0 }, ""],
  [{ limit: Number.POSITIVE_INFINITY }, "t1 t2"],
  [{ limit: undefined, where: undefined, orderBy: undefined, from: undefined, include: undefined }, "t1 t2"],
  [{ orderBy: "meta" }, "t1 t2"],
  [{ orderBy: "effort", from: { effort: 2, id: "t1" } }, "t1 t2"],
  [{ orderBy: "effort", from: { id: "t2" } }, "t2"],
  // A row, with what it includes and a field that another version of the app knows.
  [{ orderBy: "effort", from: { id: "t1", effort: 2, colour: "red", project: null } }, "t1 t2"],
  [{ orderBy: "effort", from: { id: "t2", project: null }, include: { project: true } }, "t2"],
])("[R18] %j is a query", async (query, ids) => {
  const { task } = await open();
  expect(
    task
      .list(query)
      .map(({ id }) => id)
      .join(" "),
  ).toBe(ids);
});

test("[R70] a record whose value the enum has no longer is found by what it is not", () => {
  const model = schema.models.task;
  expect(compileConditions("task", model, { status: { not: "todo" } })({ status: "blocked" })).toBe(true);
  expect(compileConditions("task", model, { status: "todo" })({ status: "blocked" })).toBe(false);
});

test("[R70] [R92] of a model whose schema is not known, any JSON can be asked", () => {
  const matches = (where: object) => compileConditions("task", undefined, where);
  expect(matches({ effort: "2" })({ effort: 2 })).toBe(false);
  expect(matches({ effort: { gt: 1 } })({ effort: 2 })).toBe(true);
  expect(matches({ due: new Date(0) })({ due: "1970-01-01T00:00:00.000Z" })).toBe(true);
  expect(() => matches({ effort: Number.NaN })).toThrow(expect.objectContaining({ param: "where.effort" }));
});
