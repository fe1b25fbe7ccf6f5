import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { limits } from "@holdfast/sdk/protocol";
import { afterAll, expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { newMasterKey } from "../../server.ts";
import { ADMIN, startApp } from "../../testing/app.ts";
import { someAtATime } from "../../testing/some-at-a-time.ts";
import { sourceProgram } from "../../testing/source-program.ts";
import { presenceFrames, roomOf } from "../../testing/stream/room.ts";
import { follow, type TestStream } from "../../testing/stream/stream.ts";

const GRACE_MS = 1_500;
const presenceTimes = { graceMs: GRACE_MS, beatMs: 300, silentMs: 2_500 };
const app = await startApp({ presenceTimes });
const second = await app.another();
const [here, there] = [app.url, second.server.url];

const streams: TestStream[] = [];
afterAll(() => {
  for (const { socket } of streams) socket.terminate();
});

let counter = 0;
const newRoom = () => `deck:r${++counter}`;
/** A token of one participant, for some rooms. */
const tokenOf = async (participantId: string, syncGroups: readonly string[]) => {
  const json = { participantId, operations: ["slide.read"], syncGroups };
  const { status, body } = await app.call("POST", "/v1/capabilities", { json });
  expect(status).toBe(201);
  return String(body.token);
};

interface Who {
  readonly id: string;
  readonly url?: string;
  readonly clientId?: string;
  readonly rooms?: readonly string[];
}

async function open(room: string, { id, url = here, clientId, rooms = [room] }: Who): Promise<TestStream> {
  const stream = await follow(url, await tokenOf(id, rooms), {
    ...(clientId !== undefined && { clientId }),
  });
  streams.push(stream);
  return stream;
}

async function enter(room: string, who: Who, state: object = { of: who.id }): Promise<TestStream> {
  const stream = await open(room, who);
  stream.send({ frame: "presence", room, state });
  await stream.next("presence");
  return stream;
}

const idsIn = (stream: TestStream, room: string) =>
  [...roomOf(stream, room).values()].map(({ participantId }) => participantId).sort();
const statesOf = (stream: TestStream, room: string, id: string) =>
  roomOf(stream, room)
    .get(`agent:${id}`)
    ?.sessions.map(({ state }) => state);
const told = (stream: TestStream, room: string) =>
  presenceFrames(stream.frames, room)
    .slice(1)
    .map(({ joined, updated, left }) => ({
      joined: joined.map(({ participantId }) => participantId),
      updated: updated.map(({ participantId }) => participantId),
      left,
    }));
const becomes = (what: () => unknown, expected: unknown) => until(async () => expect(await what()).toEqual(expected));
const sessionOf = ({ frames }: TestStream) =>
  frames.flatMap((frame) => (frame.frame === "welcome" ? [frame.session] : [])).at(-1);
/** The other side does not get to say goodbye. */
const breakOff = (stream: TestStream) => stream.socket.terminate();

test("[P5] a reload is not seen, neither here nor from another process", async () => {
  const room = newRoom();
  const [bob, far] = [await enter(room, { id: "bob" }), await enter(room, { id: "far", url: there })];
  let ann = await enter(room, { id: "ann", clientId: "tab" }, { n: 0 });
  await becomes(
    () => [idsIn(bob, room), idsIn(far, room)],
    [
      ["ann", "bob", "far"],
      ["ann", "bob", "far"],
    ],
  );
  for (const [n, url] of [here, there, here].entries()) {
    breakOff(ann);
    await pause(GRACE_MS / 10);
    ann = await enter(room, { id: "ann", clientId: "tab", url }, { n: n + 1 });
    await becomes(() => [statesOf(bob, room, "ann"), statesOf(far, room, "ann")], [[{ n: n + 1 }], [{ n: n + 1 }]]);
  }
  await pause(GRACE_MS + 300);
  for (const stream of [bob, far]) {
    expect(told(stream, room).flatMap(({ left }) => left)).toEqual([]);
    expect(told(stream, room).filter(({ joined }) => joined.includes("ann")).length).toBeLessThanOrEqual(1);
    expect(roomOf(stream, room).get("agent:ann")?.sessions).toEqual([
      { session: sessionOf(ann), clientId: "tab", state: { n: 3 } },
    ]);
  }
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

test("[P7] a connection that carries presence is cut: what was missed is learned when it is back", async () => {
  const room = newRoom();
  const [near, far] = [await enter(room, { id: "near" }), await enter(room, { id: "far", url: there })];
  await becomes(() => idsIn(near, room), ["far", "near"]);
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

test("[P8] a process that is killed leaves ghosts for a short while only", async () => {
  const room = newRoom();
  const near = await enter(room, { id: "near" });
  const { flags, file } = sourceProgram(
    fileURLToPath(new URL("../../testing/programs/server-process.ts", import.meta.url)),
  );
  const child = spawn(
    process.execPath,
    [
      ...flags,
      file,
      JSON.stringify({
        databaseUrl: app.databaseUrl,
        adminToken: ADMIN,
        masterKeys: [newMasterKey()],
        port: 0,
        presenceTimes,
      }),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (line: Buffer) => resolve((JSON.parse(line.toString()) as { url: string }).url));
      child.once("exit", () => reject(new Error("The process ended.")));
    });
    await enter(room, { id: "ghost", url });
    await becomes(() => idsIn(near, room), ["ghost", "near"]);
    // A living process is not forgotten, however long nothing happens.
    await pause(presenceTimes.silentMs * 1.5);
    expect(idsIn(near, room)).toEqual(["ghost", "near"]);
    const killed = performance.now();
    child.kill("SIGKILL");
    await becomes(() => idsIn(near, room), ["near"]);
    expect(performance.now() - killed).toBeLessThan(presenceTimes.silentMs + presenceTimes.beatMs + 2_000);
  } finally {
    child.kill("SIGKILL");
  }
});

test("[P8] a process that stops hands over its sessions: one that reconnects elsewhere never left", async () => {
  const room = newRoom();
  const near = await enter(room, { id: "near" });
  const third = await app.another();
  const [ann, bob] = [
    await enter(room, { id: "ann", clientId: "tab", url: third.server.url }),
    await enter(room, { id: "bob", clientId: "tab", url: third.server.url }),
  ];
  await becomes(() => idsIn(near, room), ["ann", "bob", "near"]);
  const begun = performance.now();
  const stopped = third.server.close();
  expect((await ann.closed).code).toBe(1012);
  expect((await bob.closed).code).toBe(1012);
  const back = await enter(room, { id: "ann", clientId: "tab", url: there }, { back: true });
  await becomes(() => idsIn(near, room), ["ann", "near"]);
  expect(performance.now() - begun).toBeLessThan(GRACE_MS + 2_000);
  await stopped;
  await pause(GRACE_MS);
  expect(told(near, room).flatMap(({ left }) => left)).toEqual(["agent:bob"]);
  expect(roomOf(near, room).get("agent:ann")?.sessions).toEqual([
    { session: sessionOf(back), clientId: "tab", state: { back: true } },
  ]);
});

test("[P9] a socket that does not read a busy room is closed, and delays no other", async () => {
  const room = newRoom();
  const [slow, quick] = [await enter(room, { id: "slow" }), await enter(room, { id: "quick" })];
  const raw = (slow.socket as unknown as { _socket: { pause(): void; resume(): void } })._socket;
  raw.pause();
  const rooms = [room];
  const writers = await Promise.all(Array.from({ length: 16 }, (_, n) => enter(room, { id: `w${n}`, rooms })));
  const isGone = () => presenceFrames(quick.frames, room).some(({ left }) => left.includes("agent:slow"));
  // The kernel buffers some megabytes before the server has to buffer anything. A busy machine sends several states of
  // a writer as one, so it needs more of them.
  const deadline = performance.now() + 80_000;
  for (let n = 0; performance.now() < deadline && !isGone(); n++) {
    for (const writer of writers) writer.send({ frame: "presence", room, state: { n, t: "x".repeat(4_000) } });
    await pause(50);
  }
  expect(isGone()).toBe(true);
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
