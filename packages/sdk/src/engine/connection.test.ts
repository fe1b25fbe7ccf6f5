import { expect, test } from "vitest";
import { giveTime } from "../../../../scripts/testing/give-time.ts";
import type { TabMessage } from "../core/tabs/tab-message.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { createTestServer, type TestClientOptions } from "../testing/test-server.ts";
import { StorageFailure, type Tabs } from "./ports.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;

function start(options: TestClientOptions = {}) {
  const own = createTestServer(schema);
  const made = own.client(options);
  return { ...own, ...made, slides: made.client.models.slide };
}

test("[N1] a new client reads a snapshot, then the log from its stamp; a reloaded client continues from its rows", async () => {
  const { client, slides, connection, server, settle, clock, disk } = start();
  await client.ready();
  await slides.create({ title: "1" }, { id: "s1" }).receipt;
  await settle();
  expect(client.status()).toMatchObject({ name: "online", syncId: 1 });
  expect(connection.asked).toEqual({ snapshot: 1, log: 0, socket: 1 });
  await client.close();
  const other = createTestServer(schema);
  Object.assign(other.server, { log: server.log, rows: server.rows });
  const again = other.client({ disk });
  await again.client.ready();
  await settle();
  expect(again.client.models.slide.get("s1")).toMatchObject({ title: "1" });
  expect(again.connection.asked).toEqual({ snapshot: 0, log: 0, socket: 1 });
  expect(clock.waiting).toBe(0);
});

test("[N2] after a cut the stream is resumed from where the rows end", async () => {
  const { client, slides, connection, settle, clock, server } = start();
  await client.ready();
  await slides.create({ title: "1" }, { id: "s1" }).receipt;
  await settle();
  connection.cut?.();
  server.commit(
    { operations: [{ action: "update", model: "slide", id: "s1", data: { title: "2" } }], clientTxId: "x" },
    "ben",
  );
  clock.advance(5_000);
  await settle();
  expect(client.status()).toMatchObject({ name: "online", syncId: 2 });
  expect(slides.get("s1")).toMatchObject({ title: "2" });
  expect(connection.asked.snapshot).toBe(1);
});

test("[N5] without a network at the start the client opens nothing until there is one", async () => {
  const yesterday = start();
  await yesterday.client.ready();
  await yesterday.slides.create({ title: "1" }).receipt;
  await yesterday.settle();
  await yesterday.client.close();
  let setNetwork: (up: boolean) => void = () => {};
  const { client, connection, settle } = start({
    platform: {
      // Each tab has a channel of its own, because another tab may post `joined` while the disk is busy.
      storage: async () => {
        await import("../api/claims/collab.ts");
        await giveTime(20);
        return memoryStorage(yesterday.disk);
      },
      signals: () => ({
        start({ network }) {
          setNetwork = network;
          network(false);
        },
        close: () => {},
      }),
    },
  });
  client.presence("deck:d1").subscribe(() => {});
  await client.ready();
  await settle();
  expect(client.status().name).toBe("offline");
  expect(connection.asked).toEqual({ snapshot: 0, log: 0, socket: 0 });
  setNetwork(true);
  await settle();
  expect(connection.asked.socket).toBeGreaterThan(0);
});

test("[N5] the platform's word for offline closes everything; online opens it at once", async () => {
  const { client, slides, connection, settle, signals } = start();
  await client.ready();
  await settle();
  signals.network(false);
  expect(client.status()).toMatchObject({ name: "offline" });
  slides.create({ title: "offline" });
  await settle();
  expect(connection.sent.length).toBe(0);
  expect(connection.cut).toBe(undefined);
  signals.network(true);
  await settle();
  expect(client.status()).toMatchObject({ name: "online", pending: 0 });
});

test("[N6] while the socket cannot be opened, the client polls the log and sends writes", async () => {
  const { client, slides, connection, settle, clock, server } = start();
  connection.socketUp = false;
  await client.ready();
  slides.create({ title: "mine" }, { id: "s1" });
  for (let i = 0; i < 30; i++) {
    await settle();
    clock.advance(1_000);
  }
  server.commit(
    { operations: [{ action: "create", model: "slide", id: "s2", data: { title: "theirs" } }], clientTxId: "x" },
    "ben",
  );
  for (let i = 0; i < 8; i++) {
    await settle();
    clock.advance(1_000);
  }
  await settle();
  expect(slides.list().map((s) => s.title)).toEqual(["mine", "theirs"]);
  expect(client.status()).toMatchObject({ name: "online", live: false, rows: "complete", pending: 0, syncId: 2 });
  connection.socketUp = true;
  clock.advance(60_000);
  await settle();
  expect(client.status()).toMatchObject({ name: "online", live: true, rows: "complete" });
});

test("[N6] while it polls, the status stays online at each attempt to open a socket, and tells of a failing server", async () => {
  const { client, connection, settle, clock } = start();
  connection.socketUp = false;
  await client.ready();
  const names = async (seconds: number) => {
    const seen = new Set<string>();
    for (let i = 0; i < seconds; i++) {
      clock.advance(1_000);
      await settle();
      const { name, live, rows } = client.status();
      seen.add(`${name} ${live ? "live" : "polling"} ${rows}`);
    }
    return [...seen];
  };
  expect(client.status().name).toBe("connecting");
  expect((await names(30)).at(-1)).toBe("online polling complete");
  expect(await names(180)).toEqual(["online polling complete"]);
  connection.up = false;
  expect((await names(30)).at(-1)).toBe("connecting polling partial");
  connection.up = true;
  connection.socketUp = false;
  expect((await names(90)).at(-1)).toBe("online polling complete");
});

test("[R3] a gap in the stream is fetched, and no later entry is shown before it", async () => {
  const { client, slides, connection, settle, server } = start();
  await client.ready();
  await settle();
  connection.quiet = true;
  for (const n of [1, 2, 3])
    server.commit(
      { operations: [{ action: "create", model: "slide", id: `s${n}`, data: { title: `${n}` } }], clientTxId: `x${n}` },
      "ben",
    );
  connection.skip(2);
  expect(slides.list()).toEqual([]);
  await settle();
  expect(connection.asked.log).toBe(1);
  expect(slides.list().map((s) => s.id)).toEqual(["s1", "s2", "s3"]);
  expect(client.status().syncId).toBe(3);
});

test("[N7] a client that starts paused shows its rows and writes, and sends nothing until it is resumed", async () => {
  const first = start();
  await first.client.ready();
  await first.slides.create({ title: "log" }, { id: "s1" }).receipt;
  await first.settle();
  await first.client.close();
  const { client, slides, connection, settle, server } = start({ disk: first.disk, paused: true });
  Object.assign(server, { log: first.server.log, rows: first.server.rows });
  await client.ready();
  slides.update("s1", { title: "mine" });
  await settle();
  expect(client.status()).toMatchObject({ name: "paused", pending: 1 });
  expect(slides.get("s1")).toMatchObject({ title: "mine" });
  expect(connection.sent.length).toBe(0);
  expect(connection.asked).toEqual({ snapshot: 0, log: 0, socket: 0 });
  client.resume();
  await settle();
  expect(client.status()).toMatchObject({ name: "online", pending: 0 });
});

test("[N7] pause gives up what is under way; its outcome is unknown, so it is sent again", async () => {
  const { client, slides, connection, settle, server } = start();
  await client.ready();
  connection.answers.push("held back");
  slides.create({ title: "1" });
  await settle();
  client.pause();
  await settle();
  expect(client.pending()).toMatchObject([{ phase: "queued", attempts: 1 }]);
  connection.release();
  client.resume();
  await settle();
  expect(connection.sent[1]).toBe(connection.sent[0]);
  expect(client.status().pending).toBe(0);
  expect(server.head).toBe(1);
});

test("[N8] close leaves nothing open, rejects what is waited for, and loses nothing that was written", async () => {
  const { client, slides, connection, settle, clock, disk } = start();
  await client.ready();
  connection.up = false;
  const write = slides.create({ title: "1" });
  await settle();
  const last = slides.create({ title: "2" });
  const drained = client.drain();
  await client.close();
  await client.close();
  await expect(write.receipt).rejects.toMatchObject({ code: "client_closed" });
  await expect(drained).rejects.toMatchObject({ code: "client_closed" });
  await expect(last.queued).resolves.toBeUndefined();
  expect(disk.queue()).toHaveLength(2);
  expect(clock.waiting).toBe(0);
  expect(connection.cut).toBe(undefined);
  expect(() => slides.create({ title: "3" })).toThrowError(/closed/);
});

test("[N8] a client that is closed while it starts leaves nothing open either", async () => {
  const { client, clock, settle } = start();
  const ready = client.ready();
  await client.close();
  await expect(ready).rejects.toMatchObject({ code: "client_closed" });
  await settle();
  expect(clock.waiting).toBe(0);
});

test("[N12] when the server asks for it, the rows are read anew", async () => {
  const { client, slides, connection, settle, server } = start();
  await client.ready();
  await slides.create({ title: "1" }, { id: "s1" }).receipt;
  await settle();
  server.rows.delete("slide/s1");
  connection.say({ frame: "resync", reason: "scope" });
  await settle();
  expect(slides.list()).toEqual([]);
  expect(connection.asked.snapshot).toBe(2);
  expect(client.status().name).toBe("online");
});

test("[N9] a snapshot that cannot be read is requested again, with growing waits", async () => {
  const { client, connection, settle, clock } = start();
  connection.up = false;
  for (let i = 0; i < 4; i++) {
    await settle();
    clock.advance(3_000);
  }
  expect(client.status()).toMatchObject({
    name: "connecting",
    reason: "The client is offline.",
    retryAt: expect.any(Number),
  });
  connection.up = true;
  clock.advance(60_000);
  await client.ready();
});

test("[D8] if the disk fails, the client continues in memory, reports it, and no queued promise resolves", async () => {
  const disk = new MemoryDisk();
  let broken = false;
  const storage = memoryStorage(disk);
  const failing = {
    ...storage,
    enqueue: async (mutations: Parameters<typeof storage.enqueue>[0]) => {
      if (broken) throw new StorageFailure("The local store failed (QuotaExceededError). Writes are in memory only.");
      return storage.enqueue(mutations);
    },
  };
  const { client, slides, settle, connection } = start({ platform: { storage: async () => failing } });
  await client.ready();
  await slides.create({ title: "kept" }).queued;
  await settle();
  broken = true;
  const write = slides.create({ title: "memory" });
  await expect(write.queued).rejects.toMatchObject({ code: "storage_failed" });
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed" });
  expect(client.status()).toMatchObject({
    name: "storage-failed",
    reason: expect.stringContaining("QuotaExceededError"),
  });
  await expect(slides.create({ title: "later" }).queued).rejects.toMatchObject({ code: "storage_failed" });
  await settle();
  expect(slides.list()).toHaveLength(3);
  expect(connection.sent).toHaveLength(3);
});

test("[D8] a store that cannot be opened at all is said, too", async () => {
  const { client, slides } = start({ platform: { storage: () => Promise.reject(new Error("IndexedDB is blocked")) } });
  await client.ready();
  expect(client.status()).toMatchObject({ name: "storage-failed", reason: expect.stringContaining("blocked") });
  await expect(slides.create({ title: "1" }).receipt).resolves.toMatchObject({ status: "confirmed" });
});

test("[D3] all writes of one moment are one transaction, in the order in which they were made", async () => {
  const disk = new MemoryDisk();
  const storage = memoryStorage(disk);
  const batches: string[][] = [];
  const { client, slides } = start({
    platform: {
      storage: async () => ({
        ...storage,
        enqueue: (changes) => {
          const put = changes.flatMap((change) => change.put);
          batches.push(put.map(({ mutation }) => String(mutation.operations[0]?.data?.title)));
          return storage.enqueue(changes);
        },
      }),
    },
  });
  await client.ready();
  const writes = ["a", "b", "c"].map((title) => slides.create({ title }));
  await Promise.all(writes.map((w) => w.queued));
  expect(batches).toEqual([["a", "b", "c"]]);
});

test("[Q6] a wait ends when its timer does, also when the wall clock was set back meanwhile", async () => {
  const fake = fakeClock();
  let setBackMs = 0;
  const clock = { ...fake, now: () => fake.now() - setBackMs };
  const { client, slides, connection, settle } = start({ platform: { clock } });
  await client.ready();
  await settle();
  connection.answers.push("lost");
  slides.create({ title: "1" });
  await settle();
  setBackMs = 3_600_000;
  fake.advance(30_000);
  await settle();
  expect(connection.sent).toHaveLength(2);
});

test("[Q3] an answer that another tab heard does not end our own request", async () => {
  let receive: (message: TabMessage) => void = () => {};
  const tabs: Tabs = {
    start: (listener) => {
      receive = listener.received;
      queueMicrotask(listener.lead);
    },
    campaign: () => {},
    post: () => {},
    close: () => {},
  };
  const { client, slides, connection, settle } = start({ platform: { tabs: () => tabs } });
  await client.ready();
  connection.answers.push("held back");
  slides.create({ title: "1" });
  await settle();
  receive({ type: "answered", names: ["unknown"], reply: { kind: "answer", status: 200, body: { data: [{}] } } });
  slides.create({ title: "2" });
  await settle();
  expect(connection.sent).toHaveLength(1);
  expect(client.status().retryAt).toBeUndefined();
});

test("[N6] when nothing waits any more, no timer is left to ring", async () => {
  const { client, slides, connection, settle, clock } = start();
  await client.ready();
  await settle();
  connection.up = false;
  connection.cut?.();
  slides.create({ title: "1" });
  for (let i = 0; i < 5; i++) {
    await settle();
    clock.advance(2_000);
  }
  connection.up = true;
  clock.advance(60_000);
  await settle();
  expect(client.status()).toMatchObject({ name: "online", pending: 0 });
  expect(clock.waiting).toBe(0);
});

test("[N21] a line that is back within a second is not shown as lost; one that is not is", async () => {
  const { client, connection, settle, clock } = start();
  await client.ready();
  await settle();
  const names = new Set<string>();
  client.subscribe(() => names.add(client.status().name));
  connection.cut?.();
  await settle();
  clock.advance(900);
  await settle();
  clock.advance(5_000);
  await settle();
  expect(connection.asked.socket).toBe(2);
  expect([...names]).toEqual(["online"]);
  connection.up = false;
  connection.cut?.();
  await settle();
  clock.advance(999);
  await settle();
  expect(client.status().name).toBe("online");
  clock.advance(1);
  await settle();
  expect(client.status().name).toBe("connecting");
  await client.close();
});

test("[N22] a page that is put away closes its socket, and opens another when it is shown again", async () => {
  const { client, connection, signals, settle } = start();
  await client.ready();
  await settle();
  expect(connection.cut).toBeDefined();
  signals.hidden();
  await settle();
  expect(connection.cut).toBe(undefined);
  expect(connection.asked.socket).toBe(1);
  signals.woke();
  await settle();
  expect(client.status().name).toBe("online");
  expect(connection.asked.socket).toBe(2);
  await client.close();
});
