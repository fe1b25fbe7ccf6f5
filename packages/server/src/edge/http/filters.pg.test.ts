import { folded } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { type Answer, creates, hundred, startApp } from "../../testing/app.ts";
import { naughtyStrings } from "../../testing/naughty-strings.ts";
import { untilBlocked } from "../../testing/waiting/blocked.ts";

const app = await startApp();
const { call } = app;
const things = "/v1/models/thing";

const fields = { name: { type: "string" }, size: { type: "number", nullable: true } };
const push = async (changes: object = {}) => {
  const models = (await call("GET", "/v1/schema")).body.models as object;
  return call("POST", "/v1/schema", { json: { models: { ...models, thing: { fields: { ...fields, ...changes } } } } });
};
expect((await push()).status).toBe(201);
const list = (parameters: Record<string, string>) =>
  call("GET", `${things}?${new URLSearchParams({ limit: "100", ...parameters })}`);
const ids = ({ status, body }: Answer) => {
  expect(status).toBe(200);
  expect(body.code).toBe(undefined);
  return (body.data as { id: string }[]).map(({ id }) => id);
};

const put = (id: string, name?: string) =>
  call("POST", things, { json: { id, data: name === undefined ? {} : { name } } });
expect((await put("plain", "plain")).status).toBe(200);
expect((await call("POST", "/v1/commits", { json: creates("thing", hundred("t")) })).status).toBe(200);

/** Letters whose lower case is a matter of context, language or version, and texts around them. */
const LETTERS = [
  ...["Ärger", "a\u0308RGER", "STRAẞE Straße", "ΟΔΟΣ οδος οδός", "İSTANBUL ISTANBUL ıstanbul", "Ǆ ǅ ǆ", "K Å", "ÐÞ"],
  ...["ЁЖ", "J\u030c ǰ", "i\u0323\u0307", "Ꭰ ꭰ Ა", "𐐀 𝕳", "a%_\\b"],
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

test("[G8] a default that came later is not in the records from before, and they are not found by it", async () => {
  expect((await push({ late: { type: "number", default: 7 } })).status).toBe(201);
  await put("d1");
  expect(ids(await list({ late: "7" }))).toEqual(["d1"]);
  expect(ids(await list({ "filter[late][null]": "true", ids: "plain,d1" }))).toEqual(["plain"]);
  expect((await call("GET", `${things}/plain`)).body.data).not.toHaveProperty("late");
  await call("DELETE", `${things}/d1`);
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
  expect(ids(await list({ name: "plain" }))).toEqual(["plain"]);
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
    for (const path of [`${things}/plain`, `${things}?limit=1`, "/v1/log?limit=1"]) {
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
