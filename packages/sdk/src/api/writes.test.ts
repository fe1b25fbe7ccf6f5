import { expect, test } from "vitest";
import { SyncError } from "../errors.ts";
import { defineSchema } from "../protocol/schema/row-types.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { startClient } from "../testing/start-client.ts";
import { createTestServer, type TestClientOptions } from "../testing/test-server.ts";

const schema = {
  models: { slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 } } } },
} as const;

async function start(options: TestClientOptions = {}) {
  const made = await startClient(schema, options);
  return { ...made, slides: made.client.models.slide };
}
const commits = (body: string | undefined) =>
  (JSON.parse(body ?? "{}") as { commits: { clientTxId: string }[] }).commits;
const refused = (status: number, code: string, type = "permission_error", more = {}) =>
  ({
    kind: "answer",
    status: 200,
    body: { data: [{ httpStatus: status, code, type, message: "No.", ...more }] },
  }) as const;

test("[Q1] [R1] a write is shown in the same moment, with the defaults that the server will fill in", async () => {
  const { client, slides } = await start();
  const { id } = slides.create({ title: "New" });
  expect(slides.get(id)).toEqual({ id, title: "New", order: 0 });
  expect(client.pending()).toMatchObject([{ phase: "saving", operations: [{ action: "create", model: "slide", id }] }]);
  expect(client.status()).toMatchObject({ pending: 1, oldestPendingAt: expect.any(Number) });
});

test("[Q2] a write is sent only when it is on disk", async () => {
  let toDisk = () => {};
  const disk = new MemoryDisk();
  const slow = {
    ...memoryStorage(disk),
    enqueue: (m: Parameters<MemoryDisk["enqueue"]>[0]) =>
      new Promise<ReturnType<MemoryDisk["enqueue"]>>((resolve) => {
        toDisk = () => resolve(disk.enqueue(m));
      }),
  };
  const { slides, connection, settle } = await start({ platform: { storage: async () => slow } });
  let queued = false;
  void slides.create({ title: "New" }).queued.then(() => {
    queued = true;
  });
  await settle();
  expect(queued).toBe(false);
  expect(connection.sent.length).toBe(0);
  toDisk();
  await settle();
  expect(queued).toBe(true);
  expect(connection.sent.length).toBe(1);
});

test("[Q3] one request is in flight; what is written meanwhile goes with the next, in order", async () => {
  const { slides, connection, settle } = await start();
  connection.answers.push("held back");
  slides.create({ title: "1" }, { clientTxId: "t1" });
  await settle();
  slides.create({ title: "2" }, { clientTxId: "t2" });
  slides.create({ title: "3" }, { clientTxId: "t3" });
  await settle();
  expect(connection.sent).toHaveLength(1);
  connection.release();
  await settle();
  expect(connection.sent.map((body) => commits(body).map((c) => c.clientTxId))).toEqual([["t1"], ["t2", "t3"]]);
});

test("[Q4] a confirmed mutation stays visible until the log reaches it", async () => {
  const { client, slides, connection, settle, server } = await start();
  connection.quiet = true;
  const write = slides.create({ title: "New" }, { id: "s1" });
  expect(await write.receipt).toMatchObject({ status: "confirmed", lastSyncId: 1 });
  await settle();
  expect(server.head).toBe(1);
  expect(client.status()).toMatchObject({ syncId: 0, pending: 1 });
  expect(client.pending()).toMatchObject([{ phase: "confirmed" }]);
  expect(slides.get("s1")).toMatchObject({ title: "New" });
  connection.flush();
  await settle();
  expect(client.status()).toMatchObject({ syncId: 1, pending: 0 });
  expect(slides.get("s1")).toMatchObject({ title: "New" });
});

test("[Q5] after a lost receipt the same bytes are sent under the same name, and have one effect", async () => {
  const { slides, connection, settle, clock, server } = await start();
  connection.answers.push("lost");
  const write = slides.create({ title: "New" });
  await settle();
  expect(connection.sent).toHaveLength(1);
  clock.advance(10_000);
  await settle();
  expect(connection.sent[1]).toBe(connection.sent[0]);
  expect(await write.receipt).toMatchObject({ status: "confirmed" });
  expect(server.head).toBe(1);
});

test("[Q6] the client waits as long as Retry-After says, even if it is woken", async () => {
  const { client, slides, connection, settle, clock, signals } = await start();
  connection.answers.push({
    kind: "answer",
    status: 503,
    body: { code: "overloaded", type: "unavailable_error", message: "Busy." },
    retryAfterMs: 20_000,
  });
  slides.create({ title: "New" });
  await settle();
  expect(client.status()).toMatchObject({ retryAt: clock.now() + 20_000, reason: "Busy." });
  clock.advance(19_000);
  signals.woke();
  await settle();
  expect(connection.sent).toHaveLength(1);
  clock.advance(1_000);
  await settle();
  expect(connection.sent).toHaveLength(2);
  expect(client.status()).toMatchObject({ pending: 0, retryAt: undefined, reason: undefined });
});

test("[Q6] coming back to the front, or online, cuts our own waits short", async () => {
  const { slides, connection, settle, signals } = await start();
  connection.answers.push("lost", "lost");
  slides.create({ title: "New" });
  await settle();
  signals.woke();
  await settle();
  expect(connection.sent).toHaveLength(2);
  signals.network(false);
  signals.network(true);
  await settle();
  expect(connection.sent).toHaveLength(3);
});

test("[Q7] after a timeout a bulk holds half as many, down to one, and grows again", async () => {
  const { client, slides, connection, settle, clock } = await start();
  const timeout = { kind: "silence", timedOut: true, reason: "No answer." } as const;
  connection.answers.push(timeout, timeout, timeout, timeout);
  for (let i = 0; i < 10; i++) slides.create({ order: i });
  for (let i = 0; i < 12; i++) {
    await settle();
    clock.advance(60_000);
  }
  await settle();
  expect(connection.sent.map((body) => commits(body).length)).toEqual([10, 5, 2, 1, 1, 2, 4, 3]);
  expect(client.status().pending).toBe(0);
});

test("[Q8] a refused token stops the queue until the app returns another one", async () => {
  const tokens = ["old", "old", "new"];
  const { client, slides, connection, pass, settle } = await start({ getToken: () => tokens.shift() ?? "new" });
  connection.badTokens.add("old");
  slides.create({ title: "New" });
  await settle();
  expect(client.status()).toMatchObject({ name: "needs-auth", pending: 1, reason: expect.any(String) });
  expect(connection.sent).toEqual([]);
  await pass(3, 5_000);
  expect(client.status()).toMatchObject({ name: "online", pending: 0 });
  expect(connection.sent).toHaveLength(1);
});

test("[Q8] a fresh token that works is used at once, without anybody seeing it", async () => {
  const tokens = ["old", "new"];
  const { client, slides, connection, settle } = await start({ getToken: () => tokens.shift() ?? "new" });
  await settle();
  connection.badTokens.add("old");
  const names = new Set<string>();
  client.subscribe(() => names.add(client.status().name));
  slides.create({ title: "New" });
  await settle();
  expect(client.status()).toMatchObject({ pending: 0 });
  expect(names).not.toContain("needs-auth");
});

test("[Q9] a refused write waits with its error, and writes to other records are sent", async () => {
  const { client, slides, connection, settle, disk } = await start();
  connection.answers.push(
    refused(403, "capability_scope_denied", "permission_error", {
      requiredCapability: { can: "update", model: "slide", scope: "slide.create" },
    }),
  );
  const write = slides.create({ title: "Mine" }, { id: "s1" });
  await settle();
  slides.create({ title: "Other" }, { id: "s2" });
  await settle();
  expect(slides.get("s1")).toBeUndefined();
  expect(slides.get("s2")).toMatchObject({ title: "Other" });
  expect(client.status()).toMatchObject({ pending: 0, attention: 1 });
  const [item] = client.attention();
  expect(item).toMatchObject({
    code: "capability_scope_denied",
    operations: [{ action: "create", id: "s1", data: { title: "Mine" } }],
  });
  expect(item?.error).toBeInstanceOf(SyncError);
  expect(item?.error.requiredCapability).toMatchObject({ scope: "slide.create" });
  await expect(write.receipt).rejects.toMatchObject({ code: "capability_scope_denied" });
  expect(disk.queue().map((m) => m.stage.phase)).toEqual(["rejected"]);
  expect(client.attention()).toBe(client.attention());
});

test("[Q10] writes to the record of a rejected write wait behind it, and are sent in order after the decision", async () => {
  const { client, slides, connection, settle, server } = await start();
  connection.answers.push(refused(409, "claim_conflict", "claim_error"));
  slides.create({ title: "1" }, { id: "s1", clientTxId: "t1" });
  await settle();
  slides.update("s1", { title: "2" }, { clientTxId: "t2" });
  await settle();
  expect(client.pending()).toMatchObject([{ clientTxId: "t2", phase: "blocked" }]);
  await client.drain();
  const again = client.attention()[0]?.retry();
  await settle();
  expect(commits(connection.sent.at(-1)).map((c) => c.clientTxId)).toEqual([again?.clientTxId, "t2"]);
  expect(server.log.map((e) => e.verb)).toEqual(["created", "updated"]);
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
});

test("[Q17] retry sends a rejected write under a new name in its old place; discard forgets it and shows the log's rows", async () => {
  const { client, slides, connection, settle, server, disk } = await start();
  slides.create({ title: "Old" }, { id: "s1" });
  await settle();
  const no = server.refuse((o) => (o.action === "update" ? "capability_scope_denied" : undefined));
  slides.update("s1", { title: "Mine" });
  await settle();
  expect(slides.get("s1")).toMatchObject({ title: "Old" });
  const second = client.attention()[0]?.retry();
  expect(slides.get("s1")).toMatchObject({ title: "Mine" });
  await settle();
  await expect(second?.receipt).rejects.toMatchObject({ code: "capability_scope_denied" });
  client.attention()[0]?.discard();
  await settle();
  no();
  expect(client.attention()).toEqual([]);
  expect(slides.get("s1")).toMatchObject({ title: "Old" });
  expect(disk.queue()).toEqual([]);
  expect(connection.sent).toHaveLength(3);
});

test("[Q11] an update that met no record is not shown as saved: it needs attention", async () => {
  const { client, slides, settle } = await start();
  const write = slides.update("nowhere", { title: "Lost" });
  await settle();
  expect(client.attention()).toMatchObject([{ code: "record_not_found", clientTxId: write.clientTxId }]);
  await expect(write.receipt).rejects.toMatchObject({ code: "record_not_found", receipt: { missingIds: ["nowhere"] } });
  await expect(slides.delete("neither").receipt).resolves.toMatchObject({ status: "confirmed" });
});

test("[Q18] a request that is refused as a whole is divided until its culprit stands alone", async () => {
  const { client, slides, connection, settle, clock } = await start();
  const tooLarge = {
    kind: "answer",
    status: 413,
    body: { code: "request_too_large", type: "too_large_error", message: "Too large." },
  } as const;
  connection.answers.push(tooLarge, tooLarge);
  slides.create({ title: "big" }, { id: "big" });
  slides.create({ title: "small" }, { id: "small" });
  await settle();
  for (let i = 0; i < 4; i++) {
    clock.advance(60_000);
    await settle();
  }
  expect(client.attention()).toMatchObject([{ code: "request_too_large", operations: [{ id: "big" }] }]);
  expect(client.status().pending).toBe(0);
});

test("[Q18] a refusal that is not about a write parks none", async () => {
  const { client, slides, connection, settle, clock } = await start();
  connection.answers.push({
    kind: "answer",
    status: 404,
    body: { code: "route_not_found", type: "not_found_error", message: "No such route." },
  });
  slides.create({ title: "New" });
  await settle();
  expect(client.status()).toMatchObject({ pending: 1, attention: 0, reason: "No such route." });
  clock.advance(60_000);
  await settle();
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
});

test("[Q19] a write to a model or field that the schema does not have is refused at once", async () => {
  const { client, slides } = await start();
  expect(() => slides.create({ titel: "Typo" } as never)).toThrowError(/no field "titel"/);
  expect(() => client.commit([{ action: "delete", model: "slides" as "slide", id: "s1" }])).toThrowError(
    /no model "slides"/,
  );
  expect(() => slides.update("s1", {})).toThrowError(SyncError);
  expect(() => slides.update("s1", { title: "x" }, { readAt: -1 })).toThrowError(/readAt/);
  expect(() => client.commit([])).toThrowError(SyncError);
  expect(client.pending()).toEqual([]);
});

test("[Q20] a name is taken once: a second write under it is refused while the first is in the queue", async () => {
  const { slides, connection, settle } = await start();
  connection.up = false;
  slides.create({ title: "1" }, { clientTxId: "order-7" });
  expect(() => slides.create({ title: "2" }, { clientTxId: "order-7" })).toThrowError(
    /order-7 is already in the queue/,
  );
  await settle();
});

test("[Q20] a name that a stored write has is not taken by one that came before the store was read", async () => {
  const own = createTestServer(schema);
  const first = own.client();
  first.connection.up = false;
  await first.client.models.slide.create({ title: "durable" }, { id: "s1", clientTxId: "job-1" }).queued;
  await first.client.close();
  const again = own.client({ disk: first.disk });
  const other = again.client.models.slide.create({ title: "other" }, { id: "s2", clientTxId: "job-1" });
  await expect(other.queued).rejects.toMatchObject({ code: "idempotency_conflict", param: "clientTxId" });
  await expect(other.receipt).rejects.toMatchObject({ code: "idempotency_conflict" });
  await own.settle();
  expect(again.connection.sent.flatMap(commits).map(({ clientTxId }) => clientTxId)).toEqual(["job-1"]);
  expect([...again.client.models.slide.list()].map(({ title }) => title)).toEqual(["durable"]);
  expect(again.client.pending()).toEqual([]);
});

test("[Q21] a refused write that the app does not await causes no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  const { client, slides, connection, settle } = await start();
  connection.answers.push(refused(403, "capability_scope_denied"));
  slides.create({ title: "New" });
  await settle();
  slides.create({ title: "Other" });
  await client.close();
  await settle();
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled).toEqual([]);
});

test("[Q36] the client does not ask the server for the outcome of a discarded write", async () => {
  const { client, slides, server, connection, settle, signals } = await start();
  server.refuse(() => "capability_scope_denied");
  slides.create({ title: "New" });
  await settle();
  client.attention()[0]?.discard();
  await settle();
  signals.woke();
  await settle();
  expect(client.attention()).toEqual([]);
  expect(connection.requests).toEqual([]);
});

test("[Q22] drain waits until every write so far is settled or needs a decision, and rejects after its timeout", async () => {
  const { client, slides, connection, settle, clock } = await start();
  connection.up = false;
  slides.create({ title: "New" });
  const late = client.drain({ timeoutMs: 1_000 });
  clock.advance(1_000);
  await expect(late).rejects.toMatchObject({ code: "timed_out" });
  const drained = client.drain();
  await settle();
  connection.up = true;
  clock.advance(60_000);
  await drained;
  expect(client.status().pending).toBe(0);
  await client.drain();
  await settle();
});

test("[Q16] the operations of a commit happen together or not at all", async () => {
  const { client, slides, settle, server, connection } = await start();
  server.refuse((o) => (o.id === "bad" ? "capability_scope_denied" : undefined));
  const write = client.commit([
    { action: "create", model: "slide", id: "good", data: { title: "1" } },
    { action: "create", model: "slide", id: "bad", data: { title: "2" } },
  ]);
  expect(write.id).toBe("good");
  expect(slides.list()).toHaveLength(2);
  await settle();
  expect(commits(connection.sent[0])).toMatchObject([
    { operations: [{ id: "good" }, { id: "bad" }], clientTxId: write.clientTxId },
  ]);
  expect(slides.list()).toEqual([]);
  expect(client.attention()).toHaveLength(1);
});

test("[R7] a write carries the position of its rows and the clientId of its device", async () => {
  const { client, slides, settle, connection, disk } = await start();
  slides.create({ title: "1" }, { id: "s1" });
  await settle();
  slides.update("s1", { title: "2" });
  slides.update("s1", { title: "3" }, { readAt: 0, onStale: "overwrite" });
  client.commit([{ action: "delete", model: "slide", id: "s1" }], {
    reads: [{ group: "deck:d1" }, { model: "slide", id: "s1", readAt: 0, onStale: "reject" }],
  });
  await settle();
  const { clientId } = disk.read("");
  expect(clientId).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(commits(connection.sent[1])).toMatchObject([
    { clientId, operations: [{ readAt: 1, onStale: "notify" }] },
    { operations: [{ readAt: 0, onStale: "overwrite" }] },
    {
      reads: [
        { group: "deck:d1", readAt: 1, onStale: "notify" },
        { model: "slide", id: "s1", readAt: 0, onStale: "reject" },
      ],
    },
  ]);
});

test("[D9] the queue survives a reload: the same bytes, in the same order, and the rejected ones still wait", async () => {
  const { client, slides, connection, settle, disk } = await start();
  connection.answers.push(refused(409, "claim_conflict", "claim_error"));
  slides.create({ title: "Rejected" }, { id: "s1" });
  await settle();
  connection.answers.push("held back");
  slides.create({ title: "Sent, no answer" }, { id: "s2" });
  await settle();
  slides.create({ title: "Queued" }, { id: "s3" });
  await settle();
  const again = createTestServer(schema).client({ disk, paused: true });
  await again.client.ready();
  expect(again.client.status()).toMatchObject({ name: "paused", pending: 2, attention: 1 });
  expect(again.client.models.slide.list().map((s) => s.title)).toEqual(["Sent, no answer", "Queued"]);
  again.client.resume();
  await settle();
  expect(commits(again.connection.sent[0])[0]).toEqual(commits(connection.sent[1])[0]);
  await client.close();
});

test("[D2] a write made before the local store was read comes after what was found there", async () => {
  const first = await start();
  first.connection.up = false;
  first.slides.create({ title: "1" }, { id: "s1" });
  await first.settle();
  await first.client.close();
  const own = createTestServer(schema);
  const { client, connection } = own.client({ disk: first.disk });
  const early = client.models.slide.update("s1", { title: "2" });
  expect(client.status()).toMatchObject({ name: "starting", pending: 1 });
  await early.queued;
  expect(client.models.slide.get("s1")).toMatchObject({ title: "2" });
  await own.settle();
  expect(
    commits(connection.sent[0])
      .map((c) => c.clientTxId)
      .at(-1),
  ).toBe(early.clientTxId);
  expect(own.server.log.map((e) => e.verb)).toEqual(["created", "updated"]);
});

test("[Q43] a write that violates the schema throws where it is made, with the field and the expected type, and is not queued", async () => {
  const typed = defineSchema({
    models: {
      task: {
        fields: {
          title: { type: "string", required: true },
          size: { type: "integer", nullable: true },
          due: { type: "datetime" },
          kind: { type: "enum", values: ["bug", "wish"], required: true, default: "bug" },
          tags: { type: "array" },
        },
      },
    },
  });
  const { client: open, settle } = createTestServer(typed);
  const { client, connection } = open();
  await client.ready();
  const { task } = client.models;
  const given = (data: object) => data as never;
  const refused = (write: () => unknown, code: string, param: string, message: RegExp) => {
    let error: unknown;
    try {
      write();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ name: "SyncError", code, param });
    expect((error as Error).message).toMatch(message);
  };
  refused(() => task.create(given({})), "missing_field", "data.title", /"title"/);
  refused(() => task.create(given({ title: 5 })), "invalid_type", "data.title", /of type string \(got number\)/);
  refused(() => task.create(given({ title: null })), "invalid_type", "data.title", /got null/);
  refused(() => task.update("t", given({ size: 1.5 })), "invalid_type", "data.size", /of type integer, or null/);
  refused(
    () => task.update("t", given({ kind: "task" })),
    "invalid_type",
    "data.kind",
    /one of bug, wish \(got "task"\)/,
  );
  refused(() => task.update("t", given({ due: "2030-02-30T00:00:00Z" })), "invalid_type", "data.due", /date-time/);
  refused(() => task.update("t", given({ tags: "a" })), "invalid_type", "data.tags", /array/);
  const twice = () =>
    client.commit([
      { action: "create", model: "task", data: { title: "a" } },
      given({ action: "update", model: "task", id: "t", data: { title: 5 } }),
    ]);
  refused(twice, "invalid_type", "data.title", /string/);
  expect(client.pending()).toEqual([]);
  task.create({ title: "a", size: null }, { id: "t" });
  await settle();
  expect(connection.sent.length).toBe(1);
  expect(task.get("t")).toEqual({ id: "t", title: "a", size: null, kind: "bug" });
});
