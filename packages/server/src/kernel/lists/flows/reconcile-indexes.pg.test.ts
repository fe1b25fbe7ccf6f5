import type { Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { startApp } from "../../../testing/app.ts";
import { readPlan } from "../../../testing/read-plan.ts";
import { session } from "../../connection/pool.ts";
import { readSnapshotPage } from "../../log/db/snapshot.ts";
import { followedRecords } from "../../log/rules/followed-records.ts";
import { hostedRelation } from "../db/hosted-relation.ts";
import { type ListQuestion, listQuery } from "../db/list-records.ts";
import { indexName } from "../db/record-indexes.ts";
import type { ListOrder, SortKey } from "../rules/list-order.ts";
import { type ListQuery, readListQuery } from "../rules/list-query.ts";
import { reconcileIndexes } from "./reconcile-indexes.ts";

const app = await startApp();
const { call } = app;
const tenant = app.tenants.live;
const never = new AbortController().signal;
const reconcile = () => reconcileIndexes(app.databaseUrl, never);

type Fields = Record<string, { type: string; index?: boolean | "text"; nullable?: boolean }>;
const push = async (models: Record<string, Fields>, token = app.keys.live) => {
  const before = (await call("GET", "/v1/schema", { token })).body.models as object;
  const changes = Object.fromEntries(Object.entries(models).map(([name, fields]) => [name, { fields }]));
  const answer = await call("POST", "/v1/schema", { token, json: { models: { ...before, ...changes } } });
  expect(answer.status).toBe(201);
  expect(answer.body.code).toBe(undefined);
  return answer;
};
const indexes = async () =>
  app.sql<{ name: string; valid: boolean }>(
    `select 'holdfast.' || relname as name, indisvalid as valid from pg_index join pg_class c on c.oid = indexrelid
     where indrelid = 'holdfast.record'::regclass and (starts_with(relname, 'record_by_') or starts_with(relname, 'record_text_') or starts_with(relname, 'record_items_')) order by 1`,
  );
const named = (model: string, field: string, type: "string" | "number" | "datetime" | "boolean") =>
  `holdfast.${indexName({ model, field, type, kind: "order" })}`;
const slideOrder = named("slide", "order", "number");
/** Waits until these indexes are there, can be used, and are the only ones. */
const settled = (...names: string[]) =>
  until(async () => expect(await indexes()).toEqual(names.sort().map((name) => ({ name, valid: true }))));

const FIELDS: Fields = {
  n: { type: "number", index: true },
  s: { type: "string", index: true },
  at: { type: "datetime", index: true },
  b: { type: "boolean", index: true },
  list: { type: "array", index: true },
  free: { type: "string" },
  extra: { type: "json", index: true },
};
const items = (model: string, field: string) => `holdfast.${indexName({ model, field, type: "array", kind: "items" })}`;
const own = [
  slideOrder,
  named("indexed", "n", "number"),
  named("indexed", "s", "string"),
  named("indexed", "at", "datetime"),
  named("indexed", "b", "boolean"),
  items("indexed", "list"),
];

test("[G10] a push creates the indexes it declares for scalars and arrays, and warns about others", async () => {
  await settled(slideOrder);
  const { body } = await push({ indexed: FIELDS });
  expect(body.warnings).toEqual([expect.stringContaining("indexed.extra")]);
  await settled(...own);
});

test("[L7] [G10] creating an index leaves the empty table unanalyzed: otherwise the planner takes it for empty when it has grown", async () => {
  expect(await app.sql("select reltuples from pg_class where oid = 'holdfast.record'::regclass")).toEqual([
    { reltuples: -1 },
  ]);
});

const ROWS = 60_000;
const question: ListQuestion = {
  tenant,
  model: "indexed",
  relation: hostedRelation(false, tenant),
  state: "live",
  ids: undefined,
  filters: [],
  groups: undefined,
  order: { keys: [], idDescending: false },
  after: undefined,
  limit: 100,
  bytes: 4_194_304,
};
const column = (name: string, type: "string" | "number" | "datetime" | "boolean") =>
  ({ kind: "field", name, type }) as const;
const by = (sorted: ReturnType<typeof column>, descending: boolean, ...more: readonly SortKey[]): ListOrder => ({
  keys: [{ column: sorted, descending }, ...more],
  idDescending: descending,
});

test("[G10] filters and sorted pages, however deep, read a few pages of an index", async () => {
  await app.sql(
    `insert into holdfast.record select $1, 'indexed', 'i' || lpad(n::text, 6, '0'), 1,
       json_build_object('id', 'i' || lpad(n::text, 6, '0'), 'n', case when n % 3 > 0 then n % 1000 end, 's', 'text ' || n % 777, 'b', n % 2 = 0,
         'at', to_char(timestamp '2024-01-01' + make_interval(mins => n), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'free', n::text),
       '{}', null, 1, '', now(), now(), '' from generate_series(1, ${ROWS}) n`,
    [tenant],
  );
  await app.sql("vacuum analyze holdfast.record");
  const client = await app.connect(session);
  const read = async (asked: Partial<ListQuestion>) => {
    const { plan, blocks } = await readPlan(client, listQuery({ ...question, ...asked }));
    return { blocks, plan: JSON.stringify(plan) };
  };
  const [n, text, at] = [column("n", "number"), column("s", "string"), column("at", "datetime")];
  const deep = { values: ["500"], id: "i030500" };
  const without = { values: [null], id: "i030000" };
  const noon = { values: ["2024-01-20 00:00:00+00"], id: "i030500" };
  const eq = (sought: typeof n, value: string | number) => ({ column: sought, operator: "eq", value }) as const;
  const cases: readonly (readonly [what: string, asked: Partial<ListQuestion>, index: string])[] = [
    ...[false, true].flatMap((descending) => {
      const byNumber = by(n, descending);
      return [
        ["by number", { order: byNumber }, "n number"],
        ["by number, deep", { order: byNumber, after: deep }, "n number"],
        ["by number, among those without", { order: byNumber, after: without }, "n number"],
        ["by number, back from the depth", { order: byNumber, before: deep }, "n number"],
        ["by number, back from those without", { order: byNumber, before: without }, "n number"],
        ["by text, deep", { order: by(text, descending), after: { values: ["text 5"], id: "i030500" } }, "s string"],
        ["by time, deep", { order: by(at, descending), after: noon }, "at datetime"],
      ] as const;
    }),
    ["a number", { filters: [eq(n, 7)] }, "n number"],
    ["a text", { filters: [eq(text, "text 7")] }, "s string"],
    ["a number, in a later page", { filters: [eq(n, 7)], after: { values: [null], id: "i040000" } }, "n number"],
    ["a time", { filters: [eq(at, "2024-01-20T01:00:00+01:00")] }, "at datetime"],
    [
      "a range of times, sorted by them",
      {
        filters: [
          { column: at, operator: "gte", value: "2024-01-20T00:00:00Z" },
          { column: at, operator: "lt", value: "2024-01-20T00:30:00Z" },
        ],
        order: by(at, false),
      },
      "at datetime",
    ],
  ];
  for (const [what, asked, index] of cases) {
    const [name = "", type] = index.split(" ");
    const { blocks, plan } = await read(asked);
    const found = plan.includes(indexName({ model: "indexed", field: name, type: type as "number", kind: "order" }));
    expect(found, String(what)).toBe(true);
    expect(blocks < 600 ? "few" : blocks, String(what)).toBe("few");
  }
  const { blocks } = await read({ filters: [{ column: column("free", "string"), operator: "eq", value: "7" }] });
  expect(blocks).toBeGreaterThan(1_000);
});

test("[G31] [G35] a caller's query reads the index of what it asks for at its top, and of its first sort key", async () => {
  const client = await app.connect(session);
  const indexed = (type: "string" | "number" | "datetime") => ({ type, index: true }) as const;
  const model = {
    fields: {
      ...{ n: indexed("number"), s: indexed("string"), at: indexed("datetime") },
      free: { type: "string" } as const,
    },
  };
  const read = async (query: object, places: Pick<ListQuestion, "after" | "before">) => {
    const { filters, order } = readListQuery({ ...query }, model, (name) => name) as ListQuery;
    const { plan, blocks } = await readPlan(client, listQuery({ ...question, filters, order, ...places }));
    return { blocks, plan: JSON.stringify(plan) };
  };
  const [n, s, at] = ["n number", "s string", "at datetime"];
  const either = { or: [{ free: { not: "7" } }, { s: "text 3" }] };
  const byAll = ["at", "s"];
  const cases: readonly (readonly [query: object, index: string, after?: ListQuestion["after"]])[] = [
    [{ where: { n: 7, ...either } }, n],
    [{ where: { and: [{ n: 7 }, either] } }, n],
    [{ where: { n: { in: [7, 8] }, ...either } }, n],
    [{ where: { s: { startsWith: "text 77" }, ...either } }, s],
    [{ where: { at: { gte: "2024-01-20T00:00:00Z", lt: "2024-01-20T00:30:00Z" }, ...either } }, at],
    [{ where: { or: [{ n: 7 }, { s: "text 3" }] } }, n],
    [{ where: either, orderBy: byAll }, at],
    [{ where: either, orderBy: byAll, order: "desc" }, at],
    [{ orderBy: byAll }, at, { values: ["2024-01-20 00:00:00+00", "text 5"], id: "i030500" }],
    [{ orderBy: byAll, order: "desc" }, at, { values: ["2024-01-20 00:00:00+00", "text 5"], id: "i030500" }],
    [{ orderBy: ["n", { field: "s", order: "desc" }] }, n, { values: ["500", "text 5"], id: "i030500" }],
  ];
  for (const [query, index, place] of cases)
    for (const places of [{ after: place }, { after: undefined, before: place }]) {
      const [name = "", type] = index.split(" ");
      const { blocks, plan } = await read(query, places);
      const wanted = indexName({ model: "indexed", field: name, type: type as "number", kind: "order" });
      expect(plan.includes(wanted) ? wanted : plan, JSON.stringify(query)).toBe(wanted);
      expect(blocks < 1_000 ? "few" : blocks, JSON.stringify(query)).toBe("few");
    }
});

test("[G10] an index gives the very list that there is without it", async () => {
  const lists = async () => {
    const found: unknown[] = [];
    for (const search of [
      ...["order_by=n", "order_by=n&order=desc", "order_by=at&order=desc", "s=text%205", "filter[n][gt]=998"],
      ...["b=true&order_by=s"],
    ])
      found.push((await call("GET", `/v1/models/indexed?limit=100&${search}`)).body.data);
    return found;
  };
  const withIndexes = await lists();
  await app.sql(`drop index ${own.slice(1).join(", ")}`);
  expect(await lists()).toEqual(withIndexes);
  expect(await reconcile()).toMatchObject({ done: true, created: 5, dropped: 0 });
  await settled(...own);
});

test("[G10] an index refuses no write, whatever values other tenants have in a field of that name", async () => {
  const stranger = { token: app.keys.other };
  await push(
    {
      indexed: {
        n: { type: "string" },
        s: { type: "json" },
        at: { type: "string", index: true },
        b: { type: "array" },
      },
    },
    app.keys.other,
  );
  await settled(...own, named("indexed", "at", "string"));
  const values = [
    "2024-02-30T00:00:00Z",
    "9999-99-99T99:99:99Z",
    "infinity",
    "",
    "x".repeat(200_000),
    "𝕳".repeat(3_000),
  ];
  for (const [i, at] of values.entries()) {
    const data = { n: at, s: { deep: at }, at, b: [at] };
    const written = await call("POST", "/v1/models/indexed", { ...stranger, json: { id: `x${i}`, data } });
    expect(written.status, String(at.slice(0, 30))).toBe(200);
  }
  const random = Array.from({ length: 50_000 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7_919) % 20_000))).join(
    "",
  );
  for (const [i, s] of [random, "𝕳".repeat(40_000), " ".repeat(10_000)].entries())
    expect((await call("POST", "/v1/models/indexed", { json: { id: `y${i}`, data: { s } } })).status).toBe(200);
  const found = await call("GET", `/v1/models/indexed?order_by=at&limit=3`, stranger);
  expect((found.body.data as { at: string }[]).map(({ at }) => at.slice(0, 9))).toEqual(["", "2024-02-3", "9999-99-9"]);
  await push(
    { indexed: { n: { type: "string" }, s: { type: "json" }, at: { type: "string" }, b: { type: "array" } } },
    app.keys.other,
  );
  await settled(...own);
});

test("[G10] an index whose building failed is built anew", async () => {
  const [broken = ""] = own;
  await app.sql("update pg_index set indisvalid = false where indexrelid = $1::regclass", [broken]);
  expect(await reconcile()).toMatchObject({ done: true, created: 1, dropped: 1 });
  await settled(...own);
  expect(await reconcile()).toMatchObject({ done: true, created: 0, dropped: 0 });
});

test("[G10] one process is at it at a time, while all of them write", async () => {
  await app.sql(`drop index ${own.join(", ")}`);
  // The build waits for an older open transaction, and no write waits for the build.
  const held = await app.hold(
    "update holdfast.record set sync_id = sync_id where tenant < 0; select pg_current_xact_id()",
  );
  const first = reconcile();
  await until(async () => expect(await indexes().then((found) => found.length)).toBeGreaterThan(0));
  expect(await reconcile()).toMatchObject({ done: false, created: 0 });
  for (let i = 0; i < 5; i++)
    expect((await call("POST", "/v1/models/indexed", { json: { id: `w${i}`, data: { n: i } } })).status).toBe(200);
  expect((await call("GET", "/v1/models/indexed?n=1&limit=1")).status).toBe(200);
  await held.release();
  expect(await first).toMatchObject({ done: true, created: own.length });
  await settled(...own);
});

test("[G10] a server that stops cancels the index build, and the next one finishes it", async () => {
  await app.sql(`drop index ${own[1]}`);
  const held = await app.hold(
    "update holdfast.record set sync_id = sync_id where tenant < 0; select pg_current_xact_id()",
  );
  const stopping = new AbortController();
  const building = reconcileIndexes(app.databaseUrl, stopping.signal);
  await until(async () => expect(await indexes().then((found) => found.length)).toBe(own.length));
  stopping.abort();
  await expect(building).rejects.toThrow("stopping");
  await held.release();
  await until(async () => expect(await (await reconcile()).done).toBe(true));
  await settled(...own);
});

test("[G10] an index goes when no tenant declares it any more", async () => {
  const without = Object.fromEntries(Object.entries(FIELDS).map(([name, { type }]) => [name, { type }]));
  await push({ indexed: { n: { type: "number", index: true } } }, app.keys.test);
  await push({ indexed: without });
  await settled(slideOrder, own[1] as string);
  await push({ indexed: { n: { type: "number" } } }, app.keys.test);
  await settled(slideOrder);
});

const searched = `holdfast.${indexName({ model: "searched", field: "s", type: "string", kind: "text" })}`;
const searchedBody = `holdfast.${indexName({ model: "searched", field: "body", type: "string", kind: "text" })}`;
const TEXTS: Fields = { s: { type: "string", index: "text" }, body: { type: "string", index: "text" } };
const words = (search: string, ...names: string[]): ListQuestion["filters"][number] => ({
  operator: "search",
  columns: names.map((name) => column(name, "string")),
  words: search.split(" "),
});

test("[G21] an index for searches finds words in a few of its pages, in one field and in several", async () => {
  await push({ searched: TEXTS });
  await settled(slideOrder, searched, searchedBody);
  await app.sql(
    `insert into holdfast.record select t, 'searched', 'i' || lpad(n::text, 6, '0'), 1,
       json_build_object('id', 'i' || lpad(n::text, 6, '0'), 's', 'Issue ' || md5(n::text) || case when n % 10000 = 7 then ' Größe' else '' end,
         'body', 'About ' || md5((-n)::text)),
       '{}', null, 1, '', now(), now(), '' from generate_series(1, 20000) n cross join unnest($1::int[]) t`,
    [[tenant, -1]],
  );
  await app.sql("vacuum analyze holdfast.record");
  const client = await app.connect(session);
  for (const [search, count] of [
    [words("c4ca4238", "s"), 1],
    [words("größe issue", "s"), 2],
    [words("c4ca4238 about", "s", "body"), 1],
  ] as const) {
    const asked = listQuery({ ...question, model: "searched", filters: [search] });
    const { plan, blocks } = await readPlan(client, asked);
    expect(JSON.stringify(plan), JSON.stringify(search)).toContain(searched.replace("holdfast.", ""));
    expect(blocks, JSON.stringify(search)).toBeLessThan(1_500);
    expect(plan["Actual Rows"]).toBe(count);
  }
});

test("[G21] [G41] an index for searches changes no response, and refuses no write", async () => {
  const texts = ["", "x".repeat(200_000), "𝕳 ".repeat(3_000), "\u0001\u200b\ufffd", "ÄÖÜ ß"];
  for (const [i, s] of texts.entries())
    expect((await call("POST", "/v1/models/searched", { json: { id: `x${i}`, data: { s } } })).status).toBe(200);
  const lists = async () => {
    const found: unknown[] = [];
    for (const search of ["ä", "xx", "größe", "𝕳", "%", "_", "issue c4ca4238", ""])
      found.push((await call("GET", `/v1/models/searched?${new URLSearchParams({ search, limit: "100" })}`)).body.data);
    return found;
  };
  const withIndexes = await lists();
  expect(withIndexes[0]).toMatchObject([{ id: "x4" }]);
  await app.sql(`drop index ${searched}, ${searchedBody}`);
  expect(await lists()).toEqual(withIndexes);
  expect(await reconcile()).toMatchObject({ done: true, created: 2 });
});

test("[G21] the extensions may be in any schema, and a field may be searched and sorted by different tenants", async () => {
  await app.sql("create schema elsewhere; alter extension pg_trgm set schema elsewhere");
  await app.sql(`drop index ${searched}`);
  expect(await reconcile()).toMatchObject({ done: true, created: 1, failed: [] });
  await push({ searched: { s: { type: "string", index: true } } }, app.keys.test);
  await settled(slideOrder, searched, searchedBody, named("searched", "s", "string"));
  await push({ searched: { s: { type: "string" } } }, app.keys.test);
});

test("[G21] [G41] an index for searches goes when no tenant declares it any more", async () => {
  await push({ searched: { s: { type: "string", index: "text" }, body: { type: "string" } } });
  await settled(slideOrder, searched);
  await push({ searched: { s: { type: "string" }, body: { type: "string" } } });
  await settled(slideOrder);
});

test("[G21] where the extensions are not allowed, searches work without an index", async () => {
  await app.sql("drop extension if exists pg_trgm, btree_gin");
  await app.sql(
    `create function public.no_extensions() returns event_trigger language plpgsql as $$ begin raise 'not here'; end $$;
     create event trigger no_extensions on ddl_command_start when tag in ('CREATE EXTENSION') execute function public.no_extensions()`,
  );
  try {
    await push({ searched: { s: { type: "string", index: "text" }, body: { type: "string" } } });
    const found = await call("GET", "/v1/models/searched?search=c4ca4238&limit=2");
    expect(found).toMatchObject({ status: 200, body: { data: [{ id: "i000001" }] } });
    // The server tries it too, after the push.
    const failed = [expect.stringContaining("searched.s")];
    await until(async () => expect(await reconcile()).toMatchObject({ done: true, created: 0, failed }));
  } finally {
    await app.sql("drop event trigger no_extensions; drop function public.no_extensions");
  }
});

const TAGGED = items("tagged", "labels");
const MANY = 100_000;

test("[G37] [G31] a caller finds an item of an array in a few pages of an index, among 100 000 records", async () => {
  await push({ tagged: { labels: { type: "array", index: true }, n: { type: "number" } } });
  await until(async () => expect(await indexes()).toContainEqual({ name: TAGGED, valid: true }));
  await app.sql(
    `insert into holdfast.record select t, 'tagged', 'i' || lpad(n::text, 6, '0'), 1,
       json_build_object('id', 'i' || lpad(n::text, 6, '0'), 'n', n, 'labels', json_build_array('l' || n % 5000, n % 4000, json_build_object('a', n % 3000), 'all')),
       '{}', null, 1, '', now(), now(), '' from generate_series(1, ${MANY} / 2) n cross join unnest($1::int[]) t`,
    [[tenant, -1]],
  );
  await app.sql("vacuum analyze holdfast.record");
  const client = await app.connect(session);
  const model = { fields: { labels: { type: "array", index: true }, n: { type: "number" } } } as const;
  const half = { or: [{ n: { gt: 25_000 } }, { n: { lt: 0 } }] };
  for (const [where, count] of [
    [{ labels: { contains: "l7" } }, 10],
    [{ labels: { contains: 7 } }, 13],
    [{ labels: { contains: { a: 7 } } }, 17],
    [{ labels: { contains: "none" } }, 0],
    [{ labels: { contains: "7" } }, 0],
    [{ labels: { contains: "l7" }, ...half }, 5],
    [{ and: [{ labels: { contains: "l7" } }, { labels: { contains: "all" } }] }, 10],
    [{ or: [{ labels: { contains: "l7" } }, { labels: { contains: "l8" } }] }, 20],
  ] as const) {
    const { filters, order } = readListQuery({ where }, model, (name) => name) as ListQuery;
    const asked = { ...question, model: "tagged", filters, order };
    const { plan, blocks } = await readPlan(client, listQuery(asked));
    const text = JSON.stringify(plan);
    const used = TAGGED.replace("holdfast.", "");
    expect(text.includes(used) ? used : text, JSON.stringify(where)).toBe(used);
    expect(blocks, JSON.stringify(where)).toBeLessThan(500);
    expect(plan["Actual Rows"], JSON.stringify(where)).toBe(count);
  }
});

test("[G37] [G45] an index for items changes no response, and refuses no write", async () => {
  const odd = [
    ["x".repeat(200_000)],
    Array.from({ length: 5_000 }, (_, i) => i),
    [],
    [null, null],
    [["l7"], [[]], {}],
    [1e308, 5e-324, -0, 9007199254740991, 1e21],
    ["\u0001", "\ufffd", "𝕳", ""],
    [{ a: { b: [1, { c: null }] } }, true, false],
  ];
  for (const [i, labels] of odd.entries())
    expect((await call("POST", "/v1/models/tagged", { json: { id: `x${i}`, data: { labels } } })).status).toBe(200);
  const found = async () => {
    const answers: unknown[] = [];
    for (const contains of [...odd.map((labels) => labels.at(-1) ?? "all"), "l7", "none", [], {}, ["l7"], "0", 7]) {
      const json = { where: { labels: { contains } }, limit: 100 };
      const { body } = await call("POST", "/v1/models/tagged/query", { json });
      answers.push([contains, (body.data as { id: string }[]).map(({ id }) => id)]);
    }
    for (const text of ["l7", "7", "null", '{"a":7}']) {
      const spelled = encodeURIComponent(text);
      answers.push((await call("GET", `/v1/models/tagged?filter[labels][contains]=${spelled}`)).body.data);
    }
    return answers;
  };
  const withIndex = await found();
  await app.sql(`drop index ${TAGGED}`);
  expect(await found()).toEqual(withIndex);
  expect(await reconcile()).toMatchObject({ done: true, created: 1 });
});

test("[G37] who follows the records with an item reads them with the index", async () => {
  const client = await app.connect(session);
  const statements: { text: string; values: unknown[] }[] = [];
  const db = {
    query: (asked: { text: string; values: unknown[] }) => {
      statements.push(asked);
      return client.query(asked);
    },
  } as unknown as Parameters<typeof readSnapshotPage>[0];
  const models = new Map([
    [
      "tagged",
      {
        name: "tagged",
        model: { fields: { labels: { type: "array", index: true } } as Model["fields"] },
        changes: [],
      } as const,
    ],
  ]);
  const followed = followedRecords(
    { tagged: [{ labels: { contains: "l7" } }, { labels: { contains: "l8" } }] },
    models,
  );
  const page = await readSnapshotPage(
    db,
    {
      ...{ tenant, models: [], rewriting: false, relations: new Map(), groups: undefined, after: undefined },
      ...{
        limit: 1_000,
        bytes: 4_194_304,
        parts: [...followed].map(([model, alternatives]) => ({ model, alternatives })),
      },
    },
    new Map([["tagged", "tagged"]]),
  );
  expect(page.count).toBe(20);
  const { plan, blocks } = await readPlan(client, statements[0] as { text: string; values: unknown[] });
  expect(JSON.stringify(plan)).toContain(TAGGED.replace("holdfast.", ""));
  expect(blocks).toBeLessThan(1_000);
});

test("[G37] [G45] an index for items goes when no tenant declares it any more", async () => {
  await push({ tagged: { labels: { type: "array" }, n: { type: "number" } } });
  await until(async () => expect((await indexes()).map(({ name }) => name)).not.toContain(TAGGED));
});
