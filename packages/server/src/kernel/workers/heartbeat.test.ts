import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createHeartbeat } from "./heartbeat.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A heartbeat whose beats the test ends. */
function start() {
  const beats: (readonly string[])[] = [];
  const ends: (() => void)[] = [];
  const heartbeat = createHeartbeat<string>({
    beat: (alive) => {
      beats.push(alive);
      return new Promise((resolve) => ends.push(resolve));
    },
    failed: () => {},
    everyMs: 10_000,
  });
  heartbeat.start(() => ["ann", "bob"]);
  return { heartbeat, beats, ends };
}

test("[A6] thousands who come at once are one beat", async () => {
  const { heartbeat, beats } = start();
  for (let i = 0; i < 10_000; i++) heartbeat.soon(`p${i}`);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(beats.map((alive) => alive.length)).toEqual([10_000]);
});

test("[A6] a slow beat is not overlapped by the next one, and does not delay new members", async () => {
  const { heartbeat, beats, ends } = start();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(beats).toEqual([["ann", "bob"]]);
  heartbeat.soon("eve");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(beats).toEqual([["ann", "bob"], ["eve"]]);
  for (const end of ends) end();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(beats).toHaveLength(3);
});
