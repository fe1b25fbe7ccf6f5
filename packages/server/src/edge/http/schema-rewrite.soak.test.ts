import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { giveTime } from "../../../../../scripts/testing/give-time.ts";
import { until } from "../../../../../scripts/testing/until.ts";
import { createLimiter } from "../../kernel/limits/limiter.ts";
import { pushSchema } from "../../kernel/schema/flows/push-schema.ts";
import { builtInHooks } from "../../modules/open-modules.ts";
import { newMasterKey } from "../../server.ts";
import { ADMIN, caller, startApp } from "../../testing/app.ts";
import { sourceProgram } from "../../testing/source-program.ts";
import { grouped, NEW, OLD, type RewrittenTenant, rewriting } from "../../testing/waiting/rewriting.ts";

const masterKeys = [newMasterKey()];
const app = await startApp({ masterKeys });
const second = await app.another();
const { call, databaseUrl, sql } = app;
const ROWS = 3_000;
const { openTenant, settled, freeze, readings } = rewriting(app, ROWS);

const killed: ChildProcess[] = [];
afterAll(() => {
  for (const child of killed) child.kill("SIGKILL");
});

test("[M13] a push that is committed is in all that is read and written, on every server, before its rows are moved", async () => {
  const one = await openTenant();
  const { ask, token, prepared, isRewriting } = one;
  const pushed = ask("POST", "/v1/schema", NEW);
  const frozen = await freeze(one);
  expect((await pushed).status).toBe(201);
  expect(await isRewriting()).toBe(true);
  expect(await prepared()).toEqual(ROWS);

  for (const by of [call, second.call]) {
    const { snapshot, listed } = await readings(one, by);
    expect(snapshot.size).toEqual(ROWS);
    expect(listed.size).toEqual(ROWS);
    expect(listed).toEqual(snapshot);
    expect(snapshot.get("n0003")).toEqual({ id: "n0003", deck: "d3", heading: "note 3", size: "s3" });
    expect((await ask("GET", "/v1/models/note/n0004", undefined, by)).body.data).toMatchObject({ heading: "note 4" });
    const filtered = await ask("GET", "/v1/models/note?filter[heading]=note%207", undefined, by);
    expect(filtered.body.data).toEqual([{ id: "n0007", deck: "d7", heading: "note 7", size: "s0" }]);
    const ofGroup = (await ask("GET", "/v1/snapshot?group=deck:s3&limit=10000", undefined, by)).text.split("\n");
    expect(ofGroup.filter((line) => line.includes('"id":"n'))).toHaveLength(Math.ceil((ROWS - 2) / 7));
  }
  const json = { participantId: "agent", operations: ["note.*"], syncGroups: ["deck:s5"] };
  const scoped = String((await call("POST", "/v1/capabilities", { token, json })).body.token);
  const by = (method: string, path: string, data?: object) =>
    call(method, path, { token: scoped, ...(data && { json: { data } }) });
  expect((await by("PATCH", "/v1/models/note/n0005", { heading: "by a scope" })).status).toBe(200);
  expect((await by("PATCH", "/v1/models/note/n0006", { heading: "by a scope" })).status).not.toBe(200);
  expect((await by("POST", "/v1/models/note/n0012/claim")).status).toBe(201);

  expect((await ask("PATCH", "/v1/models/note/n0008", { data: { size: "s6" } })).status).toBe(200);
  expect((await ask("DELETE", "/v1/models/note/n0009?erase=true")).status).toBe(200);
  expect(await sql("select from holdfast.rewritten_record where tenant = $1 and id = 'n0009'", [one.tenant])).toEqual(
    [],
  );
  expect((await ask("POST", "/v1/models/note", { id: "n0009", data: { heading: "again" } })).status).toBe(200);
  const after = (await readings(one)).snapshot;
  expect(after.get("n0005")).toMatchObject({ heading: "by a scope", size: "s5" });
  expect(after.get("n0008")).toEqual({ id: "n0008", deck: "d8", heading: "note 8", size: "s6" });
  expect(after.get("n0009")).toEqual({ id: "n0009", heading: "again" });

  await frozen.release();
  await settled(one);
  expect((await readings(one)).snapshot).toEqual(after);
  // What was hidden comes back, of records that were written in between as of the others.
  const whole = grouped({ ...NEW.models.note?.fields, rest: { type: "string" } }, "size");
  expect((await ask("POST", "/v1/schema", { models: whole })).status).toBe(201);
  const back = (await readings(one)).snapshot;
  expect(back.get("n0008")).toMatchObject({ rest: "rest 8" });
  expect(back.get("n0010")).toMatchObject({ rest: "rest 10" });
});

test("[M13] writes during a push are not lost, and no record stays in the old form", async () => {
  const one = await openTenant();
  const { ask, tenant } = one;
  let pushing = true;
  const last = new Map<string, string>();
  const writer = async (name: number, by: typeof call) => {
    for (let n = 0; pushing && n < ROWS; n++) {
      const id = `n${String(1 + ((n * 37 + name * 500) % ROWS)).padStart(4, "0")}`;
      if (last.has(id)) continue;
      const size = `w${name}-${n}`;
      const { status } = await ask("PATCH", `/v1/models/note/${id}`, { data: { size } }, by);
      expect(status).toBe(200);
      last.set(id, size);
    }
  };
  const writers = [writer(0, call), writer(1, call), writer(2, second.call)];
  expect((await ask("POST", "/v1/schema", NEW)).status).toBe(201);
  await settled(one);
  pushing = false;
  await Promise.all(writers);
  expect(last.size).toBeGreaterThan(20);
  const { snapshot } = await readings(one);
  for (const [id, size] of last) expect(snapshot.get(id)).toMatchObject({ size });
  expect(
    await sql(
      `select id, data, hidden, groups from holdfast.record where tenant = $1 and model = 'note'
         and (data::jsonb ? 'title' or data::jsonb ? 'rest' or not data::jsonb ? 'heading' or hidden is null or groups <> array['deck:' || (data ->> 'size')])`,
      [tenant],
    ),
  ).toEqual([]);
});

test("[ER1] [M12] a record that is erased while a push prepares records is in no prepared form, at no time", async () => {
  const one = await openTenant();
  const { ask, tenant, prepared } = one;
  // The push has saved the first records, has read those around this one, and waits before it saves them.
  const holder = await app.connect();
  await holder.query("begin");
  await holder.query("insert into holdfast.rewritten_record values ($1, 'note', 'n0100', 0, null, null, '{}')", [
    tenant,
  ]);
  const pushed = ask("POST", "/v1/schema", NEW);
  await until(async () => expect(await prepared()).toBeGreaterThan(0));
  await until(async () =>
    expect(await sql("select from pg_stat_activity where wait_event = 'transactionid'")).toHaveLength(1),
  );
  const ids = ["n0001", "n0099", "n0101"];
  const erased = Promise.all(ids.map((id) => ask("DELETE", `/v1/models/note/${id}?erase=true`)));
  // Some can wait for the push, others not.
  await Promise.race([erased, giveTime(500)]);
  // In line for the push's lock before the push goes on.
  const freezing = freeze(one);
  await until(async () =>
    expect(await sql("select from pg_stat_activity where wait_event = 'advisory'")).toHaveLength(1),
  );
  await holder.query("rollback");
  expect((await erased).map(({ status }) => status)).toEqual([200, 200, 200]);
  const left = () => sql("select id from holdfast.rewritten_record where tenant = $1 and id = any($2)", [tenant, ids]);
  expect(await left()).toEqual([]);
  const frozen = await freezing;
  expect((await pushed).status).toBe(201);
  expect(await prepared()).toEqual(ROWS - ids.length);
  expect(await left()).toEqual([]);
  await frozen.release();
});

async function killable(): Promise<{ child: ChildProcess; url: string }> {
  const { flags, file } = sourceProgram(
    fileURLToPath(new URL("../../testing/programs/server-process.ts", import.meta.url)),
  );
  const options = { databaseUrl, adminToken: ADMIN, masterKeys, port: 0 };
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  killed.push(child);
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    const found = /\{"object":"listening","url":"([^"]+)"\}/.exec(chunk.toString());
    if (found) return { child, url: String(found[1]) };
  }
  throw new Error("The server ended.");
}

/** Pushes the new schema to a process that is killed when it has prepared some of the records. */
async function killWhilePreparing({ token, prepared }: RewrittenTenant): Promise<void> {
  const { child, url } = await killable();
  const pushed = caller(url, token)("POST", "/v1/schema", { json: NEW }).catch(() => "cut");
  await until(async () => expect(await prepared()).toBeGreaterThan(0));
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await pushed).toBe("cut");
}

test("[M14] a process that is killed while it prepares leaves the old schema; the next push lands", async () => {
  const one = await openTenant();
  const { ask } = one;
  await killWhilePreparing(one);
  expect((await ask("GET", "/v1/schema")).body.version).toBe(1);
  expect((await ask("GET", "/v1/models/note/n0001")).body.data).toMatchObject({ title: "note 1" });
  // This write comes after the push prepared the record.
  expect((await ask("PATCH", "/v1/models/note/n0001", { data: { title: "later" } })).status).toBe(200);
  expect((await ask("POST", "/v1/schema", NEW)).status).toBe(201);
  await settled(one);
  expect((await ask("GET", "/v1/models/note/n0001")).body.data).toMatchObject({ heading: "later" });
});

test("[M14] records that a killed push had prepared are not used by a different push", async () => {
  const one = await openTenant();
  const { ask } = one;
  // The next push leaves this record as it is.
  expect((await ask("POST", "/v1/models/note", { id: "bare", data: { deck: "d1", title: "bare" } })).status).toBe(200);
  await killWhilePreparing(one);
  const { rest, ...kept } = OLD.note?.fields ?? {};
  expect((await ask("POST", "/v1/schema", { models: grouped(kept), force: true })).status).toBe(201);
  await settled(one);
  const shown = async (id: string) => (await ask("GET", `/v1/models/note/${id}`)).body.data;
  expect(await shown("bare")).toEqual({ id: "bare", deck: "d1", title: "bare" });
  expect(await shown("n0001")).toEqual({ id: "n0001", deck: "d1", title: "note 1", size: "s1" });
});

test("[M14] a process that is killed when its push is committed leaves the rest to others", async () => {
  const one = await openTenant();
  const { ask, prepared, isRewriting, token } = one;
  const { child, url } = await killable();
  const pushed = caller(url, token)("POST", "/v1/schema", { json: NEW });
  const frozen = await freeze(one);
  expect((await pushed).status).toBe(201);
  child.kill("SIGKILL");
  await once(child, "exit");
  await frozen.release();
  expect(await isRewriting()).toBe(true);
  expect(await prepared()).toEqual(ROWS);
  const more = { ...NEW.models, third: { fields: {} } };
  expect((await ask("POST", "/v1/schema", { models: more })).status).toBe(201);
  await settled(one);
  expect((await readings(one)).snapshot.get("n0001")).toMatchObject({ heading: "note 1" });
});

test("[M14] [O5] a server that stops gives up a push that prepares, and answers it", async () => {
  const one = await openTenant();
  const third = await app.another();
  const pushed = one.ask("POST", "/v1/schema", NEW, third.call);
  await until(async () => expect(await one.prepared()).toBeGreaterThan(0));
  await third.server.close();
  expect((await pushed).body).toMatchObject({ code: "unavailable" });
  expect((await one.ask("GET", "/v1/schema")).body.version).toBe(1);
});

test("[M14] [M39] if two servers get a push at once, one waits for the other", async () => {
  const one = await openTenant();
  const { ask } = one;
  const back = { models: OLD, renames: [{ model: "note", from: "heading", to: "title" }], force: true };
  const same = await Promise.all([ask("POST", "/v1/schema", NEW), ask("POST", "/v1/schema", NEW, second.call)]);
  expect(same.map(({ status }) => status).sort()).toEqual([200, 201]);
  // At once behind it, while its rows are being moved.
  expect((await ask("POST", "/v1/schema", back, second.call)).status).toBe(201);
  await settled(one);
  const { body } = await ask("GET", "/v1/models/note/n0003");
  expect(body.data).toEqual({ id: "n0003", deck: "d3", title: "note 3", rest: "rest 3", size: "s3" });
});

test("[M14] [M39] a push does not wait for ever for another one, and meanwhile keeps no other tenant's waiting", async () => {
  const [one, two, other] = [await openTenant(), await openTenant(), await openTenant()];
  const holder = await app.connect();
  for (const { tenant } of [one, two]) await holder.query("select pg_advisory_lock(4270005, $1)", [tenant]);
  const pool = app.pool();
  expect(await pushSchema(pool, builtInHooks, one.tenant, NEW, { patienceMs: 300 })).toMatchObject({
    code: "schema_busy",
  });
  const preparing = createLimiter({ most: 1 });
  preparing.tryEnter(two.tenant);
  expect(await pushSchema(pool, builtInHooks, one.tenant, NEW, { patienceMs: 300, preparing })).toMatchObject({
    code: "schema_busy",
  });
  expect(preparing.waiting).toBe(0);
  const waiting = [one, two].map(({ ask }) => ask("POST", "/v1/schema", NEW));
  await giveTime(500);
  expect((await other.ask("POST", "/v1/schema", NEW)).status).toBe(201);
  expect((await one.ask("GET", "/v1/schema")).body.version).toBe(1);
  await holder.query("select pg_advisory_unlock_all()");
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([201, 201]);
});

test("[M7] [M13] a field that comes back while the push that hid it still moves rows has its values", async () => {
  const one = await openTenant();
  const { ask } = one;
  const { rest, ...kept } = OLD.note?.fields ?? {};
  const pushed = ask("POST", "/v1/schema", { models: grouped(kept), force: true });
  const frozen = await freeze(one);
  expect((await pushed).status).toBe(201);
  const back = ask("POST", "/v1/schema", { models: OLD });
  // What touches no records need not wait for them.
  expect((await ask("GET", "/v1/schema")).body.version).toBe(2);
  await frozen.release();
  expect((await back).status).toBe(201);
  await settled(one);
  expect((await ask("GET", "/v1/models/note/n0003")).body.data).toMatchObject({ rest: "rest 3" });
  const snapshot = (await ask("GET", "/v1/snapshot?limit=10000")).text;
  expect(snapshot.match(/"rest":/g)).toHaveLength(ROWS);
});

test("[M12] large records that were written meanwhile are prepared beside the writers, too", async () => {
  const one = await openTenant();
  const { ask, tenant, prepared } = one;
  const [first, second] = [await app.connect(), await app.connect()];
  await first.query("begin");
  await first.query("insert into holdfast.rewritten_record values ($1, 'note', 'n0100', 0, null, null, '{}')", [
    tenant,
  ]);
  const pushed = ask("POST", "/v1/schema", NEW);
  await until(async () => expect(await prepared()).toBeGreaterThan(0));
  const large = Array.from({ length: 6 }, () => randomBytes(450_000).toString("hex"));
  for (const [i, rest] of large.entries())
    expect((await ask("PATCH", `/v1/models/note/n000${i + 1}`, { data: { rest } })).status).toBe(200);
  // The next pass over them waits here, and so would whatever held the head's lock meanwhile.
  await second.query("begin");
  await second.query("select from holdfast.rewritten_record where tenant = $1 and id = 'n0001' for update", [tenant]);
  await first.query("rollback");
  await until(async () =>
    expect(
      await sql("select from pg_stat_activity where wait_event_type = 'Lock' and query like '%rewritten_record%'"),
    ).toHaveLength(1),
  );
  expect((await ask("PATCH", "/v1/models/note/n0500", { data: { title: "not held up" } })).status).toBe(200);
  await second.query("rollback");
  expect((await pushed).status).toBe(201);
  await settled(one);
  expect((await ask("GET", "/v1/models/note/n0500")).body.data).toMatchObject({ heading: "not held up" });
  const [row] = await sql<{ rest: string }>(
    "select hidden->>'rest' as rest from holdfast.record where tenant = $1 and id = 'n0006'",
    [tenant],
  );
  expect(row?.rest === large[5]).toBe(true);
});
