import { expect, test } from "vitest";
import { memoryStorage } from "../storage/memory.ts";
import { createTestServer, type TestClientOptions } from "../testing/test-server.ts";

const schema = {
  models: {
    deck: { fields: { title: { type: "string" } } },
    slide: {
      fields: {
        title: { type: "string" },
        deckId: { type: "string", references: "Deck" },
        order: { type: "number", default: 0 },
        tags: { type: "array", references: "deck" },
        twin: { type: "string", references: "slide" },
      },
    },
  },
} as const;

async function start() {
  const own = createTestServer(schema);
  const made = own.client();
  await made.client.ready();
  await own.settle();
  return { ...own, ...made, ...made.client.models };
}

const commitsOf = (bodies: readonly string[]) =>
  bodies.map((body) =>
    (JSON.parse(body) as { commits: { operations: { id: string }[] }[] }).commits.map((c) => c.operations[0]?.id),
  );

test("[Q28] a write that refers to an unconfirmed create is sent after it, and waits with it; other writes pass", async () => {
  const { client, server, connection, settle, deck, slide } = await start();
  const no = server.refuse(({ model }) => (model === "deck" ? "capability_scope_denied" : undefined));
  deck.create({ title: "A deck" }, { id: "deck-1" });
  slide.create({ title: "Of it", deckId: "deck-1" }, { id: "child" });
  slide.update("child", { order: 1 });
  slide.create({ title: "Alone" }, { id: "other" });
  await settle();
  expect(commitsOf(connection.sent)).toEqual([["deck-1", "other"]]);
  expect(client.attention().map((item) => item.code)).toEqual(["capability_scope_denied"]);
  expect(client.pending().map((p) => [p.operations[0]?.id, p.phase])).toEqual([
    ["child", "blocked"],
    ["child", "blocked"],
  ]);
  no();
  await client.attention()[0]?.retry().receipt;
  await settle();
  expect(commitsOf(connection.sent).slice(1)).toEqual([["deck-1"], ["child", "child"]]);
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
});

test("[Q28] a list of ids counts too; what one commit creates and names itself is one matter", async () => {
  const { client, connection, settle, deck, slide } = await start();
  client.pause();
  deck.create({ title: "one" }, { id: "deck-1" });
  client.commit([
    { action: "create", model: "deck", id: "deck-2", data: { title: "two" } },
    { action: "create", model: "slide", id: "s2", data: { deckId: "deck-2" } },
  ]);
  slide.create({ tags: ["x", "deck-1"] }, { id: "s1" });
  client.resume();
  await settle();
  expect(commitsOf(connection.sent)).toEqual([["deck-1", "deck-2"], ["s1"]]);
});

test("[Q28] a text that equals the id of a refused create, in a field that is no reference or one of another model, holds nothing up", async () => {
  const { client, server, connection, settle, deck, slide } = await start();
  server.refuse(({ model }) => (model === "deck" ? "capability_scope_denied" : undefined));
  deck.create({ title: "A deck" }, { id: "deck-1" });
  slide.create({ title: "deck-1", order: 1 }, { id: "s1" });
  slide.create({ twin: "deck-1" }, { id: "s2" });
  await settle();
  expect(commitsOf(connection.sent)).toEqual([["deck-1", "s1", "s2"]]);
  expect(client.status()).toMatchObject({ pending: 0, attention: 1 });
});

test("[Q29] a write older than the server's receipts is not sent automatically: it waits for a person, who may send it", async () => {
  const { client, connection, settle, clock, slide, server } = await start();
  client.pause();
  slide.create({ title: "Long ago" }, { id: "a" });
  await settle();
  clock.advance(30 * 86_400_000);
  slide.create({ title: "Now" }, { id: "b" });
  client.resume();
  await settle();
  expect(commitsOf(connection.sent)).toEqual([["b"]]);
  const [item] = client.attention();
  expect(item).toMatchObject({ code: "too_old", createdAt: Date.UTC(2030, 0, 1) });
  // The client has seen it wait that long, so the clock is not doubted.
  expect(item?.error.message).toMatch(/made on 2030-01-01/);
  expect(item?.error.message).not.toContain("clock");
  await item?.retry().receipt;
  expect(server.rows.get("slide/a")?.data.title).toBe("Long ago");
});

const DAY_MS = 86_400_000;

/**
 * A client on a device whose clock is behind, without a network, with a write that waits. `knows`: that there is none.
 * `says`: the server says its time.
 */
async function onSlowClock(behindMs: number, { knows = true, says = false } = {}) {
  const own = createTestServer(schema);
  const device = { behindMs };
  const clock = { ...own.clock, now: () => own.clock.now() - device.behindMs };
  const open = async (options: TestClientOptions = {}) => {
    const made = own.client({ ...options, platform: { clock, ...options.platform } });
    if (!says) made.connection.serverTime = undefined;
    await made.client.ready();
    await own.settle();
    return { ...made, ...made.client.models };
  };
  const first = await open();
  if (knows) first.offline();
  else first.connection.up = false;
  await own.settle();
  first.slide.create({ title: "New" }, { id: "a" });
  await own.settle();
  const goOnline = async (made: typeof first) => {
    made.online();
    await own.settle();
    own.clock.advance(60_000);
    await own.settle();
  };
  return { ...own, ...first, device, open, goOnline };
}

test.each([
  ["made in 1970", Date.UTC(2030, 0, 1), 0],
  ["made while the clock was 40 days slow", 40 * DAY_MS, 0],
  ["waiting while the clock jumped by 40 days", 0, -40 * DAY_MS],
])("[Q47] a write that was %s is sent when the clock is set: it is seconds old", async (_, before, after) => {
  const made = await onSlowClock(before);
  made.device.behindMs = after;
  await made.goOnline(made);
  expect(made.client.status()).toMatchObject({ pending: 0, attention: 0 });
  expect(made.server.rows.get("slide/a")?.data.title).toBe("New");
});

test("[Q47] the time of a pending write moves along with the clock, also on disk, and what the client lives through counts", async () => {
  const { client, disk, device, open, clock, settle, goOnline } = await onSlowClock(40 * DAY_MS);
  const madeAt = () => client.pending()[0]?.createdAt;
  expect(madeAt()).toBe(clock.now() - 40 * DAY_MS);
  device.behindMs = 0;
  clock.advance(60_000);
  await settle();
  expect(madeAt()).toBe(clock.now() - 60_000);
  await client.close();

  const again = await open({ disk, paused: true });
  expect(again.client.pending()[0]?.createdAt).toBe(clock.now() - 60_000);
  clock.advance(30 * DAY_MS);
  again.client.resume();
  await goOnline(again);
  expect(again.client.attention()[0]).toMatchObject({ code: "too_old" });
});

test("[Q53] [Q60] a write that was sent keeps its time, because it may be in the log: a device's sleep looks like a clock that is set", async () => {
  const made = await onSlowClock(0, { knows: false });
  expect(made.client.pending()[0]?.attempts).toBeGreaterThan(0);
  made.device.behindMs = -40 * DAY_MS;
  await made.goOnline(made);
  expect(made.client.attention()[0]).toMatchObject({ code: "too_old" });
});

test("[Q53] [Q60] a write that was sent before the page was reloaded keeps its time", async () => {
  const made = await onSlowClock(0, { knows: false });
  expect(made.client.pending()[0]?.attempts).toBeGreaterThan(0);
  await made.client.close();
  const again = await made.open({ disk: made.disk, paused: true });
  made.device.behindMs = -40 * DAY_MS;
  again.client.resume();
  await made.goOnline(again);
  expect(again.client.attention()[0]).toMatchObject({ code: "too_old" });
});

test("[Q47] [Q55] a write that was stored without a word of whether it was sent counts as sent", async () => {
  const made = await onSlowClock(0);
  await made.client.close();
  const storage = memoryStorage(made.disk);
  const { generation } = await storage.takeLead();
  const [write] = made.disk.queue();
  await storage.keep(write ? [{ ...write, unsent: undefined }] : [], generation);
  const again = await made.open({ disk: made.disk, paused: true });
  made.device.behindMs = -40 * DAY_MS;
  again.client.resume();
  await made.goOnline(again);
  expect(again.client.attention()[0]).toMatchObject({ code: "too_old" });
});

test("[Q53] [Q62] if the clock was set while no client ran, the age is not known, and the sentence says so", async () => {
  const { client, disk, device, open, goOnline } = await onSlowClock(40 * DAY_MS);
  await client.close();
  device.behindMs = 0;
  const again = await open({ disk, paused: true });
  again.client.resume();
  await goOnline(again);
  const [item] = again.client.attention();
  expect(item?.error.message).toMatch(/clock was changed.* 2029-11-22/);
});

test("[Q53] [Q62] a write that may have been sent by a clock that was 40 days fast is not sent again, however long the clock has been right", async () => {
  const made = await onSlowClock(-40 * DAY_MS, { knows: false });
  await made.client.close();
  made.device.behindMs = 0;
  const again = await made.open({ disk: made.disk });
  const [item] = again.client.attention();
  expect(item?.code).toBe("too_old");
  expect(item?.error.message).toMatch(/clock was changed.* 2030-02-10/);
});

test("[Q47] a write that was never sent by a clock that was fast is sent, and its age counts from then", async () => {
  const made = await onSlowClock(-40 * DAY_MS);
  await made.client.close();
  made.device.behindMs = 0;
  const again = await made.open({ disk: made.disk, paused: true });
  again.connection.answers.push("lost");
  again.client.resume();
  await made.settle();
  expect(made.server.rows.get("slide/a")?.data.title).toBe("New");
  again.offline();
  made.clock.advance(30 * DAY_MS);
  await made.goOnline(again);
  expect(again.client.attention()[0]).toMatchObject({ code: "too_old" });
});

test("[Q29] [Q61] a sleep counts in full after the clock was set back", async () => {
  const made = await onSlowClock(-40 * DAY_MS, { knows: false });
  made.device.behindMs = 0;
  made.clock.advance(1_000);
  await made.settle();
  made.clock.sleep(30 * DAY_MS);
  await made.goOnline(made);
  expect(made.client.attention()[0]).toMatchObject({ code: "too_old" });
});

test("[Q53] [Q61] a tab that does not lead stores that a sent write's time is unknown, because no later leader could know", async () => {
  const made = await onSlowClock(-21 * DAY_MS, { knows: false });
  expect(made.client.pending()[0]?.attempts).toBeGreaterThan(0);
  made.client.pause();
  made.device.behindMs = 0;
  made.offline();
  await made.settle();
  await made.client.close();
  made.clock.sleep(38 * DAY_MS);
  const again = await made.open({ disk: made.disk });
  await made.goOnline(again);
  expect(again.client.attention()[0]).toMatchObject({ code: "too_old" });
});

test("[Q53] [Q61] a write that was sent by a fast clock is sent again after the clock is set back: it is seconds old", async () => {
  const made = await onSlowClock(-40 * DAY_MS, { knows: false });
  made.device.behindMs = 0;
  await made.goOnline(made);
  expect(made.client.status()).toMatchObject({ pending: 0, attention: 0 });
});

test("[Q53] [Q61] a write that is made after the clock was set back has the time of that clock", async () => {
  const made = await onSlowClock(-40 * DAY_MS);
  made.device.behindMs = 0;
  made.slide.create({ title: "Then" }, { id: "b" });
  expect(made.client.pending().map(({ createdAt }) => createdAt)).toEqual([made.clock.now(), made.clock.now()]);
});

const AGES = [
  ["9 days fast, long ago", -9 * DAY_MS, 35 * DAY_MS, "too_old"],
  ["40 days fast, just now", -40 * DAY_MS, 0, undefined],
  ["40 days slow, just now", 40 * DAY_MS, 0, undefined],
  ["40 days slow, long ago", 40 * DAY_MS, 35 * DAY_MS, "too_old"],
] as const;

test.each(AGES)(
  "[Q53] sent by a clock set since, %s: the server's clock tells its age",
  async (_, before, ms, code) => {
    const made = await onSlowClock(before, { knows: false, says: true });
    expect(made.client.pending()[0]?.attempts).toBeGreaterThan(0);
    await made.client.close();
    made.device.behindMs = 0;
    made.clock.sleep(ms);
    const again = await made.open({ disk: made.disk });
    await made.goOnline(again);
    expect(again.client.attention()[0]?.code).toBe(code);
    expect(again.client.status().pending).toBe(0);
    if (code) expect(again.client.attention()[0]?.error.message).toMatch(/ It was made on 2030-01-01\./);
  },
);

test("[Q53] a write that was made offline by a fast clock is stored with the server's time before it is sent", async () => {
  const made = await onSlowClock(-9 * DAY_MS, { says: true });
  const at = made.clock.now();
  expect(made.disk.queue().map(({ madeAt, unsent }) => [madeAt, unsent])).toEqual([[undefined, true]]);
  made.clock.advance(60_000);
  made.connection.answers.push("held back");
  made.online();
  await made.settle();
  expect(made.connection.sent).toHaveLength(1);
  expect(made.disk.queue().map(({ madeAt, unsent }) => [madeAt, unsent])).toEqual([[at, undefined]]);
});

test("[Q53] [Q58] after the clock is set, the server says its time again before anything is sent", async () => {
  for (const days of [9, -9]) {
    const made = await onSlowClock(0, { says: true });
    await made.goOnline(made);
    made.device.behindMs = days * DAY_MS;
    made.connection.answers.push("held back");
    made.slide.update("a", { title: "Newer" });
    await made.settle();
    const [write] = made.disk.queue();
    expect(made.connection.sent).toHaveLength(2);
    expect([write?.madeAt, write?.unsent]).toEqual([made.clock.now(), undefined]);
    expect(write?.createdAt).toBe(made.clock.now() - days * DAY_MS);
  }
});

test("[Q53] [Q58] a server's time that comes after a sleep of the device is not taken for the present one", async () => {
  const made = await onSlowClock(0, { knows: false, says: true });
  await made.client.close();
  const at = made.clock.now();
  const again = await made.open({ disk: made.disk, paused: true });
  again.connection.answers.push("held back");
  const said = again.connection.introduction();
  again.connection.introduction = () => said;
  again.client.resume();
  made.clock.sleep(29 * DAY_MS);
  await made.goOnline(again);
  expect(made.server.rows.has("slide/a")).toBe(false);
  expect(again.disk.queue()[0]?.madeAt).toBe(at);
});

test("[Q53] [Q57] the age of an exported write is known on another device, whose clock is off", async () => {
  const made = await onSlowClock(-9 * DAY_MS, { knows: false, says: true });
  const exported = JSON.parse(JSON.stringify(await made.client.exportPending()));
  made.device.behindMs = 9 * DAY_MS;
  made.clock.sleep(25 * DAY_MS);
  const there = await made.open();
  await there.client.importPending(exported);
  await made.settle();
  expect(made.server.rows.get("slide/a")?.data.title).toBe("New");
  exported.writes[0].madeAt = "2030-01-01";
  await expect(there.client.importPending(exported)).rejects.toMatchObject({ code: "invalid_export" });
});

test("[Q30] an edited write is sent in its old place, under a new clientTxId, based on the current rows", async () => {
  const { client, server, settle, slide } = await start();
  server.refuse(({ data }) => ((data as { title?: string })?.title === "bad" ? "capability_scope_denied" : undefined));
  const write = slide.create({ title: "bad" }, { id: "a" });
  await expect(write.receipt).rejects.toMatchObject({ code: "capability_scope_denied" });
  slide.update("a", { order: 3 });
  await settle();
  const [item] = client.attention();
  if (!item) throw new Error("Nothing needs attention.");
  expect(() => item.edit([{ action: "create", model: "slide", id: "a", data: { nope: 1 } }])).toThrow(/no field/);
  const again = item.edit(item.operations.map((o) => ({ ...o, data: { ...o.data, title: "good" } })));
  expect(again.clientTxId).not.toBe(write.clientTxId);
  await expect(again.receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  expect(server.log.map((e) => [e.verb, e.data])).toEqual([
    ["created", { id: "a", title: "good", order: 0 }],
    ["updated", { id: "a", title: "good", order: 3 }],
  ]);
  // It was answered: a second answer to the same item says so.
  await expect(item.edit(item.operations as never).receipt).rejects.toMatchObject({ code: "discarded" });
});

test("[Q30] [R8] an edit that names another record is shown there, beneath what was written to it later", async () => {
  const { client, server, settle, slide, offline } = await start();
  const no = server.refuse(({ data }) =>
    (data as { title?: string })?.title === "bad" ? "claim_conflict" : undefined,
  );
  slide.create({ title: "first" }, { id: "b" });
  slide.create({ title: "bad" }, { id: "a" }).receipt.catch(() => {});
  await settle();
  no();
  offline();
  slide.update("b", { order: 9 });
  await settle();
  client.attention()[0]?.edit([{ action: "update", model: "slide", id: "b", data: { title: "edited", order: 5 } }]);
  await settle();
  expect(slide.get("b")).toMatchObject({ title: "edited", order: 9 });
  expect(slide.get("a")).toBeUndefined();
});
