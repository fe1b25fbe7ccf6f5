import { limits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { startApp } from "../../../testing/app.ts";
import { smallServers } from "../../../testing/small-server.ts";
import { someAtATime } from "../../../testing/some-at-a-time.ts";
import { presenceFrames } from "../../../testing/stream/room.ts";
import type { TestStream } from "../../../testing/stream/stream.ts";
import {
  becomes,
  handOver,
  idsIn,
  newRoom,
  peopleOf,
  seesNoReload,
  statesOf,
  told,
} from "../../../testing/waiting/people.ts";

// A grace that never ends here, so that a slow machine loses no session. The soak suite has the real times.
const app = await startApp({ presenceTimes: { graceMs: 600_000, beatMs: 300, silentMs: 600_000 } });
const second = await app.another();
const [here, there] = [app.url, second.server.url];
const { open, enter } = peopleOf(app);
const startProcess = smallServers(app);
/** What is forgotten soon. */
const brief = { graceMs: 300, beatMs: 300, silentMs: 1_500 };

test("[P5] a reload is not seen, neither here nor from another process", () =>
  seesNoReload({ enter }, { here, there }));

test("[P8] a process that is killed leaves ghosts for a short while only", async () => {
  const room = newRoom();
  const { server } = await app.another({ presenceTimes: brief });
  const near = await enter(room, { id: "near", url: server.url });
  const { url, child } = await startProcess(256, { presenceTimes: brief });
  await enter(room, { id: "ghost", url });
  await becomes(() => idsIn(near, room), ["ghost", "near"]);
  child.kill("SIGKILL");
  await becomes(() => idsIn(near, room), ["near"]);
  await server.close();
});

test("[P8] a process that stops hands its people over: who comes back elsewhere was never gone", async () => {
  const { room, near, stopped, expectBack } = await handOver(app, { enter }, there);
  await becomes(() => statesOf(near, room, "ann"), [{ back: true }]);
  await stopped;
  // The grace of the one that is not back goes on in the processes that remain.
  expect(idsIn(near, room)).toEqual(["ann", "bob", "near"]);
  expect(told(near, room).flatMap(({ left }) => left)).toEqual([]);
  expectBack();
});

const sized = (bytes: number, character: string) => {
  const most = bytes - JSON.stringify({ t: "" }).length;
  const text = character.repeat(Math.floor(most / Buffer.byteLength(character)));
  return { t: text + "x".repeat(most - Buffer.byteLength(text)) };
};

test.each(["x", "한", "🦊"])(
  "[P6] [P7] a state of exactly 4 KiB of %s crosses processes, one byte more does not",
  async (character) => {
    const room = newRoom();
    const far = await enter(room, { id: "far", url: there });
    const state = sized(limits.presenceStateBytes, character);
    expect(Buffer.byteLength(JSON.stringify(state))).toBe(limits.presenceStateBytes);
    const ann = await enter(room, { id: "ann", clientId: "c".repeat(64) }, state);
    await becomes(() => statesOf(far, room, "ann"), [state]);
    ann.send({ frame: "presence", room, state: sized(limits.presenceStateBytes + 1, character) });
    expect((await ann.closed).code).toBe(4400);
    expect(ann.frames.at(-1)).toMatchObject({ frame: "error", code: "invalid_value", param: "state" });
  },
);

test("[P7] two processes are one room: the first answer holds those of the other one too", async () => {
  const room = newRoom();
  const near = await enter(room, { id: "near" });
  const far = await enter(room, { id: "far", url: there });
  expect(idsIn(far, room)).toEqual(["far", "near"]);
  expect(presenceFrames(far.frames, room)).toHaveLength(1);
  await becomes(() => idsIn(near, room), ["far", "near"]);
  for (let n = 0; n < 5; n++) {
    near.send({ frame: "presence", room, state: { n } });
    await becomes(() => statesOf(far, room, "near"), [{ n }]);
  }
  // One participant with a window on either.
  const other = await enter(room, { id: "far" }, { window: 2 });
  for (const stream of [near, far, other])
    await becomes(() => statesOf(stream, room, "far"), [{ window: 2 }, { of: "far" }]);
  far.send({ frame: "presence", room, state: null });
  for (const stream of [near, other]) await becomes(() => statesOf(stream, room, "far"), [{ window: 2 }]);
  near.send({ frame: "presence", room, state: null });
  await becomes(() => idsIn(other, room), ["far"]);
});

test("[P4] [P7] rooms of the same name of other tenants are others, also in another process", async () => {
  const room = newRoom();
  const { live, test, other } = app.keys;
  const streams = await Promise.all(
    [live, test, other].flatMap((key, n) => [here, there].map((url) => enter(room, { id: `tenant${n}`, key, url }))),
  );
  for (const [i, stream] of streams.entries()) {
    await becomes(() => statesOf(stream, room, `tenant${i >> 1}`)?.length, 2);
    expect(idsIn(stream, room)).toEqual([`tenant${i >> 1}`]);
  }
});

test("[P7] a connection that carries presence is cut: what was missed is learned when it is back", async () => {
  const room = newRoom();
  const [near, far] = [await enter(room, { id: "near" }), await enter(room, { id: "far", url: there })];
  await becomes(() => idsIn(near, room), ["far", "near"]);
  // Each connection is found by its last statement, and between messages that is one of no words, which looks after it.
  for (const stream of [near, far]) stream.send({ frame: "presence", room, state: { before: "cut" } });
  for (const [stream, other] of [
    [near, "far"],
    [far, "near"],
  ] as const)
    await becomes(() => statesOf(stream, room, other), [{ before: "cut" }]);
  const cut = await app.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where (query like 'listen holdfast_presence%' or query like 'select pg_notify%') and datname = current_database()`,
  );
  expect(cut.length).toBeGreaterThan(1);
  near.send({ frame: "presence", room, state: { while: "cut" } });
  const late = await enter(room, { id: "late", url: there });
  for (const stream of [near, far, late]) await becomes(() => idsIn(stream, room), ["far", "late", "near"]);
  await becomes(() => statesOf(late, room, "near"), [{ while: "cut" }]);
});

test("[P9] a socket that does not read a busy room is closed, and delays no other member", async () => {
  const room = newRoom();
  const { server } = await app.another({ presenceTimes: brief });
  const { url } = server;
  const [slow, quick] = [await enter(room, { id: "slow", url }), await enter(room, { id: "quick", url })];
  const raw = (slow.socket as unknown as { _socket: { pause(): void; resume(): void } })._socket;
  raw.pause();
  const rooms = [room];
  const writers = await Promise.all(Array.from({ length: 16 }, (_, n) => enter(room, { id: `w${n}`, rooms, url })));
  const isGone = () => presenceFrames(quick.frames, room).some(({ left }) => left.includes("agent:slow"));
  // The kernel takes some megabytes before the server has to keep anything. On a busy machine, which tells several states
  // of a writer as one, that takes more of them.
  let n = 0;
  await until(() => {
    n++;
    for (const writer of writers) writer.send({ frame: "presence", room, state: { n, t: "x".repeat(4_000) } });
    return isGone();
  });
  raw.resume();
  // It may have been cut off before it could read the reason.
  expect([1006, 4409]).toContain((await slow.closed).code);
  writers[0]?.send({ frame: "presence", room, state: { last: true } });
  await becomes(() => statesOf(quick, room, "w0"), [{ last: true }]);
});

test("[P9] a first response above the limit for unread bytes does not close the socket", async () => {
  const room = newRoom();
  const rooms = [room];
  const state = { t: "x".repeat(4_000) };
  const people: TestStream[] = [];
  await someAtATime(
    Array.from({ length: 300 }, (_, n) => ({ id: `p${n}`, rooms, url: n % 2 ? there : here })),
    async (who) => void people.push(await open(room, who)),
  );
  // Each of 300 gets the states of all: some 350 MB, which take a busy machine more than a minute.
  for (const stream of people) stream.send({ frame: "presence", room, state });
  const late = await open(room, { id: "late" });
  // Both processes know all of them.
  await becomes(() => people.filter((stream) => idsIn(stream, room).length === 300).length, 300);
  late.send({ frame: "presence", room, state });
  const first = await late.next("presence");
  expect(first.joined).toHaveLength(301);
  expect(JSON.stringify(first).length).toBeGreaterThan(limits.slowReaderBytes);
  await becomes(() => people.filter((stream) => idsIn(stream, room).length === 301).length, 300);
  expect(late.socket.readyState).toBe(late.socket.OPEN);
});

test("[P10] nothing of presence is in the log, or in any table", async () => {
  const room = newRoom();
  const before = Number((await app.call("GET", "/v1/log?limit=1")).body.stamp);
  const ann = await enter(room, { id: "ann" }, { needle: "in a haystack" });
  const tables = await app.sql<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'holdfast'",
  );
  expect(tables.length).toBeGreaterThan(5);
  for (const { name } of tables)
    expect(await app.sql(`select 1 from ${name} as t where t::text like '%haystack%'`)).toEqual([]);
  ann.send({ frame: "presence", room, state: null });
  ann.send({ frame: "ping", n: 1 });
  await ann.next("pong");
  expect((await app.call("GET", "/v1/log?limit=1")).body.stamp).toBe(before);
});
