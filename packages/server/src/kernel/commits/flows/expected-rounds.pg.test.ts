import { beforeEach, expect, test, vi } from "vitest";
import { type Answer, type Asking, referenceSchema, startApp } from "../../../testing/app.ts";
import { untilBlocked } from "../../../testing/waiting/blocked.ts";
import { countReceived } from "../../../testing/waiting/metrics.ts";
import { wholeLog } from "../../../testing/whole-log.ts";

// A round waits for a held head as long as it may, instead of being set aside after a moment.
const app = await startApp({ metricsLoopback: true, database: { lockMs: 4_500 } });
// The second server's hints go nowhere: what the first one expects stays wrong until it is told so by the save.
await app.sql("create schema mute");
await app.sql("create function mute.pg_notify(text, text) returns void language sql as ''");
await app.sql(
  `do $$ begin execute format('alter database %I set search_path = mute, pg_catalog', current_database()); end $$`,
);
const second = await app.another();

// Counts the rounds that were judged by an expected head, also those that were wrong: a sequence is never rolled back.
await app.sql(`create sequence holdfast.tries;
  alter function holdfast.expect(boolean, text) rename to expect_as_shipped;
  create function holdfast.expect(met boolean, otherwise text) returns boolean language plpgsql as $$
  begin if otherwise like '%head%' then perform nextval('holdfast.tries'); end if; return holdfast.expect_as_shipped(met, otherwise); end $$`);

const tries = async (): Promise<number> => {
  const [row] = await app.sql<{ n: string }>(
    "select case when is_called then last_value else 0 end as n from holdfast.tries",
  );
  return Number(row?.n);
};

const clockOfDatabase = async (): Promise<number> => {
  const [row] = await app.sql<{ ms: number }>("select extract(epoch from clock_timestamp())::float8 * 1000 as ms");
  return Math.trunc(row?.ms ?? 0);
};

let made = 0;
/** A test may be tried again. */
const fresh = (name: string): string => `${name}-${++made}`;
const create = (json: object, more: Asking = {}, call = app.call) =>
  call("POST", "/v1/models/slide", { json, key: `key-${++made}`, ...more });

// What a server expects grows old by the clock. It stands still, so that a slow machine has the same tests.
let at = Date.now();
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: at }));

/** Until the first server judges by what it expects: for a second after it was wrong, and once a second, it looks. */
async function warm(): Promise<void> {
  at += 1_001;
  vi.setSystemTime(at);
  const before = await tries();
  for (let looks = 0; (await tries()) === before; looks++) {
    expect(looks).toBeLessThan(3);
    expect((await create({ id: fresh("warm"), data: {} })).status).toBe(200);
  }
}

/** Returns the response of a server that judged by an expected head. */
async function whenWarm(ask: () => Promise<Answer>, between?: () => Promise<unknown>): Promise<Answer> {
  await warm();
  await between?.();
  const before = await tries();
  const answer = await ask();
  expect(await tries()).toBe(before + 1);
  return answer;
}

/**
 * Call it right after a response. Whether the expected head was right: after a wrong one the server expects none for a
 * second.
 */
async function wasRight(): Promise<boolean> {
  const before = await tries();
  await create({ id: fresh("next"), data: {} });
  return (await tries()) === before + 1;
}

test("[L10] creates that follow each other need one look at their tenant, and stand in the log as any other", async () => {
  const begun = await clockOfDatabase();
  await warm();
  const before = await tries();
  const ids = Array.from({ length: 40 }, () => fresh("steady"));
  const receipts: Answer[] = [];
  for (const id of ids) receipts.push(await create({ id, data: { deckId: "d1", title: id } }));
  // The clock stands still, so that no look is due: every round is judged by what is expected.
  expect((await tries()) - before).toBe(40);
  const log = await wholeLog(app.call);
  expect(log.map(({ syncId }) => syncId)).toEqual(log.map((_, i) => i + 1));
  for (const [i, { body }] of receipts.entries())
    expect(log[Number(body.lastSyncId) - 1]).toMatchObject({ id: ids[i], verb: "created" });
  const times = log.map(({ createdAt }) => createdAt);
  expect(times).toEqual([...times].sort());
  expect(Date.parse(times.at(-1) ?? "")).toBeGreaterThanOrEqual(begun);
  expect(Date.parse(times.at(-1) ?? "")).toBeLessThanOrEqual(await clockOfDatabase());
  const { body } = await app.call("GET", `/v1/models/slide/${ids[7]}`);
  expect(body.data).toMatchObject({ title: ids[7] });
});

test("[L10] [I1] a key that is there after all is answered by its receipt, byte for byte", async () => {
  const first = await create({ id: "again", data: {} }, { key: "again" });
  const answer = await whenWarm(() => create({ id: "again", data: {} }, { key: "again" }));
  expect(answer.status).toBe(200);
  expect(answer.text).toEqual(first.text);
  expect(answer.headers["idempotent-replayed"]).toBe("true");
  const other = await whenWarm(() => create({ id: "again", data: { title: "another" } }, { key: "again" }));
  expect(other.status).toBe(409);
  expect(other.body.code).toBe("idempotency_conflict");
});

test("[L10] a record that is there after all is not made again", async () => {
  await create({ id: "there", data: { title: "first" } });
  const answer = await whenWarm(() => create({ id: "there", data: { title: "second" } }));
  expect(answer.status).toBe(409);
  expect(answer.body.code).toBe("already_exists");
  expect((await app.call("GET", "/v1/models/slide/there")).body.data).toMatchObject({ title: "first" });
});

test("[L10] a create with readAt needs no load either", async () => {
  const id = fresh("read");
  const answer = await whenWarm(() => create({ id, data: { title: "read" }, readAt: 0, onStale: "reject" }));
  expect(answer.status).toBe(200);
  expect(answer.body.status).toBe("confirmed");
  expect(await wasRight()).toBe(true);
  expect((await app.call("GET", `/v1/models/slide/${id}`)).body.data).toMatchObject({ title: "read" });
});

test.each([
  { onStale: "reject", status: 409, held: undefined },
  { onStale: "notify", status: 200, held: "true" },
  { onStale: "overwrite", status: 200, held: undefined },
])("[L10] a record that came and went since it was read is stale under $onStale", async ({ onStale, status, held }) => {
  const id = fresh("gone");
  const readAt = (await create({ id: fresh("before"), data: {} })).body.lastSyncId;
  const other = { token: (await app.newKey()).token };
  await create({ id, data: {} }, other);
  await app.call("DELETE", `/v1/models/slide/${id}`, { ...other, key: fresh("delete") });
  const body = { id, data: { title: "mine" }, readAt, onStale };
  const answer = await whenWarm(() => create(body));
  expect(answer.status).toEqual(status);
  expect(answer.headers["holdfast-held"]).toEqual(held);
  expect(await wasRight()).toBe(onStale === "overwrite");
  // Read after it had gone, it is not.
  const later = fresh("gone");
  const end = Number((await create({ id: later, data: {} }, other)).body.lastSyncId) + 1;
  await app.call("DELETE", `/v1/models/slide/${later}`, { ...other, key: fresh("delete") });
  const seen = await whenWarm(() => create({ ...body, id: later, readAt: end }));
  expect(seen.status).toBe(200);
  expect(seen.body.status).toBe("confirmed");
  expect(await wasRight()).toBe(true);
});

test("[L1] [L10] entries that another server wrote meanwhile come first", async () => {
  const [theirs, ours] = [fresh("theirs"), fresh("ours")];
  const answer = await whenWarm(
    () => create({ id: ours, data: {} }),
    () => create({ id: theirs, data: {} }, {}, second.call),
  );
  expect(answer.status).toBe(200);
  expect((await wholeLog(app.call)).slice(-2).map(({ id }) => id)).toEqual([theirs, ours]);
});

test("[L10] a schema that another server took meanwhile is judged by", async () => {
  const slide = referenceSchema.models.slide as { fields: object };
  const id = fresh("subtitled");
  const models = {
    ...referenceSchema.models,
    slide: { ...slide, fields: { ...slide.fields, subtitle: { type: "string", default: "none" } } },
  };
  const answer = await whenWarm(
    () => create({ id, data: {} }),
    () => second.call("POST", "/v1/schema", { json: { models } }),
  );
  expect(answer.status).toBe(200);
  expect((await app.call("GET", `/v1/models/slide/${id}`)).body.data).toMatchObject({ subtitle: "none" });
});

test("[L10] claims elsewhere are no reason to look, and what is claimed is not made again", async () => {
  const holder = await app.newKey();
  await create({ id: "held", data: {} });
  const claimed = await second.call("POST", "/v1/claims", {
    token: holder.token,
    json: { target: { model: "slide", id: "held" } },
  });
  expect(claimed.status).toBeLessThan(300);
  const free = await whenWarm(() => create({ id: fresh("free"), data: {} }));
  expect(free.status).toBe(200);
  const answer = await whenWarm(() => create({ id: "held", data: { title: "mine" } }));
  const cold = await create({ id: "held", data: { title: "mine" } }, {}, second.call);
  expect(cold.status).toBe(409);
  expect(answer.status).toEqual(cold.status);
  expect(answer.body.code).toEqual(cold.body.code);
});

test("[L8] [L10] if a round fails, the rounds behind it lose no write", async () => {
  await warm();
  const before = { log: (await wholeLog(app.call)).length, tries: await tries() };
  await app.sql(
    "alter table holdfast.log drop constraint if exists poison, add constraint poison check (id not like 'poison%')",
  );
  const confirmed = await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      const ids: string[] = [];
      for (let n = 0; n < 20; n++) {
        const id = fresh((writer + n) % 9 === 0 ? "poison" : "sound");
        // The helper takes any 500 for a broken promise; here it is the promise.
        const answer = await create({ id, data: {} }).catch(() => undefined);
        expect(answer?.status).toBe(id.startsWith("poison") ? undefined : 200);
        if (answer) ids.push(id);
      }
      return ids;
    }),
  );
  await app.sql("alter table holdfast.log drop constraint poison");
  expect(await tries()).toBeGreaterThan(before.tries);
  const log = await wholeLog(app.call);
  const written = log.slice(before.log).map(({ id }) => id);
  expect(written.sort()).toEqual(confirmed.flat().sort());
  expect(log.at(-1)?.syncId).toBe(log.length);
});

test("[L10] a refused commit is refused by the loaded data, and no other commit fails with it", async () => {
  await warm();
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, i) =>
      create(i === 4 ? { id: "wrong", data: { order: "first" } } : { id: fresh("right"), data: {} }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i === 4 ? 400 : 200)));
  // Under a key that was confirmed before, also what would be refused now is a replay, or a conflict.
  const answer = await create({ id: "wrong", data: { order: "first" } }, { key: "again" });
  expect(answer.status).toBe(409);
  expect(answer.body.code).toBe("idempotency_conflict");
});

test("[L1] [L10] a moved head is noticed by its number, even if its log entry was trimmed", async () => {
  let theirs = 0;
  const answer = await whenWarm(
    () => create({ id: fresh("ours"), data: {} }),
    async () => {
      const id = fresh("trimmed");
      theirs = Number((await create({ id, data: {} }, {}, second.call)).body.lastSyncId);
      await app.sql("delete from holdfast.log where id = $1", [id]);
    },
  );
  expect(answer.status).toBe(200);
  expect(answer.body.lastSyncId).toEqual(theirs + 1);
});

test("[L10] a log that was replaced meanwhile is the one that the receipt names", async () => {
  const log = "log_of_another_life";
  const answer = await whenWarm(
    () => create({ id: fresh("replaced"), data: {} }),
    () =>
      app.sql(
        "update holdfast.head h set log_id = $1 from holdfast.tenant w where w.id = h.tenant and w.organization = $2 and w.livemode",
        [log, app.organization],
      ),
  );
  expect(answer.status).toBe(200);
  expect(answer.body.logId).toEqual(log);
});

test("[L1] [L12] two rounds on their way do not pass over what another server wrote between them", async () => {
  await warm();
  const [ours, theirs] = [fresh("device"), fresh("device")];
  const write = (clientId: string, name: string, call = app.call, reads: readonly object[] = []) =>
    call("POST", "/v1/commits", {
      json: {
        clientTxId: fresh("ctx"),
        clientId,
        operations: [{ action: "create", model: "slide", id: fresh(name), data: { deckId: "d" } }],
        reads,
      },
    });
  const readAt = Number((await write(ours, "before")).body.lastSyncId);
  await warm();
  await write(ours, "latest");
  const held = await app.hold("select from holdfast.head for update");
  const foreign = write(theirs, "theirs", second.call);
  await untilBlocked(app, 1);
  // The first round waits for the head, behind the other server; the second is sent behind it.
  const first = write(ours, "first");
  await untilBlocked(app, 2);
  const received = await countReceived(app.call);
  const rest = Array.from({ length: 4 }, () => write(ours, "behind"));
  await received.reaches(4);
  await held.release();
  const [other, ...own] = await Promise.all([foreign, first, ...rest]);
  for (const { status } of [other, ...own]) expect(status).toBe(200);
  const [head] = await app.sql<{ other: string }>(
    "select other_sync_id as other from holdfast.head order by sync_id desc limit 1",
  );
  expect(Number(head?.other)).toBe(other.body.lastSyncId);
  const premise = [{ group: `org:${app.organization}`, readAt, onStale: "reject" }];
  const answer = await write(ours, "premise", app.call, premise);
  expect(answer.body.code).toBe("stale_context");
});
