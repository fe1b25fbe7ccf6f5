import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { createConnectionQuota } from "./connection-quota.ts";

function setUp(limits: Partial<Parameters<typeof createConnectionQuota>[0]> = {}) {
  const server = new EventEmitter();
  let now = 0;
  const quota = createConnectionQuota(
    { connections: 1_000, connectionsAnonymous: 100, connectionsPerAddress: 10, ...limits },
    (address) => address === "10.0.0.1",
    () => now,
  );
  quota.watch(server as Server);
  return {
    quota,
    pass: (ms: number) => {
      now += ms;
    },
    ask: (socket: Socket) => void server.emit("request", { socket }),
    open(remoteAddress = "192.0.2.1", count = 1) {
      return Array.from({ length: count }, () => {
        const socket = Object.assign(new EventEmitter(), { remoteAddress, closed: false, destroy: () => {} });
        socket.destroy = () => {
          socket.closed = true;
          socket.emit("close");
        };
        server.emit("connection", socket);
        return socket as unknown as Socket & { closed: boolean };
      });
    },
  };
}
const closed = (sockets: readonly { closed: boolean }[]) => sockets.filter((socket) => socket.closed).length;

test("[B10] if an address has too many connections without a valid token, its oldest one is closed", () => {
  const { open, pass } = setUp();
  const hoarded = open("192.0.2.1", 10);
  pass(10_000);
  const [next] = open("192.0.2.1");
  expect(hoarded[0]?.closed).toBe(true);
  expect(closed(hoarded)).toBe(1);
  expect(next?.closed).toBe(false);
  open("192.0.2.2", 10);
  expect(closed(hoarded)).toBe(1);
});

test("[B10] many that come at once are given time to show a token, and those that have shown one stay", () => {
  const { open, pass, quota } = setUp();
  const herd = open("192.0.2.1", 90);
  for (const socket of herd.slice(0, 80)) quota.authenticated(socket);
  pass(60_000);
  open("192.0.2.1", 10);
  expect(closed(herd.slice(0, 80))).toBe(0);
  expect(closed(herd)).toBe(10);
});

test("[B10] connections through a trusted proxy are limited only in total", () => {
  const { open, pass } = setUp();
  const proxied = open("10.0.0.1", 50);
  pass(60_000);
  open("10.0.0.1", 50);
  expect(closed(proxied)).toBe(0);
  open("10.0.0.1", 5);
  expect(closed(proxied)).toBe(5);
});

test("[B10] connections that ask nothing make room after 2 s, those that have asked after 10 s", () => {
  const { open, pass, ask } = setUp();
  const [asking] = open("192.0.2.1");
  ask(asking as Socket);
  const silent = open("192.0.2.1", 9);
  open("192.0.2.1");
  expect(closed(silent)).toBe(0);
  pass(2_000);
  open("192.0.2.1", 5);
  expect(closed(silent)).toBe(5);
  expect(asking?.closed).toBe(false);
  pass(8_000);
  open("192.0.2.1");
  expect(asking?.closed).toBe(true);
});

test("[B7] [B10] at the limit, a connection without a valid token is closed to make room for a new one", () => {
  const { open, quota } = setUp({ connections: 20 });
  const known = open("192.0.2.1", 15);
  for (const socket of known) quota.authenticated(socket);
  const anonymous = open("192.0.2.2", 5);
  const [next] = open("192.0.2.3");
  expect(anonymous[0]?.closed).toBe(true);
  expect(next?.closed).toBe(false);
  for (const socket of [...anonymous, next!]) quota.authenticated(socket);
  expect(closed(open("192.0.2.4"))).toBe(1);
  expect(closed(known)).toBe(0);
});

test("[B10] after five responses of 401 in a row a connection ends; a valid token resets the count", () => {
  const { open, quota } = setUp();
  const [socket] = open() as [Socket];
  const tries = (count: number) => Array.from({ length: count }, () => quota.rejected(socket));
  expect(tries(4)).not.toContain(true);
  quota.authenticated(socket);
  expect(tries(5)).toEqual([false, false, false, false, true]);
});
