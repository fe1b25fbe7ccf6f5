import { limits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { type Answer, startApp } from "../testing/app.ts";
import { naughtyStrings } from "../testing/naughty-strings.ts";
import { someAtATime } from "../testing/some-at-a-time.ts";

const app = await startApp();
const { call } = app;
const things = "/v1/models/thing";

const models = {
  thing: {
    fields: {
      title: { type: "string", index: "text" },
      team: { type: "string", nullable: true },
      count: { type: "integer", nullable: true },
      meta: { type: "json", nullable: true },
      tags: { type: "array", nullable: true },
    },
    groups: [{ kind: "team", from: "team" }],
  },
  back: {
    fields: {
      n: { type: "integer", nullable: true },
      s: { type: "string", nullable: true },
      e: { type: "enum", values: ["low", "high"], nullable: true },
    },
  },
  many: { fields: { tags: { type: "array" }, text: { type: "string" } } },
};
const before = (await call("GET", "/v1/schema")).body.models as object;
expect((await call("POST", "/v1/schema", { json: { models: { ...before, ...models } } })).status).toBe(201);

const ids = ["t1", "t2", "t3", "t4", "t5", "t6"];
for (const [i, id] of ids.entries()) {
  const data = {
    title: `T${i % 3}`,
    team: i % 2 === 0 ? "red" : "blue",
    ...(i !== 4 && { count: i % 4 }),
    meta: { i },
  };
  expect((await call("POST", things, { json: { id, data } })).status).toBe(200);
}
expect((await call("POST", `${things}/t6/archive`)).status).toBe(200);

const query = (json: unknown, token?: string) => call("POST", `${things}/query`, { json, ...(token && { token }) });
const idsOf = ({ status, body, text }: Answer) => {
  expect(status, text).toBe(200);
  return (body.data as { id: string }[]).map(({ id }) => id).join(" ");
};

test("[G26] [G42] a caller gets the answer that the list by GET gives", async () => {
  const get = await call("GET", `${things}?filter[count][gte]=1&order_by=title:desc&limit=2&state=all`);
  const post = await query({
    ...{ where: { count: { gte: 1 } }, orderBy: [{ field: "title", order: "desc" }], limit: 2, archived: "with" },
  });
  expect(post.body).toEqual(get.body);
  expect(Object.keys(post.body)).toEqual([
    ...["object", "model", "data", "has_more", "next_cursor", "has_previous", "previous_cursor", "stamp", "archived"],
  ]);
  expect((await call("POST", "/v1/models/THING/query", { json: {} })).body.model).toBe("thing");
});

test("[G26] a query asks who wrote a record, when, and at which position", async () => {
  const { body } = await call("GET", `${things}/t3`);
  const { createdAt, createdBy, syncId } = body as { createdAt: string; createdBy: string; syncId: number };
  expect(idsOf(await query({ where: { $createdAt: createdAt, id: "t3" } }))).toBe("t3");
  expect(idsOf(await query({ where: { $syncId: syncId } }))).toBe("t3");
  expect(idsOf(await query({ where: { $syncId: { gt: syncId - 0.5, lt: syncId + 1.5 } } }))).toBe("t3 t4");
  expect(idsOf(await query({ orderBy: "$syncId", order: "desc", limit: 2, where: { $syncId: { lte: syncId } } }))).toBe(
    "t3 t2",
  );
  expect(idsOf(await query({ where: { $createdBy: { startsWith: createdBy.slice(0, 5) } } }))).toBe("t1 t2 t3 t4 t5");
  expect(idsOf(await query({ where: { $createdBy: { search: createdBy.toUpperCase() } } }))).toBe("t1 t2 t3 t4 t5");
  expect(idsOf(await query({ where: { $updatedBy: { not: createdBy } } }))).toBe("");
  for (const where of [{ $createdBy: { search: "t3" } }, { $createdBy: { contains: "t3" } }])
    expect(idsOf(await query({ where }))).toBe("");
});

test("[G26] [G42] a token sees what it sees in lists, and is refused where lists refuse it", async () => {
  const red = await app.capability({ participantId: "a", operations: ["thing.read"], syncGroups: ["team:red"] });
  expect(idsOf(await query({}, red.token))).toBe("t1 t3 t5");
  expect(idsOf(await query({ where: { or: [{ team: "blue" }, { id: "t2" }, { count: 0 }] } }, red.token))).toBe("t1");
  const page = await query({ limit: 1 }, red.token);
  expect(idsOf(await query({ starting_after: page.body.next_cursor }, red.token))).toBe("t3 t5");
  expect((await query({ starting_after: page.body.next_cursor })).body.code).toBe("invalid_cursor");
  const other = await app.capability({ participantId: "b", operations: ["slide.read"], syncGroups: ["team:red"] });
  for (const [method, path, json] of [
    ["POST", `${things}/query`, {}],
    ["GET", things, undefined],
  ] as const) {
    const refused = await call(method, path, { token: other.token, ...(json && { json }) });
    expect(refused.status).toBe(403);
    expect(refused.body.code).toBe("capability_scope_denied");
  }
  expect((await query({}, app.keys.other)).status).toBe(404);
  expect((await query({}, app.keys.test)).status).toBe(404);
  expect((await call("POST", `${things}/query`, { token: null, json: {} })).status).toBe(401);
  expect((await call("POST", "/v1/models/nothing/query", { json: {} })).body.code).toBe("unknown_model");
});

test("[G35] [G44] a caller turns back, by GET and by a query, and a cursor serves both ways", async () => {
  const get = (more: string) => call("GET", `${things}?order_by=title:desc,count${more}`);
  const post = (more: object) =>
    query({
      orderBy: [
        { field: "title", order: "desc" },
        { field: "count", order: "asc" },
      ],
      ...more,
    });
  const order = "t3 t2 t5 t1 t4";
  expect(idsOf(await get(""))).toBe(order);
  expect(idsOf(await post({}))).toBe(order);
  for (const ask of [
    (side?: string, cursor?: unknown) =>
      get(`&limit=2${side === undefined ? "" : `&${side}=${encodeURIComponent(String(cursor))}`}`),
    (side?: string, cursor?: unknown) => post({ limit: 2, ...(side !== undefined && { [side]: cursor }) }),
  ]) {
    const first = await ask();
    expect(first.body).toMatchObject({ has_more: true, has_previous: false, previous_cursor: null });
    const second = await ask("starting_after", first.body.next_cursor);
    expect(idsOf(second)).toBe("t5 t1");
    expect(second.body).toMatchObject({ has_more: true, has_previous: true });
    const third = await ask("starting_after", second.body.next_cursor);
    expect(idsOf(third)).toBe("t4");
    expect(third.body).toMatchObject({ has_more: false, next_cursor: null, has_previous: true });
    const back = await ask("ending_before", third.body.previous_cursor);
    expect(idsOf(back)).toBe("t5 t1");
    expect(back.body).toMatchObject({ has_more: true, has_previous: true });
    const start = await ask("ending_before", back.body.previous_cursor);
    expect(idsOf(start)).toBe("t3 t2");
    expect(start.body).toMatchObject({ has_more: true, has_previous: false, previous_cursor: null });
    expect(idsOf(await ask("starting_after", start.body.next_cursor))).toBe("t5 t1");
    expect(idsOf(await ask("ending_before", second.body.next_cursor))).toBe("t2 t5");
    expect(idsOf(await ask("starting_after", second.body.previous_cursor))).toBe("t1 t4");
    for (const odd of ["", "x", `${third.body.previous_cursor}x`])
      expect((await ask("ending_before", odd)).body).toMatchObject({ code: "invalid_cursor", param: "ending_before" });
  }
  expect((await get("&ending_before=%00")).body).toMatchObject({ code: "invalid_cursor", param: "ending_before" });
  const { body } = await get("&limit=2");
  const cursor = String(body.next_cursor);
  expect((await get(`&starting_after=${encodeURIComponent(cursor)}&ending_before=x`)).body).toMatchObject({
    ...{ code: "invalid_value", param: "ending_before" },
  });
  for (const json of [
    { ending_before: cursor },
    { ending_before: null },
    { ending_before: [cursor] },
    { ending_before: 3 },
  ])
    expect((await query(json)).body).toMatchObject({ code: "invalid_cursor", param: "ending_before" });
  expect((await post({ starting_after: cursor, ending_before: cursor })).body).toMatchObject({
    ...{ code: "invalid_value", param: "ending_before" },
  });
  const red = await app.capability({ participantId: "b2", operations: ["thing.read"], syncGroups: ["team:red"] });
  expect(
    (await call("GET", `${things}?ending_before=${encodeURIComponent(cursor)}`, { token: red.token })).body.code,
  ).toBe("invalid_cursor");
  expect((await call("GET", `${things}/t3/history?ending_before=x`)).body.code).toBe("unknown_parameter");
});

test("[G35] [G30] a caller reads back among records of which many lack a value", async () => {
  const ids = Array.from({ length: 24 }, (_, i) => `b${String(i).padStart(2, "0")}`);
  const operations = ids.map((id, i) => ({
    ...{ action: "create", model: "back", id },
    data: {
      ...(i % 3 > 0 && { n: i % 4 }),
      ...(i % 2 === 0 && { s: `s${i % 5}` }),
      ...(i % 5 > 1 && { e: i % 2 === 0 ? "low" : "high" }),
    },
  }));
  expect((await call("POST", "/v1/commits", { key: "back", json: { operations } })).status).toBe(200);
  const keys = ["n", "s", "id", "$updatedAt", { field: "e", by: "values" }, { field: "n", order: "desc" }];
  for (const a of keys)
    for (const b of [...keys, undefined])
      for (const order of ["asc", "desc"]) {
        const asked = { orderBy: b === undefined ? [a] : [a, b], order };
        const ask = async (json: object) => {
          const answer = await call("POST", "/v1/models/back/query", { json: { ...asked, ...json } });
          return {
            ids: idsOf(answer).split(" "),
            previous: answer.body.previous_cursor,
            next: answer.body.next_cursor,
          };
        };
        const all = await ask({ limit: 100 });
        expect([...all.ids].sort()).toEqual(ids);
        let page = await ask({ limit: 19 });
        page = await ask({ limit: 5, starting_after: page.next });
        const back = [...page.ids];
        while (page.previous !== null) {
          page = await ask({ limit: 7, ending_before: page.previous });
          back.unshift(...page.ids);
        }
        expect(back, JSON.stringify(asked)).toEqual(all.ids);
      }
});

test("[G36] a page that has become empty has the way back, and misses nothing that comes again", async () => {
  const where = { text: "gone" };
  const ask = async (json: object) => {
    const { body, status, text } = await call("POST", "/v1/models/many/query", { json: { where, limit: 2, ...json } });
    expect(status, text).toBe(200);
    return { ...body, ids: (body.data as { id: string }[]).map(({ id }) => id).join(" ") } as Record<string, unknown>;
  };
  const make = async (...ids: string[]) => {
    for (const id of ids)
      expect((await call("POST", "/v1/models/many", { json: { id, data: { text: "gone" } } })).status).toBe(200);
  };
  const drop = async (...ids: string[]) => {
    for (const id of ids) expect((await call("DELETE", `/v1/models/many/${id}`)).status).toBe(200);
  };
  await make("g1", "g2", "g3", "g4");
  const first = await ask({});
  await drop("g3", "g4");
  const empty = await ask({ starting_after: first.next_cursor });
  expect(empty).toMatchObject({ ids: "", has_more: false, next_cursor: null, has_previous: true });
  expect(await ask({ ending_before: empty.previous_cursor })).toMatchObject({ ids: "g1 g2", has_previous: false });
  await make("g3", "g4", "g5");
  const second = await ask({ starting_after: first.next_cursor });
  await drop("g1", "g2");
  const none = await ask({ ending_before: second.previous_cursor });
  expect(none).toMatchObject({ ids: "", has_previous: false, previous_cursor: null, has_more: true });
  expect(await ask({ starting_after: none.next_cursor })).toMatchObject({ ids: "g3 g4", has_more: true });
  await drop("g3");
  const shifted = await ask({ starting_after: none.next_cursor });
  expect(shifted).toMatchObject({ ids: "g4 g5", has_more: false, has_previous: true });
  const without = await ask({ ending_before: shifted.previous_cursor });
  expect(without).toMatchObject({ ids: "", has_more: true });
  const again = await ask({ starting_after: without.next_cursor });
  expect(again).toMatchObject({ ids: "g4 g5" });
  expect(await ask({ limit: 0, count: true, starting_after: none.next_cursor })).toMatchObject({
    ...{ count: 2, ids: "", has_more: false, has_previous: false, previous_cursor: null },
  });
  await drop("g4", "g5");
});

test("[G28] a body that is none, or too large, is refused, and a query string too", async () => {
  const sent = (bytes: string, headers: Record<string, string> = { "content-type": "application/json" }) =>
    call("POST", `${things}/query`, { bytes, headers });
  expect((await sent("")).body.code).toMatch(/^invalid_/);
  expect((await sent("{")).body.code).toBe("invalid_json");
  expect((await sent("{}", { "content-type": "text/plain" })).status).toBe(415);
  for (const body of ["null", "[]", '"where"', "3"]) expect((await sent(body)).body.code).toBe("invalid_body");
  expect((await sent(`{"search":"${"x".repeat(limits.bodyBytes)}"}`)).status).toBe(413);
  expect((await sent(`${'{"where":{"or":['.repeat(40)}{}${"]}}".repeat(40)}`)).body.code).toBe("invalid_value");
  expect((await sent('{"where":{"title":"\\u0000"}}')).body).toMatchObject({
    ...{ code: "invalid_value", param: "where.title" },
  });
  expect((await sent('{"where":{"count":9007199254740993}}')).body).toMatchObject({
    ...{ code: "invalid_value", param: "where.count" },
  });
  expect((await sent('{"where":{"count":{"lt":1e400}}}')).body.code).toBe("invalid_value");
  expect((await sent('{"where":{"__proto__":1}}')).status).toBe(400);
  expect((await sent('{"__proto__":{"where":{}}}')).status).toBe(400);
  const withQuery = await call("POST", `${things}/query?limit=3`, { json: {} });
  expect(withQuery.body).toMatchObject({ code: "unknown_parameter", param: "limit" });
  expect((await call("GET", `${things}/query`)).body.code).toBe("record_not_found");
});

test("[G26] [H7] nasty strings as names and values find nothing else, and break nothing", async () => {
  await someAtATime(
    [
      ...naughtyStrings.filter((text) => text !== ""),
      "a'; drop table holdfast.record; --",
      "x'::text) is null or true --",
      "$1",
      "%",
      "\\",
    ],
    async (text) => {
      for (const json of [
        { where: { title: { contains: text }, id: { startsWith: text } } },
        { where: { tags: { contains: text }, or: [{ meta: { [text]: text } }, { meta: text }] } },
        { search: text, where: { title: { notIn: [text, "T0", "T1", "T2"] } } },
      ]) {
        const answer = await query(json);
        if (answer.status === 400) expect(answer.body.code, text).toBe("invalid_value");
        else expect(idsOf(answer), text).toBe("");
      }
      for (const json of [{ [text]: 1 }, { where: { [text]: 1 } }, { orderBy: text }, { orderBy: [{ field: text }] }])
        expect((await query(json)).status, JSON.stringify(json)).toBe(text === "id" && "orderBy" in json ? 200 : 400);
    },
    4,
  );
  expect(idsOf(await query({}))).toBe("t1 t2 t3 t4 t5");
});

test("[G34] a query says how many records have which value, of those that its token may see", async () => {
  const red = await app.capability({ participantId: "e", operations: ["thing.read"], syncGroups: ["team:red"] });
  const counts = async (json: object, token?: string) => {
    const { status, body, text } = await query({ limit: 0, ...json }, token);
    expect(status, text).toBe(200);
    expect(body.has_more_counts).toBe(false);
    return (body.counts as { value: unknown; count: number }[]).map(({ value, count }) => `${value} ${count}`);
  };
  expect(await counts({ countBy: "team" })).toEqual(["red 3", "blue 2"]);
  expect(await counts({ countBy: "team" }, red.token)).toEqual(["red 3"]);
  expect(await counts({ countBy: "team", archived: "only" })).toEqual(["blue 1"]);
  expect((await counts({ countBy: "count" })).toSorted()).toEqual(["0 1", "1 1", "2 1", "3 1", "null 1"]);
  const { body } = await call("GET", `${things}/t3`);
  const facts = { where: { id: "t3" } };
  for (const [countBy, value] of [
    ["id", "t3"],
    ["$createdAt", body.createdAt],
    ["$updatedAt", body.updatedAt],
    ["$createdBy", body.createdBy],
    ["$updatedBy", body.updatedBy],
    ["$syncId", body.syncId],
    ["$archivedAt", null],
  ])
    expect(await counts({ ...facts, countBy })).toEqual([`${value} 1`]);
  const both = await query({ countBy: "title", count: true, limit: 1 });
  expect(both.body).toMatchObject({ count: 5, has_more: true, counts: [{ count: 2 }, { count: 2 }, { count: 1 }] });
});

test("[G34] [G43] an answer has up to 1 000 values, and says whether there are more", async () => {
  const operations = Array.from({ length: 100 }, (_, i) => ({
    ...{ action: "create", model: "many", id: `m${i}` },
    data: {
      tags: Array.from({ length: i === 0 ? 12 : 11 }, (_, j) => i * 11 + j),
      text: "x".repeat(60_000) + (i >> 1),
    },
  }));
  for (let from = 0; from < 100; from += 10) {
    const json = { operations: operations.slice(from, from + 10) };
    expect((await call("POST", "/v1/commits", { key: `many${from}`, json })).status).toBe(200);
  }
  const many = async (json: object) => {
    const { body } = await call("POST", "/v1/models/many/query", { json: { limit: 0, ...json } });
    return { ...body, counts: body.counts as { value: unknown; count: number }[] };
  };
  const tags = await many({ countBy: "tags" });
  expect(tags).toMatchObject({ has_more_counts: true });
  expect(tags.counts).toHaveLength(limits.countedValues);
  expect(tags.counts[0]).toEqual({ value: 11, count: 2 });
  const some = await many({ countBy: "tags", where: { id: { in: ["m1", "m2"] } } });
  expect(some.counts).toHaveLength(22);
  expect(some).toMatchObject({ has_more_counts: false });
  // Of 50 texts of 60 kB all fit, of 100 not.
  expect(await many({ countBy: "text" })).toMatchObject({ has_more_counts: false });
  const update = operations.map(({ id }, i) => ({
    action: "update",
    model: "many",
    id,
    data: { text: "y".repeat(60_000) + i },
  }));
  for (let from = 0; from < 100; from += 10)
    expect(
      (await call("POST", "/v1/commits", { key: `more${from}`, json: { operations: update.slice(from, from + 10) } }))
        .status,
    ).toBe(200);
  const texts = await many({ countBy: "text" });
  expect(texts).toMatchObject({ has_more_counts: true });
  expect(texts.counts.length).toBeGreaterThan(60);
});

test("[G29] the largest query is answered", async () => {
  const some = (from: number) => ({ count: { notIn: Array.from({ length: 10 }, (_, i) => from + i) } });
  const large = { or: Array.from({ length: 100 }, (_, i) => some(i * 10)) };
  expect(idsOf(await query({ where: large }))).toBe("t1 t2 t3 t4 t5");
  const deep = (levels: number): object => (levels === 0 ? { title: "T1" } : { or: [{ count: -1 }, deep(levels - 1)] });
  expect(idsOf(await query({ where: deep(limits.queryDepth) }))).toBe("t2 t5");
  expect((await query({ where: deep(limits.queryDepth + 1) })).body.code).toBe("invalid_value");
  const keys = ["title", "team", "count", "$createdAt", "$createdBy", "$updatedAt", "$updatedBy", "$syncId"];
  const first = await query({ orderBy: keys, limit: 2 });
  expect(idsOf(first)).toBe("t4 t1");
  expect(idsOf(await query({ orderBy: keys, starting_after: first.body.next_cursor }))).toBe("t2 t5 t3");
});
