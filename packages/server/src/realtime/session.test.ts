import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WebSocket } from "ws";
import { type Refusal, refuse } from "../rules/refusal.ts";
import { createSession, type SessionDeps } from "./session.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  readonly closed: number[] = [];
  send = (text: string) => void this.sent.push(String(JSON.parse(text).frame));
  close = (code: number) => void this.closed.push(code);
  terminate = () => {};
}

const HEAD = { logId: "log_1", syncId: 0, trimmedTo: 0, schemaVersion: 0 };
const principalOf = (token: string) => ({
  world: 1,
  organization: "org_1",
  participantKind: "user",
  participantId: "ann",
  tokenId: token,
  expiresAt: null,
  scope: undefined,
});

/** A session on a socket of ours, and the world around it; `refused` are tokens that are no longer good. */
function open(more: { head?: () => Promise<object> } = {}) {
  const socket = new FakeSocket();
  const refused = new Map<string, Promise<Refusal>>();
  let listeners = 0;
  const deps = {
    log: { head: async () => HEAD, schema: async () => ({ version: 0, hash: "" }), ...more },
    hub: {
      listen: async () => {
        listeners += 1;
        return { position: () => 0, end: () => void listeners-- };
      },
    },
    rooms: { say: () => {}, leave: () => {}, breakOff: () => {} },
    authenticator: {
      principalOf: async (token: string) => refused.get(token) ?? principalOf(token),
      knows: () => true,
    },
    strangers: { areTooMany: () => false, came: () => {} },
    docUrl: (code: string) => code,
    now: () => 0,
  } as unknown as SessionDeps;
  const seat = { moveTo: () => true, leave: () => {} };
  const session = createSession(socket as unknown as WebSocket, deps, { address: "::1", seat });
  const say = async (frame: object) => {
    socket.emit("message", Buffer.from(JSON.stringify(frame)), false);
    await vi.advanceTimersByTimeAsync(10);
  };
  return { socket, session, refused, say, listeners: () => listeners };
}

test("[T5] a hello that the database does not answer ends, and leaves no listener behind", async () => {
  const { socket, say, listeners } = open({ head: () => Promise.reject(new Error("gone")) });
  await say({ frame: "hello", token: "a" });
  expect([socket.sent, socket.closed, listeners()]).toEqual([["error"], [1012], 0]);
});

test("[K11] an old token that ends while a fresh one takes its place does not end the stream", async () => {
  const { socket, session, refused, say } = open();
  await say({ frame: "hello", token: "old" });
  expect(socket.sent).toEqual(["welcome"]);
  let answer: (refusal: Refusal) => void = () => {};
  refused.set("old", new Promise((resolve) => (answer = resolve)));
  const checked = session.check();
  await say({ frame: "auth", token: "fresh" });
  answer(refuse("token_expired"));
  await checked;
  expect(socket.closed).toEqual([]);
  refused.set("fresh", Promise.resolve(refuse("token_expired")));
  await session.check();
  expect(socket.closed).toEqual([4401]);
});
