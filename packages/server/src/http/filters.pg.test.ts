import { folded, limits, searchWords } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../scripts/testing/until.ts";
import { type Answer, startApp } from "../testing/app.ts";
import { naughtyStrings } from "../testing/naughty-strings.ts";
import { someAtATime } from "../testing/some-at-a-time.ts";
import { untilBlocked } from "../testing/waiting/blocked.ts";

const app = await startApp();
const { call } = app;
const things = "/v1/models/thing";

const fields = {
  name: { type: "string" },
  size: { type: "number", nullable: true },
  count: { type: "integer" },
  at: { type: "datetime" },
  done: { type: "boolean" },
  kind: { type: "enum", values: ["b", "a"] },
  limit: { type: "number" },
  toString: { type: "string" },
  extra: { type: "json" },
};
const push = async (changes: object = {}) => {
  const models = (await call("GET", "/v1/schema")).body.models as object;
  return call("POST", "/v1/schema", { json: { models: { ...models, thing: { fields: { ...fields, ...changes } } } } });
};
expect((await push()).status).toBe(201);
const put = async (rows: Record<string, object>) => {
  const operations = Object.entries(rows).map(([id, data]) => ({ action: "create", model: "thing", id, data }));
  for (let i = 0; i < operations.length; i += limits.operationsPerCommit)
    expect(
      (await call("POST", "/v1/commits", { json: { operations: operations.slice(i, i + limits.operationsPerCommit) } }))
        .status,
    ).toBe(200);
};
const list = (parameters: Record<string, string>) =>
  call("GET", `${things}?${new URLSearchParams({ limit: "100", ...parameters })}`);
const ids = ({ status, body }: Answer) => {
  expect(status).toBe(200);
  expect(body.code).toBe(undefined);
  return (body.data as { id: string }[]).map(({ id }) => id);
};

const NAMES = ["", "A", "a", "B", "é", "z", "ﬁ", "𝕳", "\uffff", "10", "9", "_", "%", "a%", "'", '"', "\\", "a b"];
const TIMES = [
  "2024-01-01T00:00:00Z",
  "2023-12-31T23:00:00-01:00",
  "2024-01-01T23:59:00+23:59",
  "2024-01-01T00:00:00.000001Z",
  "2024-01-01T00:00:00.1Z",
  "0001-01-01T00:00:00+10:00",
  "9999-12-31T23:59:59.999999-23:59",
];
const SIZES = [null, -2.5, 0, 0.1, 1e21, -1e-7, 3];
type Row = Record<string, unknown>;
const rows: Record<string, Row> = Object.fromEntries(
  Array.from({ length: 90 }, (_, i) => [
    `t${String((i * 37) % 90).padStart(2, "0")}`,
    {
      ...(i % 5 !== 0 && { name: NAMES[i % NAMES.length] }),
      ...(i % 4 !== 0 && { size: SIZES[i % SIZES.length] === 1e21 ? 1e15 : SIZES[i % SIZES.length] }),
      ...(i % 7 !== 0 && { count: (i % 9) - 4 }),
      ...(i % 6 !== 0 && { at: TIMES[i % TIMES.length] }),
      ...(i % 2 === 0 && { done: i % 3 === 0 }),
      ...(i % 3 === 0 && { kind: i % 2 === 0 ? "a" : "b" }),
      ...(i % 8 === 0 && { toString: `s${i % 3}`, limit: i % 4 }),
    },
  ]),
);
await put(rows);

/** What a value is compared by: code points, the number, the instant in nanoseconds. */
function comparable(field: string, value: unknown): bigint | number | readonly number[] {
  if (field === "at") {
    const fraction = /\.(\d+)/.exec(value as string)?.[1] ?? "";
    return BigInt(Date.parse((value as string).replace(/\.\d+/, ""))) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
  }
  return typeof value === "string" ? [...value].map((one) => one.codePointAt(0) as number) : Number(value);
}
function compare(field: string, a: unknown, b: unknown): number {
  const [x, y] = [comparable(field, a), comparable(field, b)];
  if (!Array.isArray(x) || !Array.isArray(y)) return x < y ? -1 : x > y ? 1 : 0;
  const at = x.findIndex((point, i) => point !== y[i]);
  if (at < 0) return x.length - y.length;
  return at >= y.length ? 1 : (x[at] as number) - (y[at] as number);
}
const holds: Record<string, (by: number) => boolean> = {
  eq: (by) => by === 0,
  gt: (by) => by > 0,
  gte: (by) => by >= 0,
  lt: (by) => by < 0,
  lte: (by) => by <= 0,
};
const valueIn = (row: Row, field: string) => (Object.hasOwn(row, field) ? (row[field] ?? undefined) : undefined);
const matching = (field: string, operator: string, value: unknown) =>
  Object.keys(rows)
    .filter((id) => {
      const own = field === "id" ? id : valueIn(rows[id] as Row, field);
      return own !== undefined && holds[operator]?.(compare(field, own, value));
    })
    .sort();
const spelled = (field: string, operator: string) =>
  operator === "eq" ? `filter[${field}]` : `filter[${field}][${operator}]`;

test.each<[string, readonly unknown[]]>([
  ["name", NAMES],
  ["size", [...SIZES.filter((size) => size !== null && size < 1e16), 0.10000000000000002, -3]],
  ["count", [-5, -4, 0, 4, 5]],
  ["at", [...TIMES, "2024-01-01T00:00:00.05Z", "2024-01-01T02:00:00+02:00"]],
  ["done", [true, false]],
  ["kind", ["a", "b", "c", ""]],
  ["limit", [0, 1]],
  ["toString", ["s0", "s9"]],
  ["id", ["t00", "t44", "t", "u"]],
])("[G8] %s is filtered by value and by range, compared as it is sorted", async (field, values) => {
  for (const value of values)
    for (const operator of Object.keys(holds)) {
      const answer = await list({ [spelled(field, operator)]: String(value) });
      expect([operator, value, ids(answer)]).toEqual([operator, value, matching(field, operator, value)]);
    }
});

test("[G8] a field that is absent and one that is null have no value, and none is in any range", async () => {
  for (const field of ["name", "size", "count", "at", "done", "kind"]) {
    const none = Object.keys(rows).filter((id) => valueIn(rows[id] as Row, field) === undefined);
    expect(ids(await list({ [`filter[${field}][null]`]: "true" }))).toEqual(none.sort());
    expect(ids(await list({ [`filter[${field}][null]`]: "false" }))).toHaveLength(90 - none.length);
  }
  expect(ids(await list({ "filter[id][null]": "true" }))).toEqual([]);
  expect(ids(await list({ "filter[createdAt][null]": "false" }))).toHaveLength(90);
});

/** Letters whose lower case is a matter of context, language or version, and texts around them. */
const LETTERS = [
  "Ärger",
  "a\u0308RGER",
  "STRAẞE Straße",
  "ΟΔΟΣ οδος οδός",
  "İSTANBUL ISTANBUL ıstanbul",
  "Ǆ ǅ ǆ",
  "K Å",
  "ÐÞ",
  "ЁЖ",
  "J\u030c ǰ",
  "i\u0323\u0307",
  "Ꭰ ꭰ Ა",
  "𐐀 𝕳",
  "a%_\\b",
];

test("[G19] the server folds every letter that it and the client know as the client does", async () => {
  const changed = await app.sql<{ letter: string; folded: string }>(
    `select chr(n) as letter, holdfast.folded(chr(n)) as folded from generate_series(1, 1114111) n
     where n not between 55296 and 57343 and holdfast.folded(chr(n)) <> chr(n)`,
  );
  const [{ unknown } = { unknown: null }] = await app.sql<{ unknown: string | null }>(
    `select string_agg(chr(n), '') as unknown from generate_series(1, 1114111) n
     where n not between 55296 and 57343 and not unicode_assigned(chr(n))`,
  );
  const unknownToServer = new Set(unknown);
  const byServer = new Map(changed.map((row) => [row.letter, row.folded]));
  const different: string[] = [];
  for (let point = 1; point < 0x110000; point++) {
    const letter = String.fromCodePoint(point);
    if (/[\p{Cn}\p{Cs}]/u.test(letter) || unknownToServer.has(letter)) continue;
    if (folded(letter) !== (byServer.get(letter) ?? letter)) different.push(point.toString(16));
  }
  expect(different).toEqual([]);
});

test("[G19] the server folds whole texts as the client does", async () => {
  const found = await app.sql<{ text: string; folded: string }>(
    "select t as text, holdfast.folded(t) as folded from unnest($1::text[]) t",
    [[...LETTERS, ...naughtyStrings.filter((text) => !text.includes("\0"))]],
  );
  for (const { text, folded: own } of found) expect(own).toBe(folded(text));
});

test("[G19] a search finds the texts that have each of its words, as the client finds them", async () => {
  const texts = [...LETTERS, "Write the REPORT", "report", "", "100 %", "a\u0308 b", `${"long ".repeat(2_000)}end`];
  const withText = Object.fromEntries(texts.map((name, i) => [`s${String(i).padStart(2, "0")}`, { name }]));
  await put({ ...withText, s99: {} });
  const own = Object.keys({ ...withText, s99: {} });
  for (const search of [
    "report WRITE",
    "ÄRGER",
    "ärger",
    "straße",
    "strasse",
    "ΟΔΌΣ",
    "οδος",
    "istanbul",
    "İ",
    "%",
    "_\\",
    "\u030c",
    "end long",
    "b ä",
    "",
    "  ",
  ]) {
    const wanted = own.filter((id) =>
      searchWords(search).every((word) => folded(withText[id]?.name ?? "").includes(word)),
    );
    const answer = await list({ "filter[name][search]": search, ids: own.join(",") });
    expect([search, ids(answer)]).toEqual([search, wanted]);
  }
  expect(ids(await list({ "filter[id][search]": "S0 1", ids: own.join(",") }))).toContain("s01");
  for (const id of own) await call("DELETE", `${things}/${id}`);
});

test.each(["id", "name", "size", "at", "done", "kind", "toString"])(
  "[G4] [G8] pages by %s with a filter: each once, in order",
  async (by) => {
    for (const order of ["asc", "desc"]) {
      const asked = { "filter[count][lte]": "2", order_by: by, order };
      const whole = ids(await list(asked));
      expect(whole).toHaveLength(matching("count", "lte", 2).length);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await list({ ...asked, limit: "7", ...(cursor !== null && { starting_after: cursor }) });
        seen.push(...ids(page));
        cursor = page.body.next_cursor as string | null;
      } while (cursor !== null);
      expect(seen).toEqual(whole);
    }
  },
);

test("[G4] [G38] a cursor of eight long texts fits into a URL, and does not depend on who may see its record by then", async () => {
  const { token } = await app.newOrganization();
  const names = Array.from({ length: 8 }, (_, n) => `text${n}`);
  const fields = Object.fromEntries([...names, "team"].map((name) => [name, { type: "string" }]));
  const models = { wide: { fields, groups: [{ kind: "team", from: "team" }] } };
  expect((await call("POST", "/v1/schema", { token, json: { models } })).status).toBe(201);
  const data = { ...Object.fromEntries(names.map((name) => [name, "😀".repeat(600)])), team: "red" };
  const operations = ["a", "b", "c"].map((id) => ({ action: "create", model: "wide", id, data }));
  expect((await call("POST", "/v1/commits", { token, json: { operations } })).status).toBe(200);
  const red = await app.capability({ participantId: "x", operations: ["wide.read"], syncGroups: ["team:red"] }, token);
  const path = `/v1/models/wide?order_by=${names.join()}&limit=1`;
  const first = await call("GET", path, { token: red.token });
  expect(ids(first)).toEqual(["a"]);
  await call("PATCH", "/v1/models/wide/a", { token, json: { data: { team: "blue" } } });
  await call("POST", "/v1/models/wide/a/archive", { token });
  const next = await call("GET", `${path}&starting_after=${first.body.next_cursor}`, { token: red.token });
  expect(ids(next)).toEqual(["b"]);
});

test("[G8] times of the record are columns too", async () => {
  const [{ createdAt } = { createdAt: "" }] = [(await call("GET", `${things}/t00`)).body as { createdAt?: string }];
  const whole = ids(await list({ "filter[createdAt]": String(createdAt) }));
  expect(whole).toHaveLength(90);
  const later = new Date(Date.parse(String(createdAt)) + 3_600_000).toISOString().replace("Z", "+01:00");
  expect(ids(await list({ createdAt: later.replace(/T(..)/, (_, hour) => `T${hour}`) }))).toEqual(whole);
  expect(ids(await list({ "filter[createdAt][gt]": String(createdAt) }))).toEqual([]);
  await call("PATCH", `${things}/t07`, { json: { data: { toString: "touched" } } });
  expect(ids(await list({ "filter[updatedAt][gt]": String(createdAt) }))).toContain("t07");
  await call("PATCH", `${things}/t07`, { json: { data: { toString: "s0" } } });
});

test("[G8] long texts are compared whole, and sorted by their first 500 characters", async () => {
  const long = `𝕳${"x".repeat(498)}`;
  const texts = { l1: long, l2: `${long}a`, l3: `${long}b`, l4: `${long}bb`, l5: `${long}b${"y".repeat(3_000)}` };
  await put(Object.fromEntries(Object.entries(texts).map(([id, name]) => [id, { name }])));
  const all = Object.entries(texts);
  for (const [, value] of all)
    for (const operator of Object.keys(holds)) {
      const wanted = all.filter(([, text]) => holds[operator]?.(compare("name", text, value))).map(([id]) => id);
      const answer = await list({ [spelled("name", operator)]: value, ids: Object.keys(texts).join(",") });
      expect([operator, value.length, ids(answer)]).toEqual([operator, value.length, wanted]);
    }
  await put({ l0: { name: `${long}bbb` } });
  const page = await list({ order_by: "name", "filter[name][gte]": long, limit: "4" });
  // What begins alike is sorted by id; a cursor that carried the whole text would be too long for an address.
  expect(ids(page)).toEqual(["l1", "l2", "l0", "l3"]);
  expect(String(page.body.next_cursor).length).toBeLessThan(4_000);
  const rest = await list({
    order_by: "name",
    "filter[name][gte]": long,
    starting_after: String(page.body.next_cursor),
  });
  expect(ids(rest).slice(0, 2)).toEqual(["l4", "l5"]);
  for (const id of ["l0", ...Object.keys(texts)]) await call("DELETE", `${things}/${id}`);
});

test("[G8] a default that came later is not in the records from before, and they are not found by it", async () => {
  expect((await push({ late: { type: "number", default: 7 } })).status).toBe(201);
  await put({ d1: {} });
  expect(ids(await list({ late: "7" }))).toEqual(["d1"]);
  expect(ids(await list({ "filter[late][null]": "true" }))).toHaveLength(90);
  expect((await call("GET", `${things}/t00`)).body.data).not.toHaveProperty("late");
  await call("DELETE", `${things}/d1`);
});

test("[G8] a value of another type than the field's counts as none", async () => {
  await put({ w1: {}, w2: {} });
  await app.sql(
    `update holdfast.record set data = '{"id":"w1","name":5,"size":"5","count":true,"at":"2024-02-30T00:00:00Z","done":"true"}' where id = 'w1'`,
  );
  for (const field of ["name", "size", "count", "at", "done"]) {
    expect(ids(await list({ [`filter[${field}][null]`]: "true", ids: "w1,w2" }))).toEqual(["w1", "w2"]);
    expect(ids(await list({ order_by: field, ids: "w1,w2" }))).toEqual(["w1", "w2"]);
  }
  for (const id of ["w1", "w2"]) await call("DELETE", `${things}/${id}`);
});

test("[G9] [H7] a URL with thousands of filters is refused, at any length", async () => {
  const search = (count: number, one: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => one(i)).join("&");
  const asked = async (text: string) => (await call("GET", `${things}?${text}`)).body.code;
  expect(await asked(search(10_000, (i) => `filter[name]=${i}`))).toBe("headers_too_large");
  expect(await asked(search(1_000, () => "name=a"))).toBe("invalid_value");
  expect(await asked(search(limits.listFilters + 1, (i) => `f${i}=1`))).toBe("invalid_value");
});

test("[G9] [H7] nasty strings as names and values of filters find nothing else, and break nothing", async () => {
  const hostile = [
    ...naughtyStrings,
    "a'; drop table holdfast.record; --",
    "name) or (1=1",
    "$1",
    "data->>'name'",
    "x'::text) is null or true --",
  ];
  await put({ nasty: { name: "nasty" } });
  // No more at once than may be searched for: the others would have to wait, and on a slow machine for too long.
  await someAtATime(
    hostile,
    async (text) => {
      const [value, ...names] = await Promise.all([
        list({ "filter[name]": text }),
        list({ [`filter[${text}]`]: "1" }),
        list({ [`filter[name][${text}]`]: "1" }),
        list({ [`filter[name] ${text}`]: "1" }),
      ]);
      if (text.includes("\0")) expect(value.body.code).toBe("invalid_value");
      else expect([text, ids(value)]).toEqual([text, matching("name", "eq", text)]);
      const isColumn = text === "id" || Object.hasOwn(fields, text);
      for (const { status } of isColumn ? names.slice(1) : names) expect([text, status]).toEqual([text, 400]);
      for (const field of ["size", "count", "at", "done"])
        expect((await list({ [`filter[${field}][gte]`]: text })).status).toBeLessThan(500);
    },
    4,
  );
  expect(ids(await list({ name: "nasty" }))).toEqual(["nasty"]);
});

test("[G8] every date-time that may be written has an instant, and nothing else has one", async () => {
  const { isDateTime } = await import("@holdfast/sdk/protocol");
  const pick = <T>(values: readonly T[], i: number) => values[i % values.length] as T;
  const texts = Array.from({ length: 3_000 }, (_, i) => {
    const date = `${pick(["0000", "0001", "1900", "2000", "2023", "2024", "9999", "999"], i)}-${pick(["00", "01", "02", "04", "11", "12", "13"], i * 3)}-${pick(["00", "01", "28", "29", "30", "31", "32"], i * 5)}`;
    const time = `${pick(["00", "12", "23", "24"], i * 7)}:${pick(["00", "59", "60"], i * 11)}:${pick(["00", "59", "60", "59.999999999", "00.5", "1"], i * 13)}`;
    return `${date}${pick(["T", "T", "T", "t", " "], i * 17)}${time}${pick(["Z", "Z", "+23:59", "-00:00", "+24:00", "-15:60", "z", "", "+0100"], i * 19)}`;
  });
  const found = await app.sql<{ text: string; ms: string | null }>(
    "select text, floor(extract(epoch from holdfast.instant(text)) * 1000)::text as ms from unnest($1::text[]) as text",
    [texts],
  );
  let valid = 0;
  for (const { text, ms } of found) {
    // To the microsecond: nine digits of nines are the next second.
    const wanted = isDateTime(text)
      ? Date.parse(text.replace(/\.\d+/, "")) + (text.includes(".5") ? 500 : text.includes(".9") ? 1_000 : 0)
      : undefined;
    if (wanted !== undefined) valid++;
    expect(ms === null ? undefined : Number(ms), String(text)).toEqual(wanted);
  }
  expect(valid).toBeGreaterThan(30);
});

test("[G3] a page deep in a large list costs what the first one costs", async () => {
  const [tenant] = await app.sql<{ tenant: number }>("select tenant from holdfast.head order by sync_id desc limit 1");
  await app.sql(
    `insert into holdfast.record select $1, 'activity', 'a' || lpad(n::text, 6, '0'), 1, '{}', '{}', null, 1, '', now(), now(), ''
     from generate_series(1, 30000) n`,
    [tenant?.tenant],
  );
  const [plan] = await app.sql<{ "QUERY PLAN": { Plan: Record<string, number> }[] }>(
    `explain (analyze, buffers, format json) select id from holdfast.record where tenant = ${tenant?.tenant} and model = 'activity'
     and archived_at is null and id > 'a029000' order by id asc limit 101`,
  );
  expect(plan!["QUERY PLAN"][0]!.Plan["Shared Hit Blocks"]).toBeLessThan(200);
});

test("[G11] a list that takes longer than five seconds is given up: 503, and it may be tried again", async () => {
  const begun = performance.now();
  await app.sql(
    `create or replace function holdfast.number_of(data json, field text) returns float8 language plpgsql as $$ begin perform pg_sleep(1); return 1; end $$`,
  );
  const { status, headers, body } = await list({ "filter[size][gt]": "0" });
  expect(status).toBe(503);
  expect(body.code).toBe("overloaded");
  expect(headers["retry-after"]).toBe("1");
  expect(performance.now() - begun).toBeGreaterThan(4_500);
  expect(ids(await list({ name: "nasty" }))).toEqual(["nasty"]);
});

test("[G11] [G39] other tenants read on, however many slow lists are requested", async () => {
  let answered = 0;
  const slow = Array.from({ length: 20 }, async () => {
    const { status, body } = await list({ "filter[size][gt]": "0" });
    answered++;
    return [status, body.code];
  });
  const running = async () => {
    const [row] = await app.sql<{ n: number }>(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and state = 'active' and query like '%holdfast.number_of%' and pid <> pg_backend_pid()",
    );
    return row?.n;
  };
  await until(async () => expect(await running()).toBe(3));
  // Other reads are answered while slow lists are not, and so are other tenants' lists and parts.
  const elsewhere = async (path: string) => {
    const { status } = await call("GET", path, { token: app.keys.other });
    expect(status).toBe(200);
    expect(answered).toBeLessThan(20);
  };
  await elsewhere("/v1/models/slide?filter[title]=a&order_by=title");
  await elsewhere(`/v1/snapshot?where=${encodeURIComponent('{"slide":{"title":"a"}}')}`);
  let overtook = 0;
  for (let i = 0; i < 20 && answered < 20; i++)
    for (const path of [`${things}/nasty`, `${things}?limit=1`, "/v1/log?limit=1"]) {
      expect((await call("GET", path)).status).toBe(200);
      expect(await running()).toBeLessThanOrEqual(3);
      if (answered < 20) overtook++;
    }
  expect(overtook).toBeGreaterThan(1);
  expect(await Promise.all(slow)).toEqual(Array(20).fill([503, "overloaded"]));
});

test("[H18] a list that takes too long and has no index for its order is 503 with the model and field", async () => {
  await push();
  const holder = await app.hold("lock table holdfast.record in access exclusive mode");
  const list = call("GET", `${things}?order_by=size`);
  await untilBlocked(app);
  // What the time limit of a statement does, at once.
  await app.sql(
    "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  const { status, body } = await list;
  await holder.release();
  expect(status).toBe(503);
  expect(body).toMatchObject({ code: "overloaded", message: expect.stringContaining("thing.size") });
});
