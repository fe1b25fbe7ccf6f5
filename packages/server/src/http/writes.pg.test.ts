import type { CommitReceipt, LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { type Answer, type Asking, startApp } from "../testing/app.ts";

const app = await startApp();
const { call, keys } = app;
const slides = "/v1/models/slide";
const receipt = ({ body }: Answer) => body as unknown as CommitReceipt;
const head = async (asking: Asking = {}) => Number((await call("GET", "/v1/log?limit=1", asking)).body.stamp);
const entries = async (after: number) =>
  (await call("GET", `/v1/log?limit=1000&after=${after}`)).body.data as LogEntry[];
const make = async (id: string, data: object = {}) =>
  receipt(await call("POST", slides, { json: { id, data } })).lastSyncId ?? 0;
const change = (id: string, data: object, rest: object = {}, asking: Asking = {}) =>
  call("PATCH", `${slides}/${id}`, { json: { data, ...rest }, ...asking });
const commit = (operations: unknown, rest: object = {}, asking: Asking = {}) =>
  call("POST", "/v1/commits", { json: { operations, ...rest }, ...asking });
const bulk = (commits: unknown, asking: Asking = {}) =>
  call("POST", "/v1/commits/bulk", { json: { commits }, ...asking });
const items = ({ body }: Answer) =>
  body.data as { httpStatus: number; status?: string; code?: string; blockedBy?: number }[];
const create = (id: string, data: object = {}) => ({ action: "create", model: "slide", id, data });

test("[I1] a hundred at once with one key: one write, and one answer to all, byte for byte", async () => {
  const before = await head();
  const ask = () => call("POST", slides, { json: { id: "i1", data: { title: "once" } }, key: "i1-key" });
  const answers = await Promise.all(Array.from({ length: 100 }, ask));
  expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers["idempotent-replayed"] !== "true")).toHaveLength(1);
  expect(await head()).toBe(before + 1);
  expect((await ask()).text).toBe(answers[0]!.text);
});

test("[I1] a replay answers the same after the record went on, and whatever the schema says now", async () => {
  const first = await call("POST", slides, { json: { id: "i1b", data: { title: "a" } }, key: "i1b" });
  await change("i1b", { title: "b" });
  await call("DELETE", `${slides}/i1b`);
  const again = await call("POST", slides, { json: { id: "i1b", data: { title: "a" } }, key: "i1b" });
  expect([again.text, again.headers["idempotent-replayed"]]).toEqual([first.text, "true"]);
  expect((await call("GET", `${slides}/i1b`)).status).toBe(404);
});

test("[I8] the body may be spelled otherwise", async () => {
  const send = (bytes: string) => call("PATCH", `/api${slides.replace("slide", "SLIDE")}/i8`, { bytes, key: '"i8"' });
  await make("i8");
  const first = await send('{"data":{"title":"a","order":1},"onStale":"overwrite"}');
  for (const bytes of [
    ' { "onStale":"force", "data": { "order":1.0, "title":"\\u0061" } } ',
    '{"data":{"title":"a","order":1e0},"onStale":"overwrite","readAt":null,"intent":null,"idempotencyKey":"i8"}',
  ])
    expect((await send(bytes)).text).toBe(first.text);
  expect((await send('{"data":{"title":"a","order":2},"onStale":"overwrite"}')).body.code).toBe("idempotency_conflict");
});

test("[I2] the same key for another body, record or route is a conflict", async () => {
  await make("i2");
  await make("i2b");
  await change("i2", { title: "x" }, {}, { key: "i2" });
  const before = await head();
  for (const answer of [
    await change("i2", { title: "y" }, {}, { key: "i2" }),
    await change("i2b", { title: "x" }, {}, { key: "i2" }),
    await call("DELETE", `${slides}/i2`, { key: "i2" }),
    await call("POST", `${slides}/i2/archive`, { key: "i2" }),
    await commit([{ action: "update", model: "slide", id: "i2", data: { title: "x" } }], {}, { key: "i2" }),
  ])
    expect([answer.status, answer.body.code, answer.body.type]).toEqual([
      409,
      "idempotency_conflict",
      "idempotency_error",
    ]);
  expect(await head()).toBe(before);
});

test("[I3] the same key of another organization, environment or key of one's own is another's", async () => {
  const { token } = await app.newKey();
  for (const [i, one] of [keys.live, keys.other, keys.test, token].entries()) {
    const answer = await call("POST", slides, { json: { id: `i3-${i}`, data: {} }, key: "shared", token: one });
    expect([answer.status, answer.headers["idempotent-replayed"]]).toEqual([200, undefined]);
  }
});

test("[I4] after a refusal the same key carries the corrected write", async () => {
  const readAt = await make("i4", { title: "a" });
  await change("i4", { title: "b" });
  const key = "i4-key";
  expect((await change("i4", { colour: "x" }, {}, { key })).status).toBe(400);
  expect((await change("i4", { title: "c" }, { readAt }, { key })).status).toBe(409);
  expect((await change("i4", { title: "c" }, { claim: "c1" }, { key })).body.code).toBe("claim_lost");
  const done = await change("i4", { title: "c" }, {}, { key });
  expect([done.status, done.headers["idempotent-replayed"]]).toEqual([200, undefined]);
});

test("[I4] a held write is remembered as held", async () => {
  const readAt = await make("i4h", { title: "a" });
  await change("i4h", { title: "b" });
  const ask = () => change("i4h", { title: "c" }, { readAt, onStale: "notify" }, { key: "i4h-key" });
  const [held, again] = [await ask(), await ask()];
  expect(again.text).toBe(held.text);
  expect([again.headers["holdfast-held"], again.headers["idempotent-replayed"]]).toEqual(["true", "true"]);
});

test("[I5] without a key the name serves, and in a batch it is told again", async () => {
  const one = await commit([create("i5")], { clientTxId: "tx-i5" });
  expect(receipt(one)).toMatchObject({
    clientTxId: "tx-i5",
    serverTxId: expect.stringMatching(/^stx_[0-9A-Za-z]{24}$/),
  });
  expect((await commit([create("i5")], { clientTxId: "tx-i5" })).text).toBe(one.text);
  expect((await commit([create("i5b")], { clientTxId: "tx-i5" })).body.code).toBe("idempotency_conflict");
  expect((await commit([create("i5b")], { clientTxId: "tx-i5" }, { key: "other" })).body).toMatchObject({
    code: "idempotency_conflict",
    param: "clientTxId",
  });
  const unnamed = receipt(await commit([create("i5c")]));
  expect(unnamed.clientTxId).toMatch(/^ctx_[0-9A-Za-z]{24}$/);
  expect(receipt(await commit([create("i5d")], {}, { key: "named" })).clientTxId).toBe("named");
});

test("[I6] an operation with a key of its own is done once", async () => {
  const keyed = { ...create("i6", { title: "a" }), idempotencyKey: "op-i6" };
  await commit([keyed]);
  await change("i6", { title: "b" });
  const again = await commit([keyed, create("i6b")]);
  expect(receipt(again)).toMatchObject({ status: "confirmed", ops: 2 });
  expect((await call("GET", `${slides}/i6`)).body.data).toMatchObject({ title: "b" });
  const other = await commit([{ ...keyed, data: { title: "z" } }]);
  expect([other.status, other.body.code, other.body.param]).toEqual([
    409,
    "idempotency_conflict",
    "operations[0].idempotencyKey",
  ]);
});

test.each(["", " ", "a b", "é", "x".repeat(256), '""'])("[I7] a key that is none: %j", async (key) => {
  const answer = await call("POST", slides, {
    json: { id: "i7", data: {} },
    headers: { "idempotency-key": Buffer.from(key).toString("latin1") },
  });
  expect([answer.status, answer.body.code]).toEqual([400, "invalid_idempotency_key"]);
});

test("[I7] a key in header and body, the same or not", async () => {
  const key = "k".repeat(255);
  expect((await call("POST", slides, { json: { id: "i7", data: {}, idempotencyKey: key }, key })).status).toBe(200);
  expect((await call("POST", slides, { json: { id: "i7", data: {}, idempotencyKey: "other" }, key })).body.code).toBe(
    "idempotency_key_mismatch",
  );
  expect((await call("POST", slides, { json: { id: "i7", data: {} }, key: "~!@#" })).status).toBe(200);
});

test("[S2] two who read the same position: the second is refused, and told what moved", async () => {
  const readAt = await make("s2", { title: "a", notes: "n" });
  const { token } = await app.newKey();
  expect((await change("s2", { title: "first" }, { readAt })).status).toBe(200);
  const second = await change("s2", { title: "second" }, { readAt }, { token });
  expect([second.status, second.body.code, second.body.type]).toEqual([409, "stale_context", "conflict_error"]);
  expect(second.body.receipt).toMatchObject({ success: false, status: "rejected", error: { code: "stale_context" } });
  // Another field, the same value, a newer position: no conflict.
  expect((await change("s2", { notes: "other" }, { readAt }, { token })).status).toBe(200);
  expect((await change("s2", { title: "first" }, { readAt }, { token })).status).toBe(200);
  expect((await change("s2", { title: "third" }, { readAt: await head() }, { token })).status).toBe(200);
});

test("[S9] notify holds, tells, and writes nothing", async () => {
  const readAt = await make("s9", { title: "a", order: 1 });
  const theirs = receipt(await change("s9", { title: "theirs" })).lastSyncId;
  const before = await head();
  const held = await commit(
    [
      create("s9b"),
      { action: "update", model: "slide", id: "s9", data: { title: "mine", order: 2 }, readAt, onStale: "notify" },
    ],
    { clientTxId: "s9" },
  );
  expect([held.status, held.headers["holdfast-held"]]).toEqual([200, "true"]);
  expect(held.body).toMatchObject({
    success: false,
    status: "rejected",
    error: { code: "stale_context" },
    notifications: [
      {
        model: "slide",
        id: "s9",
        readAt,
        observedSyncId: theirs,
        conflictingFields: ["title"],
        currentValues: { title: "theirs" },
      },
    ],
  });
  expect(await head()).toBe(before);
  expect((await call("GET", `${slides}/s9b`)).status).toBe(404);
});

test("[S10] a premise that moved fires over the whole batch", async () => {
  await make("s10", { deckId: "d10", title: "a" });
  const readAt = await head();
  await change("s10", { title: "b" });
  const before = await head();
  const { token } = await app.newKey();
  for (const [read, moved] of [
    [{ model: "Slide", id: "s10", readAt }, true],
    [{ model: "slide", id: "s10", fields: ["title"], readAt }, true],
    [{ model: "slide", id: "s10", fields: ["order"], readAt }, false],
    [{ group: "deck:d10", readAt }, true],
    [{ group: "deck:none", readAt }, false],
    [{ group: `org:${app.organization}`, readAt }, true],
  ] as const) {
    const answer = await commit(
      [{ action: "update", model: "slide", id: "s10", data: { order: 0 } }],
      { reads: [read] },
      { token },
    );
    expect([read, answer.status, answer.body.param]).toEqual([read, moved ? 409 : 200, moved ? "reads[0]" : undefined]);
  }
  const held = await commit([create("s10b")], { reads: [{ group: "deck:d10", readAt, onStale: "flag" }] }, { token });
  expect(held.body).toMatchObject({
    notifications: [{ group: "deck:d10", model: "slide", id: "s10", observedSyncId: before }],
  });
  expect(await head()).toBe(before);
});

test.each([
  ["a record and a group", { model: "slide", id: "x", group: "deck:1", readAt: 0 }, "reads[0].group"],
  ["fields of a group", { group: "deck:1", fields: ["a"], readAt: 0 }, "reads[0].fields"],
  ["no id", { model: "slide", readAt: 0 }, "reads[0].id"],
  ["nothing", { readAt: 0 }, "reads[0].model"],
  ["no position", { group: "deck:1" }, "reads[0].readAt"],
  ["a group that is none", { group: "deck", readAt: 0 }, "reads[0].group"],
  ["an id that is none", { model: "slide", id: "a b", readAt: 0 }, "reads[0].id"],
  ["an unknown key", { group: "deck:1", readAt: 0, why: 1 }, "reads[0].why"],
])("[H4] a premise on %s is refused", async (_, read, param) => {
  const answer = await commit([create("never")], { reads: [read] });
  expect([answer.status, answer.body.param]).toEqual([400, param]);
});

test("[S7] a client's own writes do not stand against it", async () => {
  const readAt = await make("s7", { title: "a" });
  await change("s7", { title: "b" }, { clientId: "tab-1" });
  expect((await change("s7", { title: "c" }, { readAt, clientId: "tab-2" })).status).toBe(409);
  expect((await change("s7", { title: "c" }, { readAt, clientId: "tab-1" })).status).toBe(200);
  const reads = [{ model: "slide", id: "s7", readAt }];
  expect((await commit([create("s7b")], { reads, clientId: "tab-1" })).status).toBe(200);
  expect((await commit([create("s7c")], { reads })).status).toBe(409);
});

test("[S8] many entries on one record are still judged field by field, and then as a whole", async () => {
  const readAt = await make("s8", { title: "a" });
  const counts = Array.from({ length: 1_005 }, (_, i) => ({
    action: "update",
    model: "slide",
    id: "s8",
    data: { order: i + 1 },
  }));
  for (let i = 0; i < 900; i += 100) await commit(counts.slice(i, i + 100));
  expect((await change("s8", { title: "a2" }, { readAt })).status).toBe(200);
  for (let i = 900; i < 1_005; i += 100) await commit(counts.slice(i, i + 100));
  // More entries than are looked at: nobody vouches for the field.
  expect((await change("s8", { notes: "n" }, { readAt })).status).toBe(409);
});

test("[C1] operation 7 of 10 fails: nothing is applied, and it is named", async () => {
  const before = await head();
  const operations = Array.from({ length: 10 }, (_, i) =>
    create(`c1-${i}`, i === 6 ? { colour: "red" } : { title: "x" }),
  );
  const answer = await commit(operations);
  expect([answer.status, answer.body.param]).toEqual([400, "operations[6].data.colour"]);
  await make("c1-exists", { title: "y" });
  const exists = await commit(
    operations.map((operation, i) => (i === 6 ? create("c1-exists", { title: "z" }) : operation)),
  );
  expect([exists.status, exists.body.code, exists.body.param]).toEqual([409, "already_exists", "operations[6].id"]);
  expect(await head()).toBe(before + 1);
  expect(items(await call("GET", `${slides}?ids=${operations.map(({ id }) => id).join(",")}`))).toEqual([]);
});

test("[C10] 100 operations pass, 0 and 101 do not", async () => {
  const operations = Array.from({ length: 101 }, (_, i) => create(`c10-${i}`));
  for (const [count, status] of [
    [0, 400],
    [1, 200],
    [101, 400],
  ] as const) {
    const answer = await commit(operations.slice(0, count));
    expect([count, answer.status, answer.body.code]).toEqual([
      count,
      status,
      status === 200 ? undefined : "too_many_operations",
    ]);
  }
  const all = await commit(operations.slice(0, 100));
  expect(receipt(all)).toMatchObject({ ops: 100, lastSyncId: await head() });
  expect((await commit("x")).body.code).toBe("invalid_type");
});

test("[C10] 100 reads pass, 101 do not", async () => {
  const reads = Array.from({ length: 101 }, () => ({ group: "deck:none", readAt: 0 }));
  expect((await commit([create("c10r")], { reads: reads.slice(1) })).status).toBe(200);
  expect((await commit([create("c10r")], { reads })).body.code).toBe("too_many_operations");
});

test("[C10] a bulk takes 100 commits and 1 000 operations", async () => {
  const commits = (count: number, each: number) =>
    Array.from({ length: count }, (_, i) => ({
      clientTxId: `b${count}-${each}-${i}`,
      operations: Array.from({ length: each }, (__, j) => create(`b${count}-${each}-${i}-${j}`)),
    }));
  expect((await bulk(commits(101, 1))).body).toMatchObject({ code: "too_many_operations", param: "commits" });
  expect((await bulk([])).body.code).toBe("too_many_operations");
  const most = await bulk(commits(100, 10));
  expect(items(most).map(({ httpStatus, status }) => `${httpStatus} ${status}`)).toEqual(
    Array(100).fill("200 confirmed"),
  );
  expect((await bulk([...commits(99, 10), ...commits(1, 11)])).body).toMatchObject({ code: "too_many_operations" });
});

test("[C9] each commit of a bulk is answered as it would have been alone", async () => {
  const readAt = await make("c9", { title: "a" });
  await change("c9", { title: "b" });
  const before = await head();
  const stale = { action: "update", model: "slide", id: "c9", data: { title: "mine" }, readAt };
  const commits = [
    { clientTxId: "c9-0", operations: [create("c9-a")] },
    { operations: [create("c9-b")] },
    { clientTxId: "c9-2", operations: [create("c9-b"), create("c9-c")] },
    { clientTxId: "c9-3", operations: [stale] },
    { clientTxId: "c9-4", operations: [{ ...stale, readAt: null }, create("c9-d")] },
    { clientTxId: "c9-5", operations: [create("c9-d")] },
    { clientTxId: "c9-6", operations: [create("c9-e")] },
    "nonsense",
    { idempotencyKey: "c9-8", operations: [] },
    { idempotencyKey: "c9-9", operations: [{ ...create("c9-a"), action: "delete", data: null }] },
  ];
  const answer = await bulk(commits);
  expect(
    items(answer).map(({ httpStatus, status, code, blockedBy }) => [httpStatus, status ?? code, blockedBy]),
  ).toEqual([
    [200, "confirmed", undefined],
    [400, "missing_field", undefined],
    [409, "dependency_blocked", 1],
    [409, "stale_context", undefined],
    [409, "dependency_blocked", 3],
    [409, "dependency_blocked", 4],
    [200, "confirmed", undefined],
    [400, "invalid_body", undefined],
    [400, "too_many_operations", undefined],
    [200, "confirmed", undefined],
  ]);
  expect(await head()).toBe(before + 3);
  const again = items(await bulk(commits));
  expect(again[0]).toEqual(items(answer)[0]);
  // What was confirmed replays by its name, also alone.
  expect((await commit([create("c9-a")], { clientTxId: "c9-0" })).headers["idempotent-replayed"]).toBe("true");
  expect((await bulk(commits, { key: "k" })).body.code).toBe("invalid_idempotency_key");
});

test("[C4] the same create again is confirmed where it was, another is refused", async () => {
  const at = await make("c4", { title: "a" });
  const again = receipt(await call("POST", slides, { json: { id: "c4", data: { title: "a", order: 0, id: "c4" } } }));
  expect(again).toMatchObject({ status: "confirmed", lastSyncId: at });
  const { token } = await app.newKey();
  const other = await call("POST", slides, { json: { id: "c4", data: { title: "a" } }, token });
  expect([other.status, other.body.code]).toEqual([409, "already_exists"]);
});

test("[C5] archive, restore, delete: what happened is in the log, what did not is not", async () => {
  const before = await make("c5", { deckId: "d5", title: "a" });
  const post = (path: string) => call("POST", `${slides}/c5/${path}`);
  expect(receipt(await post("archive")).lastSyncId).toBe(before + 1);
  expect(receipt(await post("archive")).lastSyncId).toBe(before + 1);
  expect((await call("GET", `${slides}/c5`)).body.archivedAt).toMatch(/Z$/);
  expect(receipt(await change("c5", { title: "b" })).lastSyncId).toBe(before + 2);
  expect((await call("GET", `${slides}/c5`)).body.archivedAt).toMatch(/Z$/);
  await post("unarchive");
  await call("DELETE", `${slides}/c5`);
  expect(receipt(await call("DELETE", `${slides}/c5`))).toMatchObject({ status: "confirmed", missingIds: ["c5"] });
  expect((await entries(before - 1)).map(({ verb, data }) => [verb, data?.title])).toEqual([
    ["created", "a"],
    ["archived", "a"],
    ["updated", "b"],
    ["unarchived", "b"],
    ["deleted", undefined],
  ]);
});

test("[L3] an entry tells the row, the fields, the writer and the names of its commit", async () => {
  const before = await head();
  const done = receipt(
    await commit(
      [
        { ...create("l3", { title: "a" }), transactionId: "t1" },
        { action: "update", model: "slide", id: "l3", data: { title: "a", order: 3 } },
      ],
      {
        clientTxId: "l3 tx".replace(" ", "-"),
        clientId: "tab",
      },
    ),
  );
  const [first, second] = await entries(before);
  expect(first).toEqual({
    object: "log_entry",
    syncId: before + 1,
    model: "slide",
    id: "l3",
    verb: "created",
    data: { id: "l3", title: "a", order: 0 },
    changedFields: null,
    clientTxId: "l3-tx",
    clientId: "tab",
    transactionId: "t1",
    actor: expect.stringMatching(/^key_/),
    participantKind: "system",
    claim: null,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(second).toMatchObject({ verb: "updated", changedFields: ["order"], transactionId: null });
  expect(done.lastSyncId).toBe(before + 2);
  const times = (await entries(0)).map(({ createdAt }) => createdAt);
  expect(times).toEqual([...times].sort());
});

test("[M1] a model is matched whatever its case", async () => {
  await call("POST", "/v1/models/SliDe", { json: { id: "m1", data: {} } });
  const answer = await call("GET", "/v1/models/SLIDE/m1");
  expect(answer.body.model).toBe("slide");
  expect((await call("GET", "/v1/models/slidex/m1")).body).toMatchObject({
    code: "unknown_model",
    type: "not_found_error",
  });
  const batch = await commit([{ ...create("m1b"), model: "nothing" }]);
  expect([batch.status, batch.body.code, batch.body.type]).toEqual([400, "unknown_model", "validation_error"]);
});

test("[G2] another organization's record is missing, and so is the other environment's", async () => {
  await make("g2", { title: "ours" });
  for (const token of [keys.other, keys.test]) {
    expect((await call("GET", `${slides}/g2`, { token })).status).toBe(404);
    expect(receipt(await change("g2", { title: "theirs" }, {}, { token })).missingIds).toEqual(["g2"]);
    expect((await call("POST", slides, { json: { id: "g2", data: { title: "theirs" } }, token })).status).toBe(200);
  }
  expect((await call("GET", `${slides}/g2`)).body.data).toMatchObject({ title: "ours" });
  expect((await call("GET", "/v1/log", { token: keys.other })).body.logId).not.toBe(
    (await call("GET", "/v1/log")).body.logId,
  );
});

test("[L8] commits of several tenants at once land in their own logs", async () => {
  const tokens = [keys.live, keys.test, keys.other];
  const before = await Promise.all(tokens.map((token) => head({ token })));
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      call("POST", slides, { json: { id: `l8-${i}`, data: {} }, token: tokens[i % 3] ?? null }),
    ),
  );
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(await Promise.all(tokens.map((token) => head({ token })))).toEqual(before.map((position) => position + 20));
});
