import { expect, test } from "vitest";
import { noSignals } from "../browser/signals.ts";
import { alone } from "../browser/tabs.ts";
import { createShell } from "../client.ts";
import { openRuntime } from "../runtime.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { createTestServer, type TestClientOptions } from "../testing/test-server.ts";
import { mergeText } from "../text/merge-text.ts";
import { type EvictionMarker, StorageFailure } from "./ports.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;

async function start(platform: TestClientOptions["platform"] = {}, more: Omit<TestClientOptions, "platform"> = {}) {
  const own = createTestServer(schema);
  const made = own.client({ ...more, platform });
  await own.settle();
  return { ...own, ...made, open: own.client, slides: made.client.models.slide };
}

test("[D10] the status says where writes are stored, and how a disk has failed", async () => {
  const { client, slides, settle } = await start();
  expect(client.status()).toMatchObject({ storage: "disk", storageTrouble: undefined });
  await client.close();

  const full = await start({
    storage: async () => ({
      ...memoryStorage(),
      enqueue: () => Promise.reject(new StorageFailure("No room.", { code: "quota" })),
    }),
  });
  const write = full.slides.create({ title: "x" });
  await expect(write.queued).rejects.toMatchObject({ code: "storage_failed", message: "No room." });
  expect(full.client.status()).toMatchObject({ name: "storage-failed", storage: "memory", storageTrouble: "quota" });
  expect(slides.list()).toEqual([]);
  await settle();

  const none = await start({ storage: () => Promise.reject(new Error("IndexedDB is forbidden")) });
  expect(none.client.status()).toMatchObject({ storage: "memory", storageTrouble: "unavailable" });
});

test("[D32] if the disk fails, pending operations run in memory, in their original order, and later results of the disk are ignored", async () => {
  const memory = memoryStorage();
  let lost: (failure: StorageFailure) => void = () => {};
  let answer = () => {};
  const hung = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { slides, client, connection, settle } = await start({
    storage: async () => ({
      ...memory,
      enqueue: async (changes) => {
        await hung;
        return memory.enqueue(changes);
      },
      watch: (listener) => {
        lost = listener;
      },
    }),
  });
  const first = slides.create({ title: "first" }, { id: "a" });
  const second = slides.update("a", { title: "second" });
  await settle();
  expect(client.status()).toMatchObject({ storage: "disk", pending: 2 });
  lost(new StorageFailure("It is gone.", { code: "lost" }));
  await settle();
  await expect(Promise.all([first.receipt, second.receipt])).resolves.toMatchObject([{ ops: 1 }, { ops: 1 }]);
  await expect(first.queued).rejects.toMatchObject({ code: "storage_failed" });
  expect(client.status()).toMatchObject({ storage: "memory", storageTrouble: "lost", pending: 0 });
  const sent = connection.sent.length;
  answer();
  await settle();
  expect(connection.sent.length).toEqual(sent);
  expect(slides.get("a")?.title).toBe("second");
});

test("[D11] the first queued write requests persistent storage once, and the status reports the answer", async () => {
  let requests = 0;
  const persist = async () => {
    requests += 1;
    return true;
  };
  const { client, slides, settle } = await start({ persist });
  expect(requests).toBe(0);
  expect(client.status().persisted).toBe(undefined);
  await slides.create({ title: "x" }).queued;
  await slides.create({ title: "y" }).queued;
  await settle();
  expect(requests).toBe(1);
  expect(client.status().persisted).toBe(true);
});

test("[D12] the client notices a cleared store and reports how many writes waited in it", async () => {
  let note: ReturnType<EvictionMarker["read"]>;
  const evictionMarker = (): EvictionMarker => ({
    read: () => note,
    note: (next) => {
      note = next;
    },
    forget: () => {
      note = undefined;
    },
  });
  const disk = new MemoryDisk();
  const first = await start({ evictionMarker }, { disk });
  first.connection.up = false;
  first.connection.cut?.();
  await first.slides.create({ title: "x" }).queued;
  first.clock.advance(3_000);
  await first.slides.create({ title: "y" }).queued;
  expect(note).toMatchObject({ pending: 2, clientId: expect.any(String) });
  await first.client.close();

  const kept = await start({ evictionMarker }, { disk });
  expect(kept.client.status()).toMatchObject({ lostStore: undefined });
  await kept.client.close();

  note = { clientId: "c", pending: 2, notedAt: 7 };
  const cleared = await start({ evictionMarker }, { disk: new MemoryDisk() });
  expect(cleared.client.status().lostStore).toEqual({ pending: 2, notedAt: 7 });
  await cleared.slides.create({ title: "z" }).receipt;
  await cleared.settle();
  // From here on it is this store that is watched.
  expect(note.pending).toBe(0);
  await cleared.client.close();
  expect((await start({ evictionMarker }, { disk: new MemoryDisk() })).client.status().lostStore).toBeUndefined();
});

test("[D12] a tab whose store was cleared sends what it knows of it, and what it has sent does not count as lost", async () => {
  let note: ReturnType<EvictionMarker["read"]>;
  const evictionMarker = (): EvictionMarker => ({
    read: () => note,
    note: (next) => {
      note = next;
    },
    forget: () => {},
  });
  let lost: (failure: StorageFailure) => void = () => {};
  const disk = new MemoryDisk();
  const storage = async () => ({
    ...memoryStorage(disk),
    watch: (listener: typeof lost) => {
      lost = listener;
    },
  });
  const first = await start({ evictionMarker, storage }, { disk });
  first.offline();
  await first.slides.create({ title: "x" }).queued;
  expect(note?.pending).toBe(1);
  lost(new StorageFailure("It is gone.", { code: "lost" }));
  await first.settle();
  expect(note?.pending).toBe(1);
  first.online();
  await first.settle();
  expect(first.server.log).toHaveLength(1);
  expect(note?.pending).toBe(0);
  // The store of another tab has a note of its own.
  note = { clientId: "c", pending: 2, notedAt: 7 };
  await first.slides.create({ title: "y" }).receipt;
  expect(note).toMatchObject({ clientId: "c", pending: 2 });
});

test("[D13] everything that waits can be exported, and imported elsewhere under the same names: nothing is done twice", async () => {
  const { client, slides, connection, server, settle, open: again } = await start();
  await client.ready();
  await slides.create({ title: "there" }, { id: "a" }).receipt;
  const no = server.refuse(({ id }) => (id === "bad" ? "capability_scope_denied" : undefined));
  slides.create({ title: "refused" }, { id: "bad" });
  await settle();
  connection.answers.push("lost");
  slides.update("a", { title: "taken, and the answer is lost" });
  await settle();
  connection.up = false;
  connection.cut?.();
  slides.update("a", { title: "never sent" });
  await settle();
  const exported = JSON.parse(JSON.stringify(await client.exportPending()));
  expect(exported).toMatchObject({ object: "holdfast_pending", version: 1, writes: [{}, {}, {}] });
  await client.close();
  no();

  const head = server.head;
  const elsewhere = again({ disk: new MemoryDisk() }).client;
  await elsewhere.ready();
  await expect(elsewhere.importPending(exported)).resolves.toBe(3);
  await settle();
  await expect(elsewhere.importPending(exported)).resolves.toBe(2);
  expect(server.rows.get("slide/a")?.data.title).toBe("never sent");
  expect(server.head).toBe(head + 1);
  expect(elsewhere.attention()).toMatchObject([{ code: "capability_scope_denied" }]);
  for (const odd of [
    undefined,
    {},
    { object: "holdfast_pending", version: 2, writes: [] },
    { ...exported, writes: [{}] },
  ])
    await expect(elsewhere.importPending(odd)).rejects.toMatchObject({ code: "invalid_export" });
});

test("[D14] the client retries loading the runtime until it succeeds; meanwhile writes are shown, and no promise resolves", async () => {
  const own = createTestServer(schema);
  const clock = fakeClock();
  const merging = async () => ({ mergeText });
  const ports = { storage: async () => memoryStorage(), tabs: alone, signals: noSignals, merging };
  let isThere = false;
  const client = createShell(
    {
      clock,
      random: { roll: () => 0.5, id: () => crypto.randomUUID() },
      relations: () => import("../api/relations/joins.ts"),
      collab: () => import("../api/claims/collab.ts"),
      runtime: async () => {
        if (!isThere) throw new Error("Failed to fetch");
        return { openRuntime: (deps) => openRuntime(ports, deps) };
      },
    },
    { schema, url: "http://127.0.0.1:9", getToken: () => "token" },
  );
  const write = client.models.slide.create({ title: "early" });
  let queued = false;
  void write.queued.then(() => {
    queued = true;
  });
  await own.settle();
  expect(client.models.slide.get(write.id)).toMatchObject({ title: "early" });
  expect(client.status().name).toBe("starting");
  expect(client.status().storage).toBe("opening");
  expect(queued).toBe(false);
  expect(client.status().reason).toMatch(/could not be loaded.*Failed to fetch/);
  isThere = true;
  clock.advance(3_000);
  await own.settle();
  expect(client.status().storage).toBe("disk");
  expect(queued).toBe(true);
  await client.close();
  expect(clock.waiting).toBe(0);
});

test("[N36] where import() is forbidden, the status and a claim say so, and name the entry that needs none", async () => {
  const forbidden = () => Promise.reject(new TypeError("import() is disallowed on ServiceWorkerGlobalScope"));
  const client = createShell(
    {
      clock: fakeClock(),
      random: { roll: () => 0.5, id: () => crypto.randomUUID() },
      runtime: forbidden,
      relations: forbidden,
      collab: forbidden,
    },
    { schema, url: "http://127.0.0.1:9", getToken: () => "token" },
  );
  const way = /import\(\) is disallowed.*\. Service workers forbid import\(\): use "@holdfast\/sdk\/worker" in them\./;
  await expect(client.models.slide.claim("s1")).rejects.toMatchObject({
    code: "part_not_loaded",
    message: expect.stringMatching(way),
  });
  expect(client.status().reason).toMatch(way);
  await client.close();
});

test("[D16] signOut also empties a disk that has failed, and rejects if it cannot", async () => {
  const disk = new MemoryDisk();
  const memory = memoryStorage(disk);
  let isFull = false;
  const full = await start({
    storage: async () => ({
      ...memory,
      enqueue: (changes) => (isFull ? Promise.reject(new StorageFailure("No room.")) : memory.enqueue(changes)),
    }),
  });
  full.connection.up = false;
  await full.slides.create({ title: "kept" }).queued;
  isFull = true;
  await expect(full.slides.create({ title: "in memory" }).queued).rejects.toMatchObject({ code: "storage_failed" });
  expect(disk.queue()).toHaveLength(1);
  await full.client.signOut({ pending: "discard" });
  expect(disk.queue()).toEqual([]);

  let isClosed = false;
  const stuck = await start({
    storage: async () => ({
      ...memoryStorage(),
      destroy: () => Promise.reject(new Error("It is in use.")),
      close: async () => {
        isClosed = true;
      },
    }),
  });
  const write = stuck.slides.create({ title: "there" });
  await expect(stuck.client.signOut({ pending: "discard" })).rejects.toMatchObject({ code: "storage_failed" });
  expect(() => stuck.slides.create({ title: "late" })).toThrow(/closed/);
  expect(stuck.clock.waiting).toBe(0);
  expect(isClosed).toBe(true);
  await write.queued;
});

test("[D34] a sign-out that leaves nothing leaves no note either", async () => {
  let note: ReturnType<EvictionMarker["read"]>;
  const evictionMarker = (): EvictionMarker => ({
    read: () => note,
    note: (next) => {
      note = next;
    },
    forget: () => {
      note = undefined;
    },
  });
  const keeps = await start({ evictionMarker });
  keeps.connection.up = false;
  keeps.connection.cut?.();
  await keeps.slides.create({ title: "x" }).queued;
  await keeps.client.signOut({ pending: "keep" });
  expect(note).toMatchObject({ pending: 1 });
  const discards = await start({ evictionMarker });
  discards.connection.up = false;
  discards.connection.cut?.();
  await discards.slides.create({ title: "x" }).queued;
  await discards.client.signOut({ pending: "discard" });
  expect(note).toBeUndefined();
});
