import { expect, test } from "vitest";
import type { Storage } from "../engine/ports.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { BrowserProfile } from "../testing/browser-profile.ts";
import { createTestServer } from "../testing/test-server.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;

/** A client that notes in which order its store is changed and its writes are sent. */
async function noted() {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const storage = memoryStorage(disk);
  const steps: string[] = [];
  const failing = new Set<"enqueue" | "keep">();
  const noting: Storage = {
    ...storage,
    enqueue: async (changes) => {
      if (failing.has("enqueue")) throw new Error("The disk failed.");
      steps.push("enqueue");
      return storage.enqueue(changes);
    },
    keep: async (mutations, generation) => {
      if (failing.has("keep")) throw new Error("The disk failed.");
      const kept = await storage.keep(mutations, generation);
      steps.push(`keep ${mutations.length}, ${made.connection.sent.length} sent`);
      return kept;
    },
  };
  const made = own.client({ disk, platform: { storage: async () => noting } });
  await made.client.ready();
  await own.settle();
  return { ...own, ...made, disk, steps, failing, slides: made.client.models.slide };
}

/** Two tabs of a profile, of which the first leads, without a network. */
async function twoOffline(
  own: ReturnType<typeof createTestServer<typeof schema>>,
  platform: BrowserProfile["platform"],
) {
  const open = async () => {
    const made = own.client({ platform });
    await made.client.ready();
    await own.settle();
    return made;
  };
  const tabs = [await open(), await open()] as const;
  for (const { offline } of tabs) offline();
  await own.settle();
  return tabs;
}

test("[Q47] [Q54] what was written offline is stored as sent before it is sent, all writes of a request in one change", async () => {
  const { slides, steps, disk, connection, offline, online, settle } = await noted();
  offline();
  for (const id of ["a", "b", "c"]) slides.create({ title: id }, { id });
  await settle();
  expect(disk.queue().map(({ unsent }) => unsent)).toEqual([true, true, true]);
  connection.answers.push("held back");
  online();
  await settle();
  expect(steps).toEqual(["enqueue", "keep 3, 0 sent"]);
  expect(disk.queue().map(({ unsent }) => unsent)).toEqual([undefined, undefined, undefined]);
  expect(connection.sent).toHaveLength(1);
});

test("[Q47] [Q56] a write that is made while the client is connected is stored once", async () => {
  const { slides, steps, disk, connection, settle } = await noted();
  connection.answers.push("held back");
  slides.create({ title: "a" }, { id: "a" });
  await settle();
  expect(steps).toEqual(["enqueue"]);
  expect(disk.queue().map(({ unsent }) => unsent)).toEqual([undefined]);
});

test("[Q47] [Q54] a client whose disk has failed stores even there that a write was sent, if it can, and sends it in any case", async () => {
  for (const fails of [["enqueue"], ["enqueue", "keep"]] as const) {
    const { slides, failing, disk, connection, offline, online, settle } = await noted();
    offline();
    slides.create({ title: "a" }, { id: "a" });
    await settle();
    for (const one of fails) failing.add(one);
    slides.create({ title: "b" }, { id: "b" });
    await settle();
    connection.answers.push("held back");
    online();
    await settle();
    expect(disk.queue().map(({ unsent }) => unsent)).toEqual([fails.length === 1 ? undefined : true]);
    expect(connection.sent).toHaveLength(1);
  }
});

test("[Q47] [Q54] a leader that was replaced sends nothing before it leads again and has stored that", async () => {
  const { slides, steps, disk, connection, offline, online, settle } = await noted();
  offline();
  slides.create({ title: "a" }, { id: "a" });
  await settle();
  disk.lead();
  online();
  await settle();
  expect(steps.slice(0, 3)).toEqual(["enqueue", "keep 1, 0 sent", "keep 1, 0 sent"]);
  expect(connection.sent).toHaveLength(1);
});

test.each([
  ["leads", ["a", "b"]],
  ["follows", ["b"]],
] as const)(
  "[Q73] after a long sleep, a tab that loses the disk and %s sends of its writes %j: another may have sent the others",
  async (which, sends) => {
    const own = createTestServer(schema);
    const profile = new BrowserProfile();
    let fails = false;
    const storage: typeof profile.platform.storage = async (name) => {
      const port = await profile.platform.storage(name);
      const enqueue: Storage["enqueue"] = (changes) =>
        fails ? Promise.reject(new Error("The disk failed.")) : port.enqueue(changes);
      return { ...port, enqueue };
    };
    const [leader, follower] = await twoOffline(own, { ...profile.platform, storage });
    const tab = which === "leads" ? leader : follower;
    tab.client.models.slide.create({ title: "a" }, { id: "a" });
    await own.settle();
    own.clock.sleep(38 * 86_400_000);
    fails = true;
    tab.client.models.slide.create({ title: "b" }, { id: "b" });
    await own.settle();
    tab.online();
    await own.settle();
    const sent = tab.connection.sent.flatMap((body) => [...body.matchAll(/"id":"(.)"/g)].map(([, id]) => id));
    expect(sent).toEqual(sends);
    expect(tab.client.attention().map(({ error }) => error.code)).toEqual(which === "leads" ? [] : ["too_old"]);
  },
);

test.each([
  ["leads", 0],
  ["follows", 1],
])("[Q47] [Q56] an export counts as sent, also in the store, if the tab that makes it %s", async (_, at) => {
  const own = createTestServer(schema);
  const profile = new BrowserProfile();
  const tabs = await twoOffline(own, profile.platform);
  tabs[at]?.client.models.slide.create({ title: "a" }, { id: "a" });
  await own.settle();
  const unsent = () =>
    profile
      .store("holdfast:holdfast.test")
      .disk.queue()
      .map((write) => write.unsent);
  expect(unsent()).toEqual([true]);
  const exported = await tabs[at]?.client.exportPending();
  expect(exported?.writes.map((write) => write.unsent)).toEqual([undefined]);
  expect(unsent()).toEqual([undefined]);
});

test("[Q47] [Q56] an imported write counts as sent: the device that exported it may have sent it since", async () => {
  const own = createTestServer(schema);
  const from = own.client({ paused: true });
  await from.client.models.slide.create({ title: "a" }, { id: "a" }).queued;
  const exported = JSON.parse(JSON.stringify(await from.client.exportPending()));
  exported.writes[0].unsent = true;
  const into = own.client({ paused: true });
  await into.client.importPending(exported, { adopt: true });
  await own.settle();
  expect(into.disk.queue().map(({ unsent }) => unsent)).toEqual([undefined]);
});

test("[Q53] [Q59] a write is stored with the server's time also before there are rows, and by a tab that does not lead", async () => {
  const own = createTestServer(schema);
  const profile = new BrowserProfile();
  const clock = { ...own.clock, now: () => own.clock.now() + 9 * 86_400_000 };
  const madeAt = () =>
    profile
      .store("holdfast:holdfast.test")
      .disk.queue()
      .map((write) => write.madeAt);
  const first = own.client({ platform: { ...profile.platform, clock } });
  first.connection.largestPage = 0;
  await own.settle();
  first.connection.answers.push("held back", "held back");
  first.client.models.slide.create({ title: "a" }, { id: "a" });
  await own.settle();
  expect(first.connection.sent).toHaveLength(1);
  expect(madeAt()).toEqual([own.clock.now()]);
  first.connection.largestPage = Number.POSITIVE_INFINITY;
  own.clock.advance(60_000);
  await first.client.ready();

  const second = own.client({ platform: { ...profile.platform, clock } });
  await second.client.ready();
  await own.settle();
  second.client.models.slide.create({ title: "b" }, { id: "b" });
  await own.settle();
  expect(madeAt()).toEqual([own.clock.now() - 60_000, own.clock.now()]);
});

test("[Q53] [Q59] a tab that does not lead does not take another tab's word for how far the clock is off: it may be set since", async () => {
  const own = createTestServer(schema);
  const profile = new BrowserProfile();
  const device = { aheadMs: 0 };
  const clock = { ...own.clock, now: () => own.clock.now() + device.aheadMs };
  const open = async () => {
    const made = own.client({ platform: { ...profile.platform, clock } });
    await made.client.ready();
    await own.settle();
    return made;
  };
  const leader = await open();
  const other = await open();
  await own.settle();
  leader.connection.answers.push("held back");
  device.aheadMs = 36 * 86_400_000;
  other.client.models.slide.create({ title: "b" }, { id: "b" });
  await own.settle();
  const [write] = profile.store("holdfast:holdfast.test").disk.queue();
  expect(leader.connection.sent).toHaveLength(1);
  expect([write?.unsent, write?.madeAt]).toEqual([undefined, own.clock.now()]);
});
