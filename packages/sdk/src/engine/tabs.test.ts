import { expect, test } from "vitest";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { Profile } from "../testing/profile.ts";
import { createTestServer } from "../testing/test-server.ts";
import type { Storage } from "./ports.ts";

const schema = {
  models: { slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 } } } },
} as const;

/** A profile with two tabs, of which the first leads. */
async function twoTabs() {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const profile = new Profile();
  const open = async (storage: (disk: MemoryDisk) => Storage = memoryStorage) => {
    const tab = profile.tab();
    const made = own.client({ disk, platform: { tabs: () => tab.tabs, storage: async () => storage(disk) } });
    await own.settle();
    return { ...made, tab, slides: made.client.models.slide };
  };
  const first = await open();
  const second = await open();
  return { ...own, disk, profile, open, first, second };
}

test("[Q24] the leader tab has the only connection to the server, and the followers receive the log from it", async () => {
  const { first, second, server, settle } = await twoTabs();
  expect(first.connection.asked.socket).toBe(1);
  expect(second.connection.asked.socket).toBe(0);
  expect(first.connection.asked.snapshot).toBe(1);
  expect(second.connection.asked.snapshot).toBe(0);
  expect(second.client.status()).toMatchObject({ name: "online", syncId: 0 });
  await second.client.ready();

  const other = { operations: [{ action: "create", model: "slide", id: "x", data: { title: "of others" } }] } as const;
  server.commit({ ...other, clientTxId: "o1", clientId: "elsewhere" } as never, "ben");
  await settle();
  expect([first, second].map(({ slides }) => slides.get("x")?.title)).toEqual(["of others", "of others"]);
  expect(second.connection.asked).toEqual({ snapshot: 0, log: 0, socket: 0 });

  const write = second.slides.update("x", { title: "of the second" });
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  expect(first.connection.sent.length).toBe(1);
  expect(second.connection.sent.length).toBe(0);
  expect(first.client.status().pending).toBe(0);
  expect(second.client.status().pending).toBe(0);
});

test("[Q24] the leader sends its connection status to all tabs, and a late tab reads the entries that it missed", async () => {
  const { first, second, server, settle, disk, open, clock } = await twoTabs();
  first.connection.up = false;
  first.connection.cut?.();
  await settle();
  clock.advance(1_000);
  await settle();
  expect(second.client.status()).toMatchObject({ name: "connecting", retryAt: expect.any(Number) });
  first.connection.up = true;
  second.signals.woke();
  await settle();
  expect(second.client.status().name).toBe("online");

  second.tab.freeze();
  for (const id of ["a", "b"]) first.slides.create({ title: id }, { id });
  await settle();
  expect(second.slides.list()).toEqual([]);
  second.tab.thaw();
  await settle();
  expect(second.slides.list().map((s) => s.title)).toEqual(["a", "b"]);
  // A third tab reads the rows on disk, and requests only the missing entries.
  const third = await open();
  expect(third.slides.list().map((s) => s.title)).toEqual(["a", "b"]);
  expect(third.connection.asked).toEqual({ snapshot: 0, log: 0, socket: 0 });
  expect(server.head).toBe(2);
  expect(disk.queue()).toEqual([]);
});

test("[Q24] [R10] a log that ends before what was read, though it is called the same, is another one to all tabs", async () => {
  const { first, second, server, settle, disk } = await twoTabs();
  for (const id of ["a", "b", "c"]) first.slides.create({ title: id }, { id });
  await settle();
  expect(second.client.status().syncId).toBe(3);

  server.restoreTo(1, server.logId);
  first.connection.cut?.();
  await settle();
  first.signals.woke();
  await settle();
  expect(disk.rows().position).toBe(1);
  for (const { client, slides } of [first, second]) {
    expect(client.status()).toMatchObject({ name: "online", syncId: 1 });
    expect(slides.list().map(({ title }) => title)).toEqual(["a"]);
  }
});

test("[Q25] a frozen tab is replaced: the other sends on, and what the old one does afterwards is put on no disk", async () => {
  const { first, second, server, settle, disk } = await twoTabs();
  first.connection.answers.push("held back");
  const write = first.slides.create({ title: "under way" }, { id: "a" });
  await write.queued;
  await settle();
  first.tab.freeze();
  second.tab.steal();
  await settle();
  // The new one sent it again, under the same name: one effect, and it is settled.
  expect(server.head).toBe(1);
  expect(second.client.status().pending).toBe(0);
  expect(disk.queue()).toEqual([]);
  expect(second.connection.asked.socket).toBe(1);

  first.connection.release();
  first.tab.thaw();
  await settle();
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed" });
  expect(first.client.status()).toMatchObject({ name: "online", pending: 0 });
  expect(first.slides.get("a")?.title).toBe("under way");
  const sent = first.connection.sent.length;
  await second.slides.create({ title: "next" }, { id: "b" }).receipt;
  await first.slides.update("a", { title: "also" }).receipt;
  await settle();
  expect(first.connection.sent).toHaveLength(sent);
  expect(server.head).toBe(3);
  expect(disk.queue()).toEqual([]);
});

test("[Q25] a tab that believes it leads learns from the store that it does not", async () => {
  const { first, settle, disk, server } = await twoTabs();
  // Another tab raised the generation, and this tab got no message about it.
  disk.lead();
  first.slides.create({ title: "x" }, { id: "a" });
  await settle();
  await settle();
  // It stood in line again, was next, and under its new generation everything is kept.
  expect(server.head).toBe(1);
  expect(disk.queue()).toEqual([]);
  expect(disk.rows().position).toBe(1);
});

test("[Q26] a write is still sent if its tab was killed after storing it and before posting it", async () => {
  const { open, settle, clock, server, first } = await twoTabs();
  let kill = () => {};
  const killedAfterwards = (disk: MemoryDisk): Storage => ({
    ...memoryStorage(disk),
    enqueue: async (changes) => {
      const enqueued = disk.enqueue(changes);
      kill();
      return enqueued;
    },
  });
  const third = await open(killedAfterwards);
  kill = third.tab.kill;
  third.slides.create({ title: "last words" }, { id: "a" });
  await settle();
  expect(server.head).toBe(0);
  clock.advance(2_500);
  await settle();
  expect(server.head).toBe(1);
  expect(first.slides.get("a")?.title).toBe("last words");
});

test("[Q34] if two tabs decide about the same write at once, the first decision on disk applies, and the other has no effect", async () => {
  const { first, second, server, settle, disk } = await twoTabs();
  const stop = server.refuse(({ id }) => (id === "a" ? "invalid_value" : undefined));
  await expect(first.slides.create({ title: "refused" }, { id: "a" }).receipt).rejects.toBeInstanceOf(Error);
  await settle();
  stop();
  expect([first, second].map(({ client }) => client.attention().length)).toEqual([1, 1]);
  second.tab.freeze();
  first.client.attention()[0]?.discard();
  await settle();
  const late = second.client.attention()[0]?.retry();
  for (const promise of [late?.queued, late?.receipt])
    await expect(promise).rejects.toMatchObject({ code: "discarded" });
  second.tab.thaw();
  await settle();
  expect([first, second].map(({ client }) => client.attention().length)).toEqual([0, 0]);
  expect(server.head).toBe(0);
  expect(disk.queue()).toEqual([]);
});

test("[Q35] [Q63] a queue change that its tab could not post is found when the next change arrives", async () => {
  const { first, second, server, settle, open, clock, disk } = await twoTabs();
  const stop = server.refuse(({ id }) => (id === "a" ? "invalid_value" : undefined));
  first.slides.create({ title: "refused" }, { id: "a" });
  await settle();
  stop();
  let kill = () => {};
  const third = await open(
    (disk: MemoryDisk): Storage => ({
      ...memoryStorage(disk),
      enqueue: async (changes) => {
        const enqueued = disk.enqueue(changes);
        kill();
        return enqueued;
      },
    }),
  );
  kill = third.tab.kill;
  third.client.attention()[0]?.discard();
  await settle();
  expect([first, second].map(({ client }) => client.attention().length)).toEqual([1, 1]);
  await first.slides.create({ title: "next" }, { id: "b" }).receipt;
  await settle();
  clock.advance(1_500);
  await settle();
  expect([first, second].map(({ client }) => client.attention().length)).toEqual([0, 0]);
  expect(server.head).toBe(1);
  expect(disk.queue()).toEqual([]);
});

test("[Q36] the promise of a write that left the queue unnoticed settles with the outcome from the server", async () => {
  const { first, second, settle, server, clock } = await twoTabs();
  first.connection.up = false;
  first.connection.cut?.();
  await settle();
  const write = second.slides.create({ title: "mine" }, { id: "a" });
  const given = second.slides.create({ title: "given up" }, { id: "b" });
  await Promise.all([write.queued, given.queued]);
  await settle();
  second.tab.dropMessages();
  first.connection.up = true;
  first.signals.woke();
  server.refuse(({ id }) => (id === "b" ? "invalid_value" : undefined));
  await settle();
  first.client.attention()[0]?.discard();
  await settle();
  expect(second.client.status().pending).toBe(2);
  second.tab.receiveMessages();
  await first.slides.create({ title: "next" }, { id: "c" }).receipt;
  await settle();
  clock.advance(1_500);
  await settle();
  await expect(write.receipt).resolves.toMatchObject({ clientTxId: write.clientTxId, serverTxId: expect.any(String) });
  await expect(given.receipt).rejects.toMatchObject({ code: "discarded" });
  expect(second.client.status()).toMatchObject({ pending: 0, attention: 0 });
});

test("[Q36] [Q66] in a tab whose disk failed the end of a write that lies there is not known, and it is sent from there", async () => {
  const { first, server, settle, open } = await twoTabs();
  let isLost = false;
  const third = await open((disk: MemoryDisk): Storage => {
    const storage = memoryStorage(disk);
    const readQueue: Storage["readQueue"] = (seen) =>
      isLost ? Promise.reject(new Error("UnknownError")) : storage.readQueue(seen);
    return { ...storage, readQueue };
  });
  const theirs = (action: string, title: string) =>
    server.commit(
      { operations: [{ action, model: "slide", id: "a", data: { title } }], clientTxId: title } as never,
      "ben",
    );
  theirs("create", "first");
  await settle();
  const isOnline = async (up: boolean) => {
    first.connection.up = up;
    if (up) first.signals.woke();
    else first.connection.cut?.();
    await settle();
  };
  await isOnline(false);
  third.slides.update("a", { title: "mine" });
  await settle();
  theirs("update", "theirs");
  await isOnline(true);
  await isOnline(false);
  const later = third.slides.update("a", { order: 7 });
  await later.queued;
  await settle();

  third.tab.freeze();
  first.client.conflicts()[0]?.keepMine();
  await settle();
  isLost = true;
  third.client.conflicts()[0]?.keepMine();
  await expect(later.receipt).rejects.toMatchObject({
    code: "storage_failed",
    message: expect.stringMatching(/unknown/),
  });
  expect(third.client.status()).toMatchObject({ storage: "memory", pending: 0 });
  await isOnline(true);
  expect(server.rows.get("slide/a")?.data).toMatchObject({ title: "mine", order: 7 });
});

test("[Q27] a paused tab lets another one lead, and a tab without a disk sends for itself", async () => {
  const { first, second, settle, server, open } = await twoTabs();
  first.client.pause();
  await settle();
  const write = first.slides.create({ title: "of the paused" }, { id: "a" });
  await write.receipt;
  expect(first.connection.sent.length).toBe(0);
  expect(second.connection.sent.length).toBe(1);
  expect(server.head).toBe(1);
  first.client.resume();
  await settle();
  expect(first.client.status().name).toBe("online");

  const broken = await open((disk) => ({
    ...memoryStorage(disk),
    enqueue: () => Promise.reject(new Error("QuotaExceededError")),
  }));
  const own = broken.slides.create({ title: "in memory" }, { id: "b" });
  await expect(own.queued).rejects.toMatchObject({ code: "storage_failed" });
  await expect(own.receipt).resolves.toMatchObject({ status: "confirmed" });
  expect(broken.connection.sent.length).toBe(1);
  expect(second.connection.sent.length).toBe(1);
  await settle();
  expect(second.slides.get("b")?.title).toBe("in memory");
});

test("[Q37] exactly one tab reports that it leads, also after a takeover, a pause and a failed disk", async () => {
  const { first, second, settle, open, disk } = await twoTabs();
  const leads = (...tabs: (typeof first)[]) => tabs.map(({ client }) => client.status().leads);
  expect(leads(first, second)).toEqual([true, false]);
  // Another one was first at the disk: neither has heard of it.
  disk.lead();
  await settle();
  expect(leads(first, second)).toEqual([true, false]);
  const changes: boolean[] = [];
  second.client.subscribe(() => changes.push(second.client.status().leads));

  first.tab.freeze();
  second.tab.steal();
  await settle();
  expect(changes.filter((is, at) => is !== changes[at - 1])).toEqual([false, true]);
  first.tab.thaw();
  await settle();
  expect(leads(first, second)).toEqual([false, true]);

  second.client.pause();
  await settle();
  expect(leads(first, second)).toEqual([true, false]);
  second.client.resume();
  await settle();
  expect(leads(first, second)).toEqual([true, false]);

  // It continues alone, and sends only its own writes.
  const broken = await open((disk) => ({
    ...memoryStorage(disk),
    enqueue: () => Promise.reject(new Error("QuotaExceededError")),
  }));
  const write = broken.slides.create({ title: "in memory" });
  await expect(write.queued).rejects.toMatchObject({ code: "storage_failed" });
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed" });
  expect(leads(first, second, broken)).toEqual([true, false, false]);

  await first.client.close();
  await settle();
  expect(leads(first, second)).toEqual([false, true]);
});

test("[D37] a tab of a new store ignores a tab that still has the cleared store open, and reads and sends as the leader", async () => {
  const own = createTestServer(schema);
  const profile = new Profile();
  const open = async (storage: Storage) => {
    const tab = profile.tab();
    const made = own.client({ platform: { tabs: () => tab.tabs, storage: async () => storage } });
    await own.settle();
    return { ...made, tab, slides: made.client.models.slide };
  };
  const first = await open(memoryStorage());
  const storage = memoryStorage();
  let reloads = 0;
  const second = await open({
    ...storage,
    readQueue: (seen) => {
      reloads += 1;
      return reloads > 20 ? new Promise(() => {}) : storage.readQueue(seen);
    },
  });
  await first.slides.create({ title: "of the cleared store" }, { id: "a" }).receipt;
  await own.settle();
  expect(second.client.status().syncId).toBe(0);
  first.tab.kill();
  await own.settle();
  expect(reloads).toBeLessThan(20);
  expect(second.slides.get("a")?.title).toBe("of the cleared store");
  await expect(second.slides.create({ title: "next" }, { id: "b" }).receipt).resolves.toMatchObject({
    status: "confirmed",
  });
});

test("[D37] the messages that a tab posts name its store, also if the app gives the client an id", async () => {
  const own = createTestServer(schema);
  const profile = new Profile();
  const disk = new MemoryDisk();
  const { client, connection } = own.client({ disk, clientId: "app", platform: { tabs: () => profile.tab().tabs } });
  await client.models.slide.create({ title: "a" }).receipt;
  expect(connection.sent[0]).toContain('"clientId":"app"');
  const { clientId: storeId } = disk.read("");
  expect(storeId).not.toBe("app");
  expect(new Set(profile.posted.map((message) => message.storeId))).toEqual(new Set([storeId]));
});

test("[Q10] writes of one profile keep their order over a change of the tab that sends", async () => {
  const { first, second, server, settle } = await twoTabs();
  first.connection.up = false;
  first.connection.cut?.();
  await settle();
  for (let i = 0; i < 6; i++) {
    const { slides } = i % 2 ? second : first;
    await (i === 0 ? slides.create({ order: 0 }, { id: "a" }) : slides.update("a", { order: i })).queued;
  }
  first.tab.kill();
  await settle();
  expect(server.log.map((entry) => (entry.data as { order: number }).order)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(second.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
});
