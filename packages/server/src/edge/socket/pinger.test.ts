import { EventEmitter } from "node:events";
import { limits } from "@holdfast/sdk/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WebSocket } from "ws";
import { startPinging } from "./pinger.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pinger = () => startPinging(limits.pingMs);
const wait = (times: number) => vi.advanceTimersByTime(times * limits.pingMs);

class FakeSocket extends EventEmitter {
  pings = 0;
  ended = 0;
  ping = () => void this.pings++;
  terminate = () => void this.ended++;
}

function open(to: ReturnType<typeof pinger>): FakeSocket {
  const socket = new FakeSocket();
  to.add(socket as unknown as WebSocket);
  return socket;
}

test("[T13] a socket that answers is pinged every 25 s and stays open; one that misses two pings is closed", () => {
  const to = pinger();
  const [answers, silent] = [open(to), open(to)];
  const answer = answers.ping;
  answers.ping = () => {
    answer();
    answers.emit("pong");
  };
  wait(2);
  expect(answers.pings).toBe(2);
  expect(silent.pings).toBe(2);
  expect(silent.ended).toBe(0);
  wait(1);
  expect(answers.pings).toBe(3);
  expect(answers.ended).toBe(0);
  expect(silent.pings).toBe(2);
  expect(silent.ended).toBe(1);
  silent.emit("close");
  wait(2);
  expect(answers.pings).toBe(5);
  expect(silent.ended).toBe(1);
});

test("[T13] the pings of many that came at once are spread over the 25 s", () => {
  const to = pinger();
  const sockets = Array.from({ length: 1_000 }, () => open(to));
  const pings = () => sockets.reduce((sum, socket) => sum + socket.pings, 0);
  for (let n = 1; n <= 10; n++) {
    wait(0.1);
    expect(pings()).toBe(100 * n);
  }
});
