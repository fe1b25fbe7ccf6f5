import type { LogEntry, Reverted } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";

const app = await startApp();
const { call, capability, sql } = app;
const slides = "/v1/models/slide";
const robot = await capability({ operations: ["slide.*"], syncGroups: ["deck:a"], participantId: "robot" });

let made = 0;
const newId = () => `s${++made}`;
async function slide(data: object = {}): Promise<string> {
  const id = newId();
  await call("POST", slides, { json: { id, data: { deckId: "a", title: "One", notes: "-", ...data } } });
  return id;
}
const rowOf = async (id: string) => (await call("GET", `${slides}/${id}`)).body;
const patch = (id: string, data: object, run?: string, token = robot.token) =>
  call("PATCH", `${slides}/${id}`, { token, json: { data, ...(run && { run }) } });
const revert = async (json: object, token = app.keys.live) =>
  (await call("POST", "/v1/revert", { token, json })).body as unknown as Reverted;
const snapshot = async () =>
  (
    await sql<{ row: string }>(
      "select model || id || data::text || coalesce(archived_at::text, '') as row from holdfast.record order by 1",
    )
  ).map(({ row }) => row.replace(/\d{4}-\d\d-\d\d.*$/, "archived"));

test("[RV1] a run after which no one wrote is taken back as a whole, and the revert is a run that is taken back too", async () => {
  const [a, b, c] = [await slide(), await slide(), await slide()];
  await call("POST", `${slides}/${c}/archive`);
  const before = await snapshot();
  const run = "night";
  const d = newId();
  await patch(a, { title: "Two", order: 3 }, run);
  await patch(a, { title: "Three" }, run);
  const said = { token: robot.token, json: { run } };
  await call("POST", slides, { token: robot.token, json: { id: d, data: { deckId: "a" }, run } });
  await call("DELETE", `${slides}/${b}`, said);
  await call("POST", `${slides}/${c}/unarchive`, said);
  const after = await snapshot();
  const dry = await revert({ run, dry: true });
  expect(dry).toMatchObject({
    dry: true,
    run: "revert:night",
    entries: 5,
    records: 4,
    reverted: 4,
    kept: [],
    has_more: false,
  });
  expect(dry.would).toContainEqual({ action: "update", model: "slide", id: a, data: { title: "One", order: 0 } });
  expect(await snapshot()).toEqual(after);
  expect(await revert({ run, reason: "Not asked for" })).toMatchObject({ dry: false, reverted: 4, kept: [] });
  expect((await snapshot()).map(withoutNulls)).toEqual(before);
  const entries = (await call("GET", "/v1/log?run=revert:night&limit=100")).body.data as LogEntry[];
  expect(entries.map(({ verb }) => verb).sort()).toEqual(["archived", "created", "deleted", "updated"]);
  expect(entries[0]).toMatchObject({ reason: "Not asked for" });
  expect(await revert({ run })).toMatchObject({ reverted: 0, kept: [] });
  expect(await revert({ run: "revert:night" })).toMatchObject({ run: "revert:revert:night", reverted: 4, kept: [] });
  expect((await snapshot()).map(withoutNulls)).toEqual(after);
});
const withoutNulls = (row: string) => row.replace(/,"order":null/, "");

test("[RV2] what others changed since stays, and is told; with overwrite it is taken back", async () => {
  const id = await slide();
  await patch(id, { title: "Robot's", notes: "Robot's" }, "mixed");
  await patch(id, { title: "Ann's" }, undefined, app.keys.live);
  const fields = { title: { before: "One", set: "Robot's", now: "Ann's" } };
  expect(await revert({ run: "mixed" })).toMatchObject({
    reverted: 1,
    kept: [{ model: "slide", id, why: "changed", fields }],
  });
  expect((await rowOf(id)).data).toMatchObject({ title: "Ann's", notes: "-" });
  expect(await revert({ run: "mixed", overwrite: true })).toMatchObject({ reverted: 1, kept: [] });
  expect((await rowOf(id)).data).toMatchObject({ title: "One", notes: "-" });
});

test("[RV3] created records are deleted or archived, by choice, unless others have written to them", async () => {
  const ids = [newId(), newId()];
  for (const id of ids)
    await call("POST", slides, { token: robot.token, json: { id, data: { deckId: "a" }, run: "made" } });
  await patch(ids[1] as string, { title: "Ann's" }, undefined, app.keys.live);
  expect(await revert({ run: "made", created: "archive" })).toMatchObject({
    ...{ reverted: 1, kept: [{ id: ids[1], why: "changed", fields: {} }] },
  });
  expect((await rowOf(ids[0] as string)).archivedAt).not.toBe(null);
  expect((await rowOf(ids[1] as string)).archivedAt).toBe(null);
});

test("[RV4] of an erased record nothing comes back, and what the log has no more is told", async () => {
  const [erased, trimmed] = [await slide(), await slide()];
  await patch(erased, { title: "Two" }, "gone");
  await call("DELETE", `${slides}/${erased}?erase=true`);
  await patch(trimmed, { title: "Two" }, "gone");
  const [head] = await sql<{ sync_id: number }>("select max(sync_id)::int as sync_id from holdfast.log");
  await sql("delete from holdfast.log where id = $1 and verb = 'created'", [trimmed]);
  const { kept, reverted } = await revert({ run: "gone" });
  expect(reverted).toBe(0);
  expect(kept).toHaveLength(2);
  expect(kept).toContainEqual({ model: "slide", id: erased, why: "erased" });
  expect(kept).toContainEqual({ model: "slide", id: trimmed, why: "unknown" });
  await sql("update holdfast.head set trimmed_to = $1 where tenant = $2", [
    Number(head?.sync_id) - 1,
    app.tenants.live,
  ]);
  expect((await call("POST", "/v1/revert", { json: { entries: [1, 5] } })).status).toBe(410);
  await sql("update holdfast.head set trimmed_to = 0 where tenant = $1", [app.tenants.live]);
});

test("[RV5] a commit is taken back by its name, and a part of the log by its positions and its actor", async () => {
  const id = await slide();
  await call("PATCH", `${slides}/${id}`, {
    token: robot.token,
    json: { data: { title: "Two" }, clientTxId: "one-commit" },
  });
  expect(await revert({ clientTxId: "one-commit" })).toMatchObject({ entries: 0, reverted: 0 });
  expect(await revert({ clientTxId: "one-commit", actor: "agent:robot" })).toMatchObject({ entries: 1, reverted: 1 });
  const from = Number((await patch(id, { title: "Three" })).body.lastSyncId);
  const to = Number((await patch(id, { notes: "Ann's" }, undefined, app.keys.live)).body.lastSyncId);
  expect(await revert({ entries: [from, to], actor: "agent:robot" })).toMatchObject({
    entries: 1,
    reverted: 1,
    kept: [],
  });
  expect((await rowOf(id)).data).toMatchObject({ title: "One", notes: "Ann's" });
  for (const [json, status] of [
    [{}, 400],
    [{ run: "a", clientTxId: "b" }, 400],
    [{ run: "" }, 400],
    [{ run: "x".repeat(256) }, 400],
    [{ entries: [5, 1] }, 400],
    [{ entries: [9_999_999, 10_000_000] }, 400],
    [{ entries: [1] }, 400],
    [{ run: "a", actor: "ann" }, 400],
    [{ run: "a", created: "keep" }, 400],
  ] as const)
    expect([json, (await call("POST", "/v1/revert", { json })).status]).toEqual([json, status]);
});

test("[RV6] a token takes back only what it may see and write; a token that may only propose proposes it", async () => {
  const [a, b] = [await slide(), await slide({ deckId: "b" })];
  for (const id of [a, b]) await patch(id, { title: "Two" }, "both", app.keys.live);
  expect(await revert({ run: "both" }, robot.token)).toMatchObject({ entries: 1, records: 1, reverted: 1, kept: [] });
  expect((await rowOf(b)).data).toMatchObject({ title: "Two" });
  const reader = await capability({ operations: ["slide.read"], wideScope: true });
  expect(await revert({ run: "both" }, reader.token)).toMatchObject({
    ...{ reverted: 0, kept: [{ id: b, why: "refused", code: "capability_scope_denied" }] },
  });
  const modest = await capability({ operations: ["slide.propose"], wideScope: true });
  expect(await revert({ run: "both" }, modest.token)).toMatchObject({ reverted: 0, proposed: 1, kept: [] });
  expect((await rowOf(b)).data).toMatchObject({ title: "Two" });
  expect(await revert({ run: "both" }, app.keys.other)).toMatchObject({ entries: 0, records: 0 });
});

test("[RV7] 500 commits on 300 records are taken back in commits of up to 100 operations; one refused write holds up no other", async () => {
  const ids = Array.from({ length: 300 }, newId);
  for (let from = 0; from < 300; from += 100)
    await call("POST", "/v1/commits", {
      json: {
        operations: ids
          .slice(from, from + 100)
          .map((id) => ({ action: "create", model: "slide", id, data: { deckId: "a", title: "One" } })),
      },
    });
  for (let from = 0; from < 500; from += 100)
    await call("POST", "/v1/commits/bulk", {
      json: {
        commits: Array.from({ length: 100 }, (_, i) => ({
          ...{ clientTxId: `many-${from + i}`, run: "many" },
          operations: [
            { action: "update", model: "slide", id: ids[(from + i) % 300], data: { title: `t${from + i}` } },
          ],
        })),
      },
    });
  const [claimed] = ids as [string];
  await call("POST", `${slides}/${claimed}/claim`, { token: robot.token, json: {} });
  const done = await revert({ run: "many" });
  expect(done).toMatchObject({
    entries: 500,
    records: 300,
    reverted: 299,
    kept: [{ id: claimed, why: "refused", code: "claim_conflict" }],
  });
  const left = await sql('select 1 from holdfast.record where data::text like \'%"title":"t%\' and id = any($1)', [
    ids,
  ]);
  expect(left).toHaveLength(1);
});

test("[RV4] a record with a longer history than is read stays, and a large one is taken back", async () => {
  const [long, large] = [await slide(), await slide()];
  await patch(long, { title: "Two" }, "long");
  await sql(
    `insert into holdfast.log select (jsonb_populate_record(l, jsonb_build_object('sync_id', l.sync_id + 1000000 + i, 'attribution', null))).*
     from holdfast.log l, generate_series(1, 1001) i where l.id = $1 and l.verb = 'updated'`,
    [long],
  );
  await sql("update holdfast.head set sync_id = 3000000 where tenant = $1", [app.tenants.live]);
  for (let i = 0; i < 40; i++) await patch(large, { notes: `${i}${"x".repeat(500_000)}` }, "long");
  expect(await revert({ run: "long" })).toMatchObject({
    ...{ records: 2, reverted: 0, kept: [{ why: "unknown" }, { why: "unknown" }] },
  });
  const { body } = await patch(large, { notes: "short" }, "short");
  expect(await revert({ entries: [Number(body.lastSyncId), Number(body.lastSyncId)] })).toMatchObject({ reverted: 1 });
});
