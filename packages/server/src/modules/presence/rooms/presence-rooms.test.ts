import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PresenceMessage } from "./presence-message.ts";
import { openPresenceRooms, type PresenceRooms } from "./presence-rooms.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const TIMES = { graceMs: 5_000, beatMs: 10_000, silentMs: 40_000, settleMs: 150 };

/** Another process is in the room. */
const IN_THE_ROOM = { kind: "rooms", number: 1, rooms: [{ kind: "change", room: "1 deck:a", said: [], gone: [] }] };

/** The rooms of one process on a fake channel; `sent` has its messages to the others. */
function open() {
  const sent: PresenceMessage[] = [];
  const failures: unknown[] = [];
  const received: { session: string; frame: Buffer; isFirst: boolean }[] = [];
  let flight: Promise<void> = Promise.resolve();
  let deliver: (from: string, text: string) => void = () => {};
  const rooms: PresenceRooms = openPresenceRooms({
    times: TIMES,
    openChannel: ({ received, opened }) => {
      deliver = received;
      setTimeout(opened, 1);
      return {
        self: "me",
        send: (text) => {
          sent.push(JSON.parse(text));
          return flight;
        },
        close: async () => {},
      };
    },
    now: Date.now,
    failed: (error) => failures.push(error),
  });
  const update = (session: string, state = "{}", participantId = session) =>
    rooms.update(
      1,
      "deck:a",
      { session, clientId: null, participantKind: "user", participantId, state },
      (frame, isFirst) => received.push({ session, frame, isFirst }),
    );
  return {
    rooms,
    sent,
    received,
    failures,
    update,
    deliver: (message: object | string) =>
      deliver("other", typeof message === "string" ? message : JSON.stringify(message)),
    fly: (next: Promise<void>) => {
      flight = next;
    },
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    clear: () => {
      sent.length = 0;
      received.length = 0;
    },
  };
}

test("[P9] a change is one frame for all, and so is the first answer of those who came together", async () => {
  const { update, pass, received, clear } = open();
  for (let n = 0; n < 500; n++) update(`s${n}`);
  await pass(200);
  expect(received).toHaveLength(500);
  expect(new Set(received.map(({ frame }) => frame)).size).toBe(1);
  expect(received.every(({ isFirst }) => isFirst)).toBe(true);
  clear();
  update("s7", '{"n":1}');
  await pass(60);
  expect(received).toHaveLength(500);
  expect(new Set(received.map(({ frame }) => frame)).size).toBe(1);
  expect(JSON.parse(String(received[0]?.frame))).toMatchObject({
    joined: [],
    updated: [{ participantId: "s7" }],
    left: [],
  });
  // It is as long as the change, not as the room.
  expect(received[0]?.frame.length).toBeLessThan(300);
});

test("[P3] a room is updated every 50 ms at most, at once after a pause, and finally with the last state", async () => {
  const { update, pass, received, clear } = open();
  update("s1");
  await pass(200);
  clear();
  update("s1", '{"n":0}');
  await pass(5);
  expect(received).toHaveLength(1);
  for (let n = 1; n <= 200; n++) {
    update("s1", `{"n":${n}}`);
    await pass(5);
  }
  await pass(50);
  expect(received.length).toBeGreaterThan(15);
  expect(received.length).toBeLessThanOrEqual(22);
  expect(String(received.at(-1)?.frame)).toContain('{"n":200}');
});

test("[P7] between processes too: one change in 50 ms, and while one is on its way the next ones wait for the last state", async () => {
  const { update, pass, sent, deliver, fly, clear } = open();
  update("s1");
  await pass(200);
  deliver(IN_THE_ROOM);
  await pass(200);
  clear();
  for (let n = 0; n < 100; n++) {
    update("s1", `{"n":${n}}`);
    await pass(5);
  }
  await pass(100);
  expect(sent.length).toBeGreaterThan(5);
  expect(sent.length).toBeLessThanOrEqual(12);
  clear();
  let land = () => {};
  fly(new Promise((resolve) => (land = resolve)));
  for (let n = 100; n < 200; n++) {
    update("s1", `{"n":${n}}`);
    await pass(5);
  }
  expect(sent).toHaveLength(1);
  fly(Promise.resolve());
  land();
  await pass(100);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toMatchObject({ rooms: [{ kind: "change", said: [{ session: "s1", state: '{"n":199}' }] }] });
});

test("[P7] [P13] [P12] a process without rooms sends nothing; a process with rooms sends a heartbeat every 10 s", async () => {
  const { rooms, update, pass, sent, clear } = open();
  await pass(60_000);
  expect(sent).toEqual([]);
  update("s1");
  await pass(100);
  expect(sent).toMatchObject([{ rooms: [{ kind: "whole", asks: true, attendees: [{ session: "s1" }] }] }]);
  clear();
  await pass(30_000);
  expect(sent).toHaveLength(3);
  rooms.leave(1, "deck:a", "s1");
  clear();
  await pass(60_000);
  expect(sent).toEqual([]);
  await rooms.close();
  expect(sent).toEqual([]);
});

test("[P7] an unreadable message of another process is reported, and changes nothing", async () => {
  const { update, pass, deliver, failures, received } = open();
  update("s1");
  await pass(200);
  for (const odd of ["{", '"text"', "null", { kind: "rooms", number: 9, rooms: [{ kind: "whole" }] }, { kind: "new" }])
    deliver(odd);
  await pass(200);
  expect(failures.length).toBeGreaterThan(0);
  update("s2");
  await pass(100);
  expect(received.filter(({ session }) => session === "s2")).toHaveLength(1);
});

test("[P8] a process that stops sends its last changes and then goodbye, after all earlier messages", async () => {
  const { rooms, update, pass, sent, deliver, fly, clear, received } = open();
  update("s1");
  await pass(200);
  deliver(IN_THE_ROOM);
  await pass(200);
  clear();
  let land = () => {};
  fly(new Promise((resolve) => (land = resolve)));
  update("s1", '{"n":1}');
  await pass(100);
  update("s1", '{"n":2}');
  const closed = rooms.close();
  fly(Promise.resolve());
  rooms.breakOff(1, "deck:a", "s1");
  update("s2");
  land();
  await closed;
  expect(sent.map(({ kind }) => kind)).toEqual(["rooms", "rooms", "bye"]);
  await pass(60_000);
  expect(sent).toHaveLength(3);
  expect(received.filter(({ session }) => session === "s2")).toEqual([]);
});

test("[P5] a session whose socket broke gets no more frames, and stays visible to the others for 5 s", async () => {
  const { rooms, update, pass, received, clear } = open();
  update("s1");
  update("s2");
  await pass(200);
  clear();
  rooms.breakOff(1, "deck:a", "s1");
  await pass(4_900);
  expect(received).toEqual([]);
  await pass(500);
  expect(received.map(({ session, frame }) => [session, JSON.parse(String(frame)).left])).toEqual([
    ["s2", ["user:s1"]],
  ]);
});
