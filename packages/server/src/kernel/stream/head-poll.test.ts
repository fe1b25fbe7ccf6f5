import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createHeadPoll } from "./head-poll.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("[T10] behind the hints one statement a second asks for the heads that are listened to, 2 000 at a time", async () => {
  const asked: number[][] = [];
  const poll = createHeadPoll(
    async (tenants) => {
      asked.push([...tenants]);
      return new Map(tenants.map((tenant) => [tenant, { syncId: tenant, schemaVersion: 1, claimChange: 0 }]));
    },
    (error) => {
      throw error;
    },
  );
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toEqual([]);
  const received: number[] = [];
  const ends = Array.from({ length: 2_500 }, (_, tenant) => poll.watch(tenant, ({ syncId }) => received.push(syncId)));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked.map(({ length }) => length)).toEqual([2_000, 500]);
  expect(received.length).toBe(2_500);
  for (const end of ends) end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked.length).toBe(2);
  poll.watch(7, ({ syncId }) => received.push(syncId));
  poll.askAll();
  await vi.advanceTimersByTimeAsync(0);
  expect(received.at(-1)).toBe(7);
  poll.close();
});
