import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WebSocket } from "ws";
import { createAnswerBytes } from "../../kernel/limits/answer-bytes.ts";
import { createLimiter } from "../../kernel/limits/limiter.ts";
import { type Refusal, refuse } from "../../kernel/refusal.ts";
import type { StreamRequest } from "../../kernel/stream-answers.ts";
import type { FrameListener, PresenceRooms } from "../../modules/presence/rooms/presence-rooms.ts";
import { createRoomMembership } from "../../modules/presence/rooms/room-membership.ts";
import { createSession } from "./session.ts";
import type { SessionDeps } from "./session-deps.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  readonly closed: number[] = [];
  /** Callbacks for written frames. */
  readonly writing: (() => void)[] = [];
  send = (text: string | Buffer, _?: object, written?: () => void) => {
    this.sent.push(String(JSON.parse(String(text)).frame));
    if (written) this.writing.push(written);
  };
  close = (code: number) => void this.closed.push(code);
  terminate = () => {};
}

const HEAD = { logId: "log_1", syncId: 0, trimmedTo: 0, schemaVersion: 0 };
const CURRENT = { head: HEAD, schema: { version: 0, hash: "", models: new Map() } };
const principalOf = (token: string) => ({
  tenant: 1,
  organization: "org_1",
  participantKind: "user",
  participantId: "ann",
  tokenId: token,
  expiresAt: null,
  scope: undefined,
});

/** A session on a socket of ours, and the tenant around it; `refused` are tokens that are no longer good. */
function open({ logged = 0, ...more }: { current?: () => Promise<object>; logged?: number } = {}) {
  const socket = new FakeSocket();
  const refused = new Map<string, Promise<Refusal>>();
  let listeners = 0;
  /** The listener of the room that was entered last. */
  let listener: FrameListener = () => {};
  const rooms = {
    entered: [] as string[],
    broken: [] as string[],
    update: (_: number, room: string, __: object, given: FrameListener) => {
      rooms.entered.push(room);
      listener = given;
    },
    leave: () => {},
    breakOff: (_: number, room: string) => void rooms.broken.push(room),
  };
  const followed = {
    log: { current: async () => CURRENT, ...more },
    hub: {
      listen: async () => {
        listeners += 1;
        const end = () => void listeners--;
        return { position: () => logged, erasedTo: () => 0, delivered: () => undefined, hear: () => {}, end };
      },
    },
    modules: [],
    // A page of the log that is never read.
    catchUp: { page: () => new Promise(() => {}) },
  };
  const called: string[] = [];
  const deps = {
    followed: () => followed,
    welcomes: createLimiter({ most: 8, mostPerKey: 8 }),
    modules: [
      {
        frames: ["presence"],
        open: (session: string, send: Parameters<typeof createRoomMembership>[2]) =>
          createRoomMembership(rooms as unknown as PresenceRooms, session, send),
      },
    ],
    answers: createAnswerBytes({ perToken: 2 ** 26, total: 2 ** 30 }),
    pages: createLimiter<string>({}),
    streamOpened: () => {},
    authenticator: {
      principalOf: async (token: string) => refused.get(token) ?? principalOf(token),
      recheck: async (token: string) => refused.get(token) ?? principalOf(token),
      hasCached: () => true,
    },
    failedAuths: { areTooMany: () => false, recordFailure: () => {} },
    streamAnswers: {
      answer: async ({ name }: StreamRequest) => {
        called.push(name);
        return { status: 200, body: "{}", sent: () => {} };
      },
      refuse: ({ code }: Refusal) => ({ status: 400, body: JSON.stringify({ code }) }),
    },
    docUrl: (code: string) => code,
    now: () => Date.now(),
  } as unknown as SessionDeps;
  const permit = { moveTo: () => true, leave: () => {} };
  const session = createSession(socket as unknown as WebSocket, deps, {
    address: "::1",
    permit,
    authenticated: () => {},
  });
  const receive = async (frame: object) => {
    socket.emit("message", Buffer.from(JSON.stringify(frame)), false);
    await vi.advanceTimersByTimeAsync(10);
  };
  return { socket, session, refused, receive, called, listeners: () => listeners, rooms, listener: () => listener };
}

test("[T5] a hello that the database does not answer ends, and leaves no listener behind", async () => {
  const { socket, receive, listeners } = open({ current: () => Promise.reject(new Error("gone")) });
  await receive({ frame: "hello", token: "a" });
  expect(socket.sent).toEqual(["error"]);
  expect(socket.closed).toEqual([1012]);
  expect(listeners()).toBe(0);
});

test("[T19] a call does not wait until a client that is far behind has caught up", async () => {
  const { socket, receive, called } = open({
    logged: 5,
    current: async () => ({ ...CURRENT, head: { ...HEAD, syncId: 5 } }),
  });
  await receive({ frame: "hello", token: "a", since: 0 });
  await receive({ frame: "call", n: 1, name: "listClaims" });
  expect(called).toEqual(["listClaims"]);
  expect(socket.sent).toEqual(["welcome", "answer"]);
});

test("[K11] an old token that ends while a fresh one takes its place does not end the stream", async () => {
  const { socket, session, refused, receive } = open();
  await receive({ frame: "hello", token: "old" });
  expect(socket.sent).toEqual(["welcome"]);
  let answer: (refusal: Refusal) => void = () => {};
  refused.set("old", new Promise((resolve) => (answer = resolve)));
  const checked = session.check();
  await receive({ frame: "auth", token: "fresh" });
  answer(refuse("token_expired"));
  await checked;
  expect(socket.closed).toEqual([]);
  refused.set("fresh", Promise.resolve(refuse("token_expired")));
  await session.check();
  expect(socket.closed).toEqual([4401]);
});

test("[T5] a socket with much unread data for more than 10 s is closed; one that read meanwhile is not", async () => {
  const { socket, session, receive } = open();
  await receive({ frame: "hello", token: "a" });
  const unread = async (bytes: number, forMs: number) => {
    socket.bufferedAmount = bytes;
    await session.check();
    await vi.advanceTimersByTimeAsync(forMs);
    await session.check();
  };
  await unread(70_000, 9_000);
  await unread(60_000, 60_000);
  await unread(70_000, 10_000);
  expect(socket.closed).toEqual([]);
  await unread(70_000, 1);
  expect(socket.closed).toEqual([4409]);
});

const enter = { frame: "presence", room: "deck:a", state: {} };
const presence = (bytes: number) => Buffer.from(JSON.stringify({ frame: "presence", t: "x".repeat(bytes) }));

test("[P9] a socket that does not read its rooms' frames is closed; a long first response alone is no reason", async () => {
  const { socket, receive, listener } = open();
  await receive({ frame: "hello", token: "a" });
  await receive(enter);
  const first = presence(3_000_000);
  socket.bufferedAmount = first.length;
  listener()(first, true);
  listener()(presence(10), false);
  expect(socket.closed).toEqual([]);
  socket.bufferedAmount += 1_100_000;
  listener()(presence(10), false);
  expect(socket.closed).toEqual([4409]);
});

test("[P9] a socket gets a longer timeout only for its latest first response, and only until it was written", async () => {
  for (const isWritten of [true, false]) {
    const { socket, receive, listener } = open();
    await receive({ frame: "hello", token: "a" });
    await receive(enter);
    listener()(presence(3_000_000), true);
    if (isWritten) for (const written of socket.writing) written();
    else listener()(presence(3_000_000), true);
    socket.bufferedAmount = isWritten ? 1_100_000 : 6_000_000;
    listener()(presence(10), false);
    expect(socket.closed).toEqual([4409]);
  }
});

test("[P5] a frame that is answered after the end of its socket enters nothing", async () => {
  const { socket, session, receive, rooms } = open();
  await receive({ frame: "hello", token: "a" });
  await receive(enter);
  session.close(1012, "restarting");
  await receive({ ...enter, room: "deck:b" });
  socket.emit("close");
  await receive({ ...enter, room: "deck:c" });
  expect(rooms.entered).toEqual(["deck:a"]);
  expect(rooms.broken).toEqual(["deck:a"]);
});

test("[T20] [T31] a new token does not begin a stream whose parts are not all named", async () => {
  const { socket, receive } = open();
  await receive({ frame: "hello", token: "a", parts: [{ id: "p", model: "slide" }], more: true });
  await receive({ frame: "auth", token: "a" });
  await receive({ frame: "subscribe", parts: [{ id: "q", model: "slide" }] });
  expect(socket.sent).toEqual(["welcome", "renewed"]);
});

test("[T20] frames about parts that were sent before a resync arrived close nothing", async () => {
  const { socket, receive } = open();
  await receive({ frame: "hello", token: "a", log: "another", since: 0, parts: [], more: true });
  expect(socket.sent).toEqual(["welcome", "resync"]);
  await receive({ frame: "subscribe", parts: [{ id: "p", model: "slide" }] });
  await receive({ frame: "unsubscribe", ids: ["p"] });
  expect([socket.sent, socket.closed]).toEqual([["welcome", "resync"], []]);
});

test("[T16] until the token is accepted, all frames together have 8 KiB", async () => {
  const hello = { frame: "hello", token: "a" };
  const long = { ...hello, models: ["x".repeat(9_000)] };
  const tooLong = open();
  await tooLong.receive(long);
  expect(tooLong.socket.sent).toEqual(["error"]);
  expect(tooLong.socket.closed).toEqual([4400]);
  const accepted = open();
  await accepted.receive(hello);
  await accepted.receive(long);
  expect(accepted.socket.sent).toEqual(["welcome", "welcome"]);
  const many = open();
  many.refused.set("slow", new Promise(() => {}));
  await many.receive({ ...hello, token: "slow" });
  for (let i = 0; i < 3; i++) await many.receive({ frame: "ping", n: 1, pad: "x".repeat(4_000) });
  expect(many.socket.closed).toEqual([4400]);
});

test("[T16] after a failure nothing that has arrived is parsed", async () => {
  const { socket } = open();
  const parse = vi.spyOn(JSON, "parse");
  const frames = Array.from({ length: 20 }, () => Buffer.from("[]"));
  for (const frame of frames) socket.emit("message", frame, false);
  await vi.advanceTimersByTimeAsync(10);
  for (const frame of frames) socket.emit("message", frame, false);
  await vi.advanceTimersByTimeAsync(10);
  const parsed = parse.mock.calls.filter(([text]) => text === "[]").length;
  parse.mockRestore();
  expect(parsed).toBe(1);
  expect(socket.sent).toEqual(["error"]);
  expect(socket.closed).toEqual([4400]);
});

test("[T16] a frame with more than 5 000 values is refused before it is parsed", async () => {
  const { socket, receive } = open();
  await receive({ frame: "hello", token: "a" });
  const parse = vi.spyOn(JSON, "parse");
  const text = `[${"[],".repeat(20_000)}[]]`;
  socket.emit("message", Buffer.from(text), false);
  await vi.advanceTimersByTimeAsync(10);
  const parsed = parse.mock.calls.filter(([given]) => given === text).length;
  parse.mockRestore();
  expect(parsed).toBe(0);
  expect(socket.sent).toEqual(["welcome", "error"]);
  expect(socket.closed).toEqual([4400]);
});
