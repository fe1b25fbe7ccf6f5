import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PresenceMessage } from "./presence-message.ts";
import { openPresenceRooms, type PresenceRooms } from "./presence-rooms.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const TIMES = { graceMs: 5_000, beatMs: 10_000, silentMs: 40_000, settleMs: 150 };

/** The rooms of one process, on a line of ours; `sent` is what it says to the others. */
function open() {
  const sent: PresenceMessage[] = [];
  const failures: unknown[] = [];
  const heard: { session: string; frame: Buffer; isFirst: boolean }[] = [];
  let flight: Promise<void> = Promise.resolve();
  let speak: (from: string, text: string) => void = () => {};
  const rooms: PresenceRooms = openPresenceRooms({
    times: TIMES,
    openLine: ({ heard, opened }) => {
      speak = heard;
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
  const say = (session: string, state = "{}", participantId = session) =>
    rooms.say(
      1,
      "deck:a",
      { session, clientId: null, participantKind: "user", participantId, state },
      (frame, isFirst) => heard.push({ session, frame, isFirst }),
    );
  return {
    rooms,
    sent,
    heard,
    failures,
    say,
    speak: (message: object | string) =>
      speak("other", typeof message === "string" ? message : JSON.stringify(message)),
    fly: (next: Promise<void>) => {
      flight = next;
    },
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    clear: () => {
      sent.length = 0;
      heard.length = 0;
    },
  };
}

test("[P9] a change is one frame for all, and so is the first answer of those who came together", async () => {
  const { say, pass, heard, clear } = open();
  for (let n = 0; n < 500; n++) say(`s${n}`);
  await pass(200);
  expect(heard).toHaveLength(500);
  expect(new Set(heard.map(({ frame }) => frame)).size).toBe(1);
  expect(heard.every(({ isFirst }) => isFirst)).toBe(true);
  clear();
  say("s7", '{"n":1}');
  await pass(60);
  expect(heard).toHaveLength(500);
  expect(new Set(heard.map(({ frame }) => frame)).size).toBe(1);
  expect(JSON.parse(String(heard[0]?.frame))).toMatchObject({
    joined: [],
    updated: [{ participantId: "s7" }],
    left: [],
  });
  // It is as long as the change, not as the room.
  expect(heard[0]?.frame.length).toBeLessThan(300);
});

test("[P3] a room is told of every 50 ms at most, at once after a pause, and in the end of the last state", async () => {
  const { say, pass, heard, clear } = open();
  say("s1");
  await pass(200);
  clear();
  say("s1", '{"n":0}');
  await pass(5);
  expect(heard).toHaveLength(1);
  for (let n = 1; n <= 200; n++) {
    say("s1", `{"n":${n}}`);
    await pass(5);
  }
  await pass(50);
  expect(heard.length).toBeGreaterThan(15);
  expect(heard.length).toBeLessThanOrEqual(22);
  expect(String(heard.at(-1)?.frame)).toContain('{"n":200}');
});

test("[P7] between processes too: one change in 50 ms, and while one is on its way the next ones wait for the last state", async () => {
  const { say, pass, sent, speak, fly, clear } = open();
  say("s1");
  await pass(200);
  speak({ kind: "beat", rooms: [["1 deck:a", 1]] });
  await pass(200);
  clear();
  for (let n = 0; n < 100; n++) {
    say("s1", `{"n":${n}}`);
    await pass(5);
  }
  await pass(100);
  const changes = sent.filter(({ kind }) => kind === "change").length;
  expect(changes).toBeGreaterThan(5);
  expect(changes).toBeLessThanOrEqual(12);
  clear();
  let land = () => {};
  fly(new Promise((resolve) => (land = resolve)));
  for (let n = 100; n < 200; n++) {
    say("s1", `{"n":${n}}`);
    await pass(5);
  }
  expect(sent).toHaveLength(1);
  fly(Promise.resolve());
  land();
  await pass(100);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toMatchObject({ kind: "change", said: [{ session: "s1", state: '{"n":199}' }] });
});

test("[P7] a process without rooms says nothing; one that has some says so every 10 s", async () => {
  const { rooms, say, pass, sent, clear } = open();
  await pass(60_000);
  expect(sent).toEqual([]);
  say("s1");
  await pass(100);
  expect(sent).toMatchObject([{ kind: "whole", asks: true, attendees: [{ session: "s1" }] }]);
  clear();
  await pass(30_000);
  expect(sent.map(({ kind }) => kind)).toEqual(["beat", "beat", "beat"]);
  rooms.leave(1, "deck:a", "s1");
  clear();
  await pass(60_000);
  expect(sent).toEqual([]);
  await rooms.close();
  expect(sent).toEqual([]);
});

test("[P7] what another process says and nobody can read is reported, and harms nothing", async () => {
  const { say, pass, speak, failures, heard } = open();
  say("s1");
  await pass(200);
  for (const odd of ["{", '"text"', "null", { kind: "whole", room: "1 deck:a", version: 9 }, { kind: "new" }])
    speak(odd);
  await pass(200);
  expect(failures.length).toBeGreaterThan(0);
  say("s2");
  await pass(100);
  expect(heard.filter(({ session }) => session === "s2")).toHaveLength(1);
});

test("[P8] who stops tells its last changes and says goodbye, after what is on its way and before nothing", async () => {
  const { rooms, say, pass, sent, speak, fly, clear, heard } = open();
  say("s1");
  await pass(200);
  speak({ kind: "beat", rooms: [["1 deck:a", 1]] });
  await pass(200);
  clear();
  let land = () => {};
  fly(new Promise((resolve) => (land = resolve)));
  say("s1", '{"n":1}');
  await pass(100);
  say("s1", '{"n":2}');
  const closed = rooms.close();
  fly(Promise.resolve());
  rooms.breakOff(1, "deck:a", "s1");
  say("s2");
  land();
  await closed;
  expect(sent.map(({ kind }) => kind)).toEqual(["change", "change", "bye"]);
  await pass(60_000);
  expect(sent).toHaveLength(3);
  expect(heard.filter(({ session }) => session === "s2")).toEqual([]);
});

test("[P5] who breaks off hears nothing more, and is shown to the others for 5 s", async () => {
  const { rooms, say, pass, heard, clear } = open();
  say("s1");
  say("s2");
  await pass(200);
  clear();
  rooms.breakOff(1, "deck:a", "s1");
  await pass(4_900);
  expect(heard).toEqual([]);
  await pass(500);
  expect(heard.map(({ session, frame }) => [session, JSON.parse(String(frame)).left])).toEqual([["s2", ["user:s1"]]]);
});
