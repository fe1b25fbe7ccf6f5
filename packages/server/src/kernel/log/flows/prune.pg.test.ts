import type { LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { giveTime } from "../../../../../../scripts/testing/give-time.ts";
import { creates, hundred, startApp } from "../../../testing/app.ts";
import { follow } from "../../../testing/stream/stream.ts";
import { receiptKey } from "../../commits/db/receipts.ts";
import { startPruner } from "../../workers/pruner.ts";
import { prune } from "./prune.ts";

const app = await startApp();
const { call, keys, url } = app;
const slides = "/v1/models/slide";
const pool = app.pool();
const pruneAll = async (logDays: number | undefined) =>
  prune(pool, { receiptDays: 30, tokenDays: 30, claimDays: 7, attemptDays: 30, usageDays: 400, logDays });
const tenant = app.tenants.live;
const make = async (id: string, key = id) =>
  Number((await call("POST", slides, { json: { id, data: { deckId: "d" } }, key })).body.lastSyncId);
const age = (days: number, where: string) =>
  app.sql(
    `update holdfast.log set created_at = now() - make_interval(days => ${days}) where tenant = ${tenant} and ${where}`,
  );
const kept = async () =>
  (
    await app.sql<{ n: string }>("select sync_id::text as n from holdfast.log where tenant = $1 order by sync_id", [
      tenant,
    ])
  ).map(({ n }) => Number(n));

test("[I9] a receipt is forgotten after 30 days: its key is new, and the create still is not doubled", async () => {
  const at = await make("i9", "old-key");
  await make("i9-young", "young-key");
  const [written] = await app.sql<{ participant: string }>(
    "select created_by as participant from holdfast.record where id = 'i9'",
  );
  const ageReceipt = (name: string, days: number) =>
    app.sql("update holdfast.receipt set created_at = now() - make_interval(days => $1) where key = $2", [
      days,
      receiptKey({ participant: String(written?.participant), name }),
    ]);
  await ageReceipt("old-key", 31);
  await ageReceipt("young-key", 29);
  // More entries of another tenant than one step deletes.
  await app.sql(
    "insert into holdfast.receipt select 1, 'k' || n, '', '{}', false, now() - interval '40 days' from generate_series(1, 2500) n",
  );
  expect((await pruneAll(undefined)).receipts).toBe(2_501);
  const again = await call("POST", slides, { json: { id: "i9", data: { deckId: "d" } }, key: "old-key" });
  expect(again.headers["idempotent-replayed"]).toBe(undefined);
  expect(again.body.lastSyncId).toEqual(at);
  const young = await call("POST", slides, { json: { id: "i9-young", data: { deckId: "d" } }, key: "young-key" });
  expect(young.headers["idempotent-replayed"]).toBe("true");
});

test("[A18] an ended claim can be read for 7 days and is then deleted; a held claim stays", async () => {
  const claim = async (field: string) =>
    String((await call("POST", `${slides}/i9/claim`, { json: { field, ttl: "1h" } })).body.id);
  const [old, young, held] = [await claim("title"), await claim("notes"), await claim("order")];
  for (const id of [old, young]) await call("DELETE", `/v1/claims/${id}`);
  await app.sql("update holdfast.claim set ended_at = now() - interval '8 days' where id = $1", [old]);
  await app.sql("update holdfast.claim set ended_at = now() - interval '6 days' where id = $1", [young]);
  expect((await pruneAll(undefined)).claims).toBe(1);
  const statusOf = async (id: string) => (await call("GET", `/v1/claims/${id}`)).body.status;
  expect(await Promise.all([old, young, held].map(statusOf))).toEqual([undefined, "released", "active"]);
});

test("[K8] an ended token is listed for 30 more days and is then deleted", async () => {
  const [old, young] = [(await app.capability({ wideScope: true })).id, (await app.capability({ wideScope: true })).id];
  await app.sql("update holdfast.scoped_token set expires_at = now() - interval '31 days' where id = $1", [old]);
  await app.sql("update holdfast.scoped_token set expires_at = now() - interval '29 days' where id = $1", [young]);
  expect((await pruneAll(undefined)).tokens).toBe(1);
  expect((await call("GET", `/v1/capabilities/${old}`)).status).toBe(404);
  expect((await call("GET", `/v1/capabilities/${young}`)).body.status).toBe("expired");
});

test("[L6] without a retention the log is kept whole, however old it is", async () => {
  await age(10_000, "true");
  expect((await pruneAll(undefined)).entries).toBe(0);
  expect(await kept()).toHaveLength(2);
});

test("[L6] [L5] after a trim, a reader from before the first entry must resync, and a reader from there on misses nothing", async () => {
  for (let n = 0; n < 25; n++) await call("POST", "/v1/commits", { json: creates("slide", hundred(`p${n}`)) });
  const head = Number((await call("GET", "/v1/log?limit=1")).body.stamp);
  await age(11, `sync_id <= ${head - 100}`);
  await age(9, `sync_id > ${head - 100}`);
  // Two processes at it at once take nothing twice.
  const both = await Promise.all([pruneAll(10), pruneAll(10)]);
  expect((await pruneAll(10)).entries + both[0].entries + both[1].entries).toBe(head - 100);
  expect(await kept()).toEqual(Array.from({ length: 100 }, (_, i) => head - 99 + i));
  const before = await call("GET", `/v1/log?after=${head - 101}`);
  expect(before.status).toBe(410);
  expect(before.body.code).toBe("resync_required");
  expect(before.body.type).toBe("conflict_error");
  const first = await call("GET", `/v1/log?after=${head - 100}&limit=1000`);
  expect((first.body.data as LogEntry[]).map(({ syncId }) => syncId)).toEqual(await kept());
  const late = await follow(url, keys.live, { since: head - 101 });
  expect(await late.next("resync")).toEqual({ frame: "resync", reason: "trimmed" });
  const there = await follow(url, keys.live, { since: head - 100 });
  await there.reaches(head);
  expect(there.entries).toHaveLength(100);
  await Promise.all([late.close(), there.close()]);
  expect((await call("GET", "/v1/snapshot?limit=1")).status).toBe(200);
});

test("[S8] a write from before the trimming is stale, one from after it is judged by its fields", async () => {
  const readAt = await make("s8");
  await call("PATCH", `${slides}/s8`, { json: { data: { title: "theirs" } } });
  await call("PATCH", `${slides}/s8`, { json: { data: { notes: "theirs" } } });
  const head = Number((await call("GET", `${slides}/s8`)).body.stamp);
  await age(20, `sync_id < ${head}`);
  await pruneAll(10);
  const write = (position: number) =>
    call("PATCH", `${slides}/s8`, { json: { data: { order: 5 }, readAt: position, onStale: "notify" } });
  // The log no longer says that it was the title, so every field conflicts.
  expect((await write(readAt)).body).toMatchObject({ notifications: [{ conflictingFields: ["order"] }] });
  expect((await write(head - 1)).body.status).toBe("confirmed");
});

test("[L6] a head whose trim position is ahead of the deleted entries is caught up, and all entries may be deleted", async () => {
  const head = await make("all-old");
  await app.sql("update holdfast.head set trimmed_to = $2 where tenant = $1", [tenant, head - 1]);
  // A process that ended between saying so and doing it left this behind.
  expect((await pruneAll(10)).entries).toBeGreaterThan(0);
  expect(await kept()).toEqual([head]);
  await age(20, "true");
  await pruneAll(10);
  expect(await kept()).toEqual([]);
  expect((await call("GET", `/v1/log?after=${head}`)).body).toMatchObject({ data: [], stamp: head, has_more: false });
  expect(await make("goes-on")).toBe(head + 1);
  expect((await call("GET", `/v1/log?after=${head}`)).body.data).toHaveLength(1);
});

test("[L5] a reader of a log that is trimmed meanwhile gets a resync, never a gap", async () => {
  for (let n = 0; n < 30; n++) await call("POST", "/v1/commits", { json: creates("slide", hundred(`q${n}`)) });
  const from = (await kept())[0]! - 1;
  // A reader that read the head before the trim sees this: entries are missing, and the head does not say so.
  await app.sql("delete from holdfast.log where tenant = $1 and sync_id between $2 and $3", [
    tenant,
    from + 1_500,
    from + 1_600,
  ]);
  expect((await call("GET", `/v1/log?after=${from}&limit=1000&model=presence`)).body.code).toBe("resync_required");
  const reader = await follow(url, keys.live, { since: from });
  expect(await reader.next("resync")).toEqual({ frame: "resync", reason: "trimmed" });
  expect(reader.position).toBeLessThan(from + 1_500);
  await reader.close();
});

test("[W21] the log is not trimmed beyond what an endpoint has yet to receive, even while the endpoint is disabled", async () => {
  const first = await make("w21-1");
  const json = { url: "https://hooks.invalid/hooks" };
  const { body: endpoint } = await call("POST", "/v1/webhook_endpoints", { json });
  await call("POST", `/v1/webhook_endpoints/${endpoint.id}/disable`);
  const second = await make("w21-2");
  await age(40, "true");
  await pruneAll(30);
  expect((await kept())[0]).toBe(first + 1);
  const from = (n: number) => call("POST", "/v1/webhook_endpoints", { json: { ...json, from: n } });
  expect((await from(first - 1)).body).toMatchObject({ code: "resync_required", param: "from" });
  expect((await from(0)).body).toMatchObject({ cursor: first });
  expect((await from(second + 1)).body).toMatchObject({ code: "read_at_in_future", param: "from" });
  for (const { id } of (await call("GET", "/v1/webhook_endpoints")).body.data as { id: string }[])
    await call("DELETE", `/v1/webhook_endpoints/${id}`);
  await pruneAll(30);
  expect(await kept()).not.toContain(second);
});

test("[L6] the pruner runs again and again, never twice at a time, and survives a failure", async () => {
  let running = 0;
  let runs = 0;
  const failures: unknown[] = [];
  const done = new Promise<void>((resolve) => {
    const worker = startPruner(
      async () => {
        running += 1;
        expect(running).toBe(1);
        // Longer than the pause between two runs.
        await giveTime(12);
        running -= 1;
        runs += 1;
        if (runs === 2) throw new Error("once");
        if (runs === 4) void worker.stop().then(resolve);
      },
      5,
      (error) => failures.push(error),
    );
  });
  await done;
  expect(runs).toBe(4);
  expect(failures.length).toBe(1);
  expect(running).toBe(0);
});
