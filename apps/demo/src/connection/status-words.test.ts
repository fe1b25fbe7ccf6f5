import type { SyncStatus } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { ago, statusWords } from "./status-words.ts";

const status = (change: Partial<SyncStatus>): SyncStatus => ({
  name: "online",
  live: true,
  leads: true,
  pending: 0,
  conflicts: 0,
  attention: 0,
  oldestPendingAt: undefined,
  rowsAt: undefined,
  syncId: 1,
  retryAt: undefined,
  reason: undefined,
  storage: "disk",
  storageTrouble: undefined,
  persisted: undefined,
  lostStore: undefined,
  rows: "complete",
  loadedRows: undefined,
  unreadable: [],
  ...change,
});

test.each([
  [{}, "calm", "All changes saved", ""],
  [{ pending: 1, oldestPendingAt: 99_000 }, "busy", "Saving…", "1 change"],
  [{ live: false }, "calm", "All changes saved; updates every few seconds", ""],
  [{ conflicts: 1 }, "waiting", "Needs your decision", ""],
  [{ attention: 1 }, "waiting", "Needs attention", ""],
  [{ attention: 1, conflicts: 1 }, "waiting", "Needs your decision", ""],
  [{ attention: 1, pending: 1 }, "busy", "Saving…", "1 change"],
  [{ name: "paused" }, "waiting", "Working offline", ""],
  [
    { name: "paused", pending: 2, oldestPendingAt: 40_000 },
    "waiting",
    "Working offline",
    "2 changes, oldest from 1 minute ago",
  ],
  [
    { name: "offline", pending: 1, oldestPendingAt: 88_000 },
    "waiting",
    "No connection",
    "1 change, oldest from 12 seconds ago",
  ],
  [{ name: "connecting" }, "busy", "Connecting…", ""],
  [{ name: "connecting", reason: "Failed to fetch" }, "waiting", "No connection", ""],
  [{ name: "storage-failed" }, "trouble", "This browser cannot store your changes", ""],
] as const)("%o is said as %s: %s %s", (change, mood, says, waiting) => {
  expect(statusWords(status(change), 0, 100_000)).toEqual({ mood, says, waiting });
});

test("changes that wait behind a decision are not said to be on their way", () => {
  const behind = status({ conflicts: 1, pending: 2 });
  expect(statusWords(behind, 2, 0)).toEqual({
    mood: "waiting",
    says: "Needs your decision",
    waiting: "2 changes",
  });
  expect(statusWords(behind, 1, 0).says).toBe("Saving…");
});

test.each([
  [0, "0 seconds ago"],
  [59_999, "59 seconds ago"],
  [60_000, "1 minute ago"],
  [7_200_000, "2 hours ago"],
  [172_800_000, "2 days ago"],
  [-5, "0 seconds ago"],
])("%d ms is %s", (ms, words) => {
  expect(ago(ms)).toBe(words);
});
