import { expect, test } from "vitest";
import { createTestServer, type TestClientOptions } from "../../testing/test-server.ts";
// Loaded lazily by the client; import it here so that no test has to wait for it.
import "../claims/collab.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;

async function people(options: TestClientOptions = {}) {
  const own = createTestServer(schema);
  const ann = own.client({ actor: "ann", ...options });
  const ben = own.client({ actor: "ben" });
  await ann.client.ready();
  await ben.client.ready();
  await own.settle();
  const tick = async (ms = 50) => {
    await own.settle();
    own.clock.advance(ms);
    await own.settle();
  };
  return { ...own, ann, ben, tick };
}
const names = (peers: readonly { participantId: string }[]) => peers.map((peer) => peer.participantId);

test("[U12] the first state enters a room, and all members see each other", async () => {
  const { ann, ben, tick } = await people();
  const mine = ann.client.presence("deck:d1");
  const theirs = ben.client.presence("deck:d1");
  expect(mine.status()).toBe("connecting");
  expect(mine.others()).toEqual([]);
  expect(ann.connection.frames).toEqual([]);
  mine.set({ cursor: 1 });
  theirs.subscribe(() => {});
  await tick();
  expect(mine.status()).toBe("live");
  expect(mine.others()).toMatchObject([{ participant: "user:ben", participantKind: "user", state: {} }]);
  expect(theirs.others()).toMatchObject([{ participant: "user:ann", state: { cursor: 1 }, sessions: [{}] }]);
  expect(theirs.self()).toMatchObject({ participantId: "ben" });
  expect(names(theirs.peers())).toEqual(["ann", "ben"]);
  const before = theirs.others();
  expect(theirs.others()).toBe(before);
  mine.leave();
  await tick(249);
  expect(names(theirs.others())).toEqual(["ann"]);
  await tick(1);
  expect(theirs.others()).toEqual([]);
});

test("[U12] of many states in a moment the last one is sent, at most 20 per second", async () => {
  const { ann, ben, tick, clock } = await people();
  const mine = ann.client.presence("deck:d1");
  ben.client.presence("deck:d1").subscribe(() => {});
  mine.set({ x: 0 });
  await tick();
  const before = ann.connection.frames.length;
  for (let x = 1; x <= 100; x++) {
    mine.set({ x });
    clock.advance(10);
  }
  await tick();
  const sent = ann.connection.frames.slice(before);
  expect(sent.length).toBeLessThanOrEqual(21);
  expect(sent.at(-1)).toEqual({ frame: "presence", room: "deck:d1", state: { x: 100 } });
  expect(ben.client.presence("deck:d1").others()).toMatchObject([{ state: { x: 100 } }]);
});

test("[U12] after a disconnection the client enters again with its last state, and a view that remounts soon does not flicker", async () => {
  const { ann, ben, tick } = await people();
  const mine = ann.client.presence("deck:d1");
  const other = ben.client.presence("deck:d1");
  other.subscribe(() => {});
  mine.set({ x: 7 });
  await tick();
  ann.connection.cut?.();
  await tick(5_000);
  expect(other.others()).toMatchObject([{ participantId: "ann", state: { x: 7 } }]);
  const seen: string[][] = [];
  other.subscribe(() => seen.push(names(other.others())));
  mine.leave();
  await tick(100);
  mine.set({ x: 8 });
  await tick(1_000);
  expect(seen.every((each) => each.length === 1)).toBe(true);
  expect(other.others()).toMatchObject([{ state: { x: 8 } }]);
});

test("[U12] a state that is not JSON or is too large is refused by set()", async () => {
  const { ann } = await people();
  const mine = ann.client.presence("deck:d1");
  expect(() => mine.set({ at: new Date() } as never)).toThrowError(/state\.at/);
  expect(() => mine.set({ text: "ä".repeat(2_048) })).toThrowError(/4 KiB/);
});

test("[U13] without a connection other participants stay visible for a moment, and are then removed", async () => {
  const { ann, ben, tick, settle } = await people();
  const mine = ann.client.presence("deck:d1");
  ben.client.presence("deck:d1").set({ here: true });
  mine.set({});
  await tick();
  const states: string[] = [];
  mine.subscribe(() => states.push(`${mine.status()} ${names(mine.others())}`));
  ann.connection.up = false;
  ann.connection.cut?.();
  await settle();
  expect(mine.status()).toBe("connecting");
  expect(names(mine.others())).toEqual(["ben"]);
  await tick(4_999);
  expect(names(mine.others())).toEqual(["ben"]);
  await tick(1);
  expect(names(mine.others())).toEqual([]);
  expect(states[0]).toBe("connecting ben");
  ann.connection.up = true;
  await tick(30_000);
  expect(mine.status()).toBe("live");
  expect(names(mine.others())).toEqual(["ben"]);
});

test("[U13] a participant is listed once, however many windows are open", async () => {
  const { ann, ben, tick, client } = await people();
  const second = client({ actor: "ben" });
  const mine = ann.client.presence("deck:d1");
  mine.set({});
  ben.client.presence("deck:d1").set({ window: 1 });
  await tick();
  const theirs = second.client.presence("deck:d1");
  theirs.set({ window: 2 });
  await tick();
  expect(mine.others()).toMatchObject([{ participantId: "ben", state: { window: 2 }, sessions: [{}, {}] }]);
  expect(names(theirs.others())).toEqual(["ann"]);
  await second.client.close();
  expect(mine.others()).toMatchObject([{ state: { window: 1 }, sessions: [{}] }]);
});

test("[U14] a room outside the token's scope is denied, and the connection continues without it", async () => {
  const { ann, ben, tick } = await people();
  ann.connection.forbidden.add("deck:secret");
  const good = ann.client.presence("deck:d1");
  good.set({});
  await tick();
  // Both are being entered when the connection is closed. The error names the denied one.
  const bad = ann.client.presence("deck:secret");
  const late = ann.client.presence("deck:d2");
  late.set({});
  bad.set({});
  await tick();
  await tick(10_000);
  const { socket } = ann.connection.asked;
  // Nor when a view opens again. After a minute the token may have changed.
  bad.leave();
  await tick(1_000);
  bad.set({});
  await tick();
  await tick(60_000);
  expect(ann.connection.asked.socket).toBe(socket);
  expect(bad.status()).toBe("denied");
  expect(bad.error()).toMatchObject({ code: "capability_scope_denied" });
  expect(bad.error()).toBe(bad.error());
  expect(good.status()).toBe("live");
  expect(late.status()).toBe("live");
  expect(ann.client.status().name).toBe("online");
  ben.client.presence("deck:d1").set({});
  await tick();
  expect(names(good.others())).toEqual(["ben"]);
});

test("[U12] closing the client leaves its rooms and no timers", async () => {
  const { ann, ben, tick, clock } = await people();
  const theirs = ben.client.presence("deck:d1");
  theirs.set({});
  ann.client.presence("deck:d1").set({});
  await tick();
  await ann.client.close();
  expect(theirs.others()).toEqual([]);
  await ben.client.close();
  expect(clock.waiting).toBe(0);
});
