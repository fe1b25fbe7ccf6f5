import { type CommitReceipt, serverLimits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { singleCommit } from "../../../edge/http/commit-requests.ts";
import { builtInHooks } from "../../../modules/open-modules.ts";
import { type Call, startApp } from "../../../testing/app.ts";
import { freezingProxy } from "../../../testing/freezing-proxy.ts";
import { untilBlocked } from "../../../testing/waiting/blocked.ts";
import { wholeLog } from "../../../testing/whole-log.ts";
import { isRefusal } from "../../refusal.ts";
import { createSchemaCache } from "../../schema/flows/schema-cache.ts";
import type { Principal } from "../../tokens/rules/participant.ts";
import { createLane, type LaneOptions } from "./commit-lane.ts";
import { createCommitLanes, type LanesOptions } from "./commit-lanes.ts";
import { hostedRounds } from "./commit-round.ts";
import { createKnownHeads } from "./known-heads.ts";
import type { Loaded } from "./load-round.ts";

const app = await startApp();
const second = await app.another();
const callers: readonly Call[] = [app.call, second.call];
const WRITERS = 32;
const WRITES = 25;

interface Written {
  readonly writer: number;
  readonly id: string;
  readonly asked: number;
  readonly answered: number;
  readonly receipt: CommitReceipt;
}

test("[L1] [L2] 32 writers over two servers: no holes, every acknowledged write once and where its receipt says, in real-time order", async () => {
  const tokens = await Promise.all(Array.from({ length: WRITERS }, () => app.newKey()));
  const done: Written[] = [];
  await Promise.all(
    tokens.map(async ({ token }, writer) => {
      for (let n = 0; n < WRITES; n++) {
        const id = `w${writer}-${n}`;
        const call = callers[(writer + n) % 2]!;
        const asked = performance.now();
        const own = { action: "create", model: "slide", id, data: { deckId: `d${n % 3}`, title: id } };
        // Every third commit touches a record that all fight for, too.
        const shared = {
          action: n === 0 ? "create" : "update",
          model: "document",
          id: `shared${n === 0 ? writer : n % 2}`,
          data: { title: id },
        };
        const { body, status } = await call("POST", "/v1/commits", {
          token,
          key: id,
          json: { clientTxId: id, operations: n % 3 === 0 ? [own, shared] : [own] },
        });
        expect(status).toBe(200);
        done.push({ writer, id, asked, answered: performance.now(), receipt: body as unknown as CommitReceipt });
      }
    }),
  );
  const log = await wholeLog(app.call);
  expect(log.map(({ syncId }) => syncId)).toEqual(Array.from({ length: log.length }, (_, i) => i + 1));
  const own = log.filter(({ model }) => model === "slide");
  expect(own.map(({ id }) => id).sort()).toEqual(done.map(({ id }) => id).sort());
  for (const { id, receipt } of done) {
    const entries = log.filter(({ clientTxId }) => clientTxId === id);
    expect(receipt).toMatchObject({ status: "confirmed", lastSyncId: entries.at(-1)?.syncId });
    // One commit's entries stand together.
    expect(entries.at(-1)!.syncId - entries[0]!.syncId).toBe(entries.length - 1);
  }
  const byAnswer = [...done].sort((a, b) => a.answered - b.answered);
  let newest = 0;
  let next = 0;
  for (const write of [...done].sort((a, b) => a.asked - b.asked)) {
    while (byAnswer[next]!.answered < write.asked) newest = Math.max(newest, byAnswer[next++]!.receipt.lastSyncId ?? 0);
    expect(write.receipt.lastSyncId).toBeGreaterThan(newest);
  }
  expect(next).toBeGreaterThan(WRITERS);
  const times = log.map(({ createdAt }) => createdAt);
  expect(times).toEqual([...times].sort());
});

test("[L1] the rows are what the log adds up to, and so are the heads of the groups", async () => {
  const log = await wholeLog(app.call);
  const rows = new Map<string, unknown>();
  for (const { model, id, data, syncId } of log) rows.set(`${model}/${id}`, { data, syncId });
  const stored = await app.sql<{ key: string; data: unknown; sync_id: string }>(
    "select model || '/' || id as key, data, sync_id from holdfast.record where tenant = (select tenant from holdfast.head order by sync_id desc limit 1)",
  );
  expect(new Map(stored.map(({ key, data, sync_id }) => [key, { data, syncId: Number(sync_id) }]))).toEqual(rows);
  const heads = await app.sql<{ name: string; sync_id: string }>(
    "select name, sync_id from holdfast.group_head where name like 'deck:%' order by name",
  );
  expect(heads.map(({ name, sync_id }) => [name, Number(sync_id)])).toEqual(
    ["d0", "d1", "d2"].map((deck) => [`deck:${deck}`, log.filter(({ data }) => data?.deckId === deck).at(-1)?.syncId]),
  );
});

test("[S2] of all writers with the same position and field, exactly one succeeds", async () => {
  const { body } = await app.call("POST", "/v1/models/slide", { json: { id: "race", data: { order: 0 } } });
  let readAt = Number(body.lastSyncId);
  for (let round = 1; round <= 5; round++) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        callers[i % 2]!("PATCH", "/v1/models/slide/race", { json: { data: { order: round * 100 + i }, readAt } }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBe(1);
    expect(answers.filter(({ body: { code } }) => code === "stale_context").length).toBe(19);
    readAt = Number(won[0]!.body.lastSyncId);
  }
});

test("[L8] a commit that breaks its round fails alone", async () => {
  // What the rules let through and the tables refuse: a fault of ours that only one commit has.
  await app.sql("alter table holdfast.log add constraint poison check (id <> 'poison')");
  const ids = Array.from({ length: 12 }, (_, i) => (i === 5 ? "poison" : `healthy${i}`));
  const results = await Promise.allSettled(
    ids.map((id) => app.call("POST", "/v1/models/slide", { json: { id, data: {} } })),
  );
  await app.sql("alter table holdfast.log drop constraint poison");
  // The helper takes any 500 for a broken promise; here it is the promise.
  expect(results.map(({ status }) => status)).toEqual(ids.map((id) => (id === "poison" ? "rejected" : "fulfilled")));
  expect((await app.call("GET", "/v1/models/slide/poison")).status).toBe(404);
  const log = await wholeLog(app.call);
  expect(log.at(-1)?.syncId).toBe(log.length);
});

test("[L8] if several rounds fail in a row, each with the next one behind it, no other write is lost", async () => {
  const before = (await wholeLog(app.call)).length;
  await app.sql("alter table holdfast.log add constraint poison check (id not like 'poison%')");
  const write = (id: string, n: number) =>
    callers[n % 2]!("POST", "/v1/models/slide", { json: { id, data: {} }, key: id });
  const results = await Promise.all(
    Array.from({ length: 12 }, async (_, writer) => {
      const confirmed: string[] = [];
      for (let n = 0; n < 20; n++) {
        const id = `${(writer + n) % 7 === 0 ? "poison" : "sound"}-${writer}-${n}`;
        // The helper takes any 500 for a broken promise; here it is the promise.
        const answer = await write(id, writer).catch(() => undefined);
        expect(answer?.status).toBe(id.startsWith("poison") ? undefined : 200);
        if (answer) confirmed.push(id);
      }
      return confirmed;
    }),
  );
  await app.sql("alter table holdfast.log drop constraint poison");
  const log = await wholeLog(app.call);
  expect(
    log
      .slice(before)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(results.flat().sort());
  expect(log.at(-1)?.syncId).toBe(log.length);
});

test("[C14] a head locked by another session: 503 with Retry-After, and the idempotency key returns the outcome later", async () => {
  const holder = await app.hold("select 1 from holdfast.head for update");
  const write = () => app.call("POST", "/v1/models/slide", { json: { id: "late", data: {} }, key: "late" });
  let isFree = false;
  const asked = write().then((answer) => ({ ...answer, isFree }));
  // It waits for a while: the holder may be another process in its round.
  await untilBlocked(app);
  isFree = true;
  await holder.release();
  const first = await asked;
  expect(first.isFree).toBe(true);
  // If the machine stalls for more than 5 s meanwhile, it is told to come again.
  if (first.status !== 200) expect([first.status, first.headers["retry-after"]]).toEqual([503, "1"]);
  await until(async () => (await write()).status === 200);
  const again = await write();
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect((await wholeLog(app.call)).filter(({ id }) => id === "late")).toHaveLength(1);
});

test("[C15] a tenant whose head is locked does not delay others; its own writes get 503 after 5 s", async () => {
  const write = (id: string, token?: string) =>
    app.call("POST", "/v1/models/slide", { json: { id, data: {} }, key: id, ...(token !== undefined && { token }) });
  const holder = await app.hold(`select 1 from holdfast.head h join holdfast.tenant w on w.id = h.tenant
    where w.organization = '${app.organization}' and w.livemode for update of h`);
  const begun = performance.now();
  let isStuck = true;
  const stuck = write("stuck").then((answer) => {
    isStuck = false;
    return { ...answer, after: performance.now() - begun };
  });
  await untilBlocked(app);
  // A free write that had to wait for the held tenant would be answered after it, or with it.
  let overtook = 0;
  for (let n = 0; isStuck && overtook < 50; n++) {
    expect((await write(`free-${n}`, app.keys.test)).status).toBe(200);
    if (isStuck) overtook++;
  }
  expect(overtook).toBeGreaterThan(1);
  const { status, headers, after } = await stuck;
  expect(status).toBe(503);
  expect(headers["retry-after"]).toBe("1");
  expect(after).toBeGreaterThan(4_000);
  await holder.release();
  expect((await write("stuck")).status).toBe(200);
});

test("[C14] a connection that is cut during a load loses no write and repeats none", async () => {
  const log = (await wholeLog(app.call)).length;
  let acknowledged = 0;
  const refusals: unknown[] = [];
  const cut = () =>
    app.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
  const outcomes = await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      for (let n = 0; n < 10; n++) {
        const id = `cut${writer}-${n}`;
        await until(async () => {
          const { status, headers } = await callers[n % 2]!("POST", "/v1/models/slide", {
            json: { id, data: { title: id } },
            key: id,
          });
          if (status !== 200) refusals.push([status, headers["retry-after"]]);
          return status === 200;
        });
        if (++acknowledged % 10 === 0) await cut();
      }
      return "done";
    }),
  );
  expect(outcomes).toHaveLength(16);
  for (const refusal of refusals) expect(refusal).toEqual([503, "1"]);
  expect(
    (await wholeLog(app.call))
      .slice(log)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(Array.from({ length: 160 }, (_, i) => `cut${Math.floor(i / 10)}-${i % 10}`).sort());
});

/** Makes creates of a system participant, as a request would. */
async function ownWriter() {
  const [home] = await app.sql<{ tenant: number; organization: string }>(
    "select h.tenant, w.organization from holdfast.head h join holdfast.tenant w on w.id = h.tenant where w.organization = $1 and w.livemode",
    [app.organization],
  );
  const principal: Principal = {
    tenant: home!.tenant,
    organization: home!.organization,
    livemode: true,
    database: null,
    participantKind: "system",
    participantId: "key_of_the_test",
    tokenKind: "secret_key",
    expiresAt: null,
    scope: undefined,
    tokenId: "key_of_the_test",
  };
  return (id: string) => {
    const commit = singleCommit(
      { principal, keyHeader: undefined },
      "createRecord",
      { model: "slide" },
      { id, data: {} },
    );
    if (isRefusal(commit)) throw new Error(commit.code);
    return commit;
  };
}

/** Lanes of the test's own, with a writer for them. */
async function ownLane(announce: LanesOptions["announce"]) {
  const create = await ownWriter();
  const reported: unknown[] = [];
  const lane = createCommitLanes({
    url: app.databaseUrl,
    schemas: createSchemaCache(),
    modules: builtInHooks.inRounds,
    announce,
    report: (error) => reported.push(error),
  });
  return { lane, submit: (id: string) => lane.submit([create(id)]), reported };
}

/** One lane by itself, whatever it says of its tenants. */
async function bareLane(options: Partial<LaneOptions<Loaded>>) {
  const create = await ownWriter();
  const rules = {
    schemas: createSchemaCache(),
    modules: builtInHooks.inRounds,
    recordBytes: serverLimits.recordBytes,
    commitBytes: serverLimits.commitBytes,
    roundBytes: 2 ** 21,
  };
  const lane = createLane({
    url: app.databaseUrl,
    rules,
    rounds: hostedRounds(rules),
    known: createKnownHeads(Date.now),
    publishDrained: () => {},
    isRunBy: () => {},
    announce: () => {},
    announceChange: () => {},
    took: () => {},
    report: () => {},
    headIsHeld: () => false,
    headsWereFree: () => {},
    isSlow: () => {},
    areLarge: () => false,
    bounds: { maxCommits: 128, maxBytes: 2 ** 20, maxNames: 1_000 },
    lockMs: 5_000,
    eager: false,
    ...options,
  });
  const submit = (id: string) =>
    new Promise((resolve) => {
      lane.join({ job: { commits: [create(id)] }, resolve, since: performance.now(), attempts: 0 });
    });
  return { lane, submit };
}

test("[L9] a listener that throws is reported; the commit is answered, and so is the next", async () => {
  const { lane, submit, reported } = await ownLane(() => {
    throw new Error("the listener throws");
  });
  expect(await submit("unheard-1")).toMatchObject({ kind: "judged", judged: [{ decision: { kind: "confirmed" } }] });
  expect(await submit("unheard-2")).toMatchObject({ kind: "judged", judged: [{ decision: { kind: "confirmed" } }] });
  await lane.close();
  expect(reported.map(String)).toEqual(["Error: the listener throws", "Error: the listener throws"]);
});

test("[L11] all callers of a round get their responses before any listener is notified", async () => {
  const order: string[] = [];
  const { lane, submit } = await ownLane(() => order.push("told"));
  const answer = async (id: string) => {
    await submit(id);
    // What is left to do for an answer, after a few turns of promises, is to write it.
    for (let turns = 0; turns < 20; turns++) await undefined;
    order.push("answered");
  };
  await Promise.all([answer("answered-1"), answer("answered-2")]);
  await lane.close();
  expect(order.filter((what) => what === "answered")).toHaveLength(2);
  expect(order[0]).toBe("answered");
  expect(order.at(-1)).toBe("told");
});

test("a round goes out behind another once half of all who are here wait, and takes those who came by then", async () => {
  const sizes: number[] = [];
  const { lane, submit } = await bareLane({ announce: ({ from, to }) => sizes.push(to - from) });
  // Each round waits in its save until the test lets it go: the first for the lock 1, the next for the lock 2.
  await app.sql(`create sequence holdfast.rounds;
    create function holdfast.wait_to_be_let_go() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(nextval('holdfast.rounds')); return null; end $$;
    create trigger wait_to_be_let_go after insert on holdfast.receipt execute function holdfast.wait_to_be_let_go()`);
  await app.sql("select pg_advisory_lock(n) from generate_series(1, 4) n");
  const letGo = (round: number) => app.sql("select pg_advisory_unlock($1)", [round]);
  let made = 0;
  const some = (count: number) => Array.from({ length: count }, () => submit(`behind-${++made}`));
  // One is alone, and 9 wait: they are company, so they go out behind it. That makes ten who are here.
  const [first, ...nine] = some(10);
  await untilBlocked(app);
  expect(lane.waiting).toBe(0);
  await letGo(1);
  await first;
  await untilBlocked(app);
  // Behind the nine two are not half of ten; with three more they are, and those after them are late.
  const two = some(2);
  expect(lane.waiting).toBe(2);
  const three = some(3);
  expect(lane.waiting).toBe(0);
  const late = some(1);
  expect(lane.waiting).toBe(1);
  for (const round of [2, 3, 4]) await letGo(round);
  await Promise.all([...nine, ...two, ...three, ...late]);
  await app.sql("drop trigger wait_to_be_let_go on holdfast.receipt");
  await lane.close();
  expect(sizes).toEqual([1, 9, 5, 1]);
});

test("[L14] [L16] the time that a connection takes to open makes no tenant a slow one", async () => {
  const proxy = await freezingProxy(app.databaseUrl, { openMs: 1_000 });
  // On a busy machine the round itself can be slow. Were the opening counted, no attempt would go unblamed.
  let attempt = 0;
  await until(async () => {
    attempt++;
    const slow: number[] = [];
    const { lane, submit } = await bareLane({ url: proxy.url, isSlow: (tenant) => slow.push(tenant) });
    const begun = performance.now();
    await submit(`opens-a-connection-${attempt}`);
    expect(performance.now() - begun).toBeGreaterThan(900);
    await lane.close();
    return slow.length === 0;
  });
  proxy.close();
});

test("[L14] a head that is held elsewhere is waited for on a connection for such tenants, beside all others", async () => {
  const held = await app.hold(
    `select from holdfast.head where tenant = (select id from holdfast.tenant where organization = '${app.organization}' and livemode) for update`,
  );
  // A write that was refused after 5 s comes again, so that some always wait for the head.
  const stuck = Array.from({ length: 8 }, (_, i) =>
    until(async () => {
      const json = { id: `stuck${i}`, data: {} };
      return (await app.call("POST", "/v1/models/slide", { json, key: `stuck${i}` })).status === 200;
    }),
  );
  // Which connection committed last for the free tenant, and which ones wait for a lock.
  const activity = () =>
    app.sql<{ pid: number; waits: boolean }>(
      `(select pid, false as waits from pg_stat_activity where datname = current_database() and query ~* '^commit' order by state_change desc limit 1)
       union all select pid, true from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
  const committing: number[] = [];
  const waiting: number[] = [];
  const SAME = 5;
  const areSame = (pids: readonly number[]) => pids.length >= SAME && new Set(pids.slice(-SAME)).size === 1;
  let made = 0;
  // The writes that came first may meet the held head in the lane of all tenants. After them every one waits in another.
  await until(async () => {
    const json = { id: `free${made++}`, data: {} };
    const { status } = await app.call("POST", "/v1/models/slide", { token: app.keys.other, json });
    expect(status).toBe(200);
    for (const { pid, waits } of await activity()) (waits ? waiting : committing).push(pid);
    return areSame(waiting) && areSame(committing);
  });
  await held.release();
  await Promise.all(stuck);
  expect(waiting.at(-1)).not.toBe(committing.at(-1));
});
