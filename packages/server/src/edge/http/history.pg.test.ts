import type { LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { session } from "../../kernel/connection/pool.ts";
import { readRecordHistory } from "../../kernel/log/db/log.ts";
import { type Answer, startApp } from "../../testing/app.ts";
import { readPlan } from "../../testing/read-plan.ts";

const app = await startApp();
const { call } = app;
const slides = "/v1/models/slide";
const history = (id: string, search = "") => call("GET", `${slides}/${id}/history${search}`);
const entries = ({ status, body }: Answer) => {
  expect(status).toBe(200);
  expect(body.code).toBe(undefined);
  return body.data as LogEntry[];
};
const tenant = app.tenants.live;

test("[S8] many entries on one record are still judged field by field, and then as a whole", async () => {
  const make = async (json: object) => Number((await call("POST", slides, { json })).body.lastSyncId);
  const readAt = await make({ id: "s8", data: { title: "a" } });
  const commit = (operations: object[]) => call("POST", "/v1/commits", { json: { operations } });
  const change = async (data: object) => (await call("PATCH", `${slides}/s8`, { json: { data, readAt } })).status;
  const counts = Array.from({ length: 1_005 }, (_, i) => ({
    action: "update",
    model: "slide",
    id: "s8",
    data: { order: i + 1 },
  }));
  for (let i = 0; i < 900; i += 100) await commit(counts.slice(i, i + 100));
  expect(await change({ title: "a2" })).toBe(200);
  for (let i = 900; i < 1_005; i += 100) await commit(counts.slice(i, i + 100));
  // More entries than are looked at: the field is not known to be unchanged.
  expect(await change({ notes: "n" })).toBe(409);
});

test("[G13] the history of a trimmed log has the remaining entries, and says so", async () => {
  const make = async (id: string) =>
    Number((await call("POST", slides, { json: { id, data: { deckId: "d1" } } })).body.lastSyncId);
  await make("h4");
  await make("gone");
  await call("DELETE", `${slides}/gone`);
  await make("h5");
  const cut = Number((await call("PATCH", `${slides}/h4`, { json: { data: { title: "old" } } })).body.lastSyncId);
  const kept = Number((await call("PATCH", `${slides}/h4`, { json: { data: { title: "new" } } })).body.lastSyncId);
  await app.sql("update holdfast.head set trimmed_to = $2 where tenant = $1", [tenant, cut]);
  await app.sql("delete from holdfast.log where tenant = $1 and sync_id <= $2", [tenant, cut]);
  const answer = await history("h4");
  expect(entries(answer).map(({ syncId }) => syncId)).toEqual([kept]);
  expect(answer.body.trimmedTo).toBe(cut);
  expect((await history("h5")).body).toMatchObject({ data: [], has_more: false, next_cursor: null, trimmedTo: cut });
  expect((await history("gone")).status).toBe(404);
});

test("[G12] a page deep in a long history costs what the first one costs", async () => {
  await app.sql(
    `insert into holdfast.log select $1, n, 'slide', 'long', 'updated', '{}', '[]', '{}', null, '', null, null, '', 'system', null, now()
     from generate_series(1000001, 1030000) n`,
    [tenant],
  );
  // What autovacuum does sooner or later; until then an index may read its list of new entries.
  await app.sql("vacuum analyze holdfast.log");
  const client = await app.connect(session);
  // The statement itself, explained instead of run.
  const explained: unknown[] = [];
  const explain = async (statement: { text: string; values: unknown[] }) => {
    explained.push((await readPlan(client, statement)).blocks < 50);
    return { rows: [] };
  };
  const question = { tenant, model: "slide", id: "long", groups: undefined, limit: 100, bytes: 4_194_304 };
  for (const descending of [false, true])
    for (const after of [undefined, 1_015_000])
      await readRecordHistory({ query: explain } as never, { ...question, descending, after });
  expect(explained).toEqual([true, true, true, true]);
});
