import { expect, test } from "vitest";
import type { RunningReport } from "./mirror-report.ts";
import { changes, mirrorHint, mirrorWords, scheduleWords } from "./mirror-words.ts";

const report = (change: Partial<RunningReport>): RunningReport => ({
  isRunning: true,
  rows: 12,
  isFailing: false,
  status: "enabled",
  lag: 0,
  attempt: 0,
  nextAttemptInMs: null,
  scheduleMs: [0, 2_000, 5_000],
  attempts: [],
  ...change,
});

test.each([
  [{}, "calm", "Up to date", ""],
  [{ isFailing: true }, "calm", "Up to date", ""],
  [{ lag: 3 }, "busy", "Catching up", ""],
  [{ lag: 3, attempt: 1 }, "busy", "Catching up", ""],
  [{ lag: 3, attempt: 2, nextAttemptInMs: 4_200 }, "waiting", "Attempt 2 of 3 failed", "next in 5\u00a0s"],
  [{ lag: 3, attempt: 1, nextAttemptInMs: 0 }, "waiting", "Attempt 1 of 3 failed", "next in 0\u00a0s"],
  [{ lag: 3, attempt: 3, status: "disabled" }, "trouble", "Given up after 3 attempts", ""],
] as const)("%o is said as %s: %s %s", (change, mood, says, next) => {
  expect(mirrorWords(report(change), true)).toEqual({ mood, says, next });
});

test("offline nothing is known", () => {
  expect(mirrorWords(report({}), false)).toMatchObject({ mood: "unknown", says: "Not known while you are offline" });
});

test.each([
  [[0, 2_000, 5_000, 10_000], "at once, then after 2, 5 and 10\u00a0s"],
  [[0, 500, 1_500], "at once, then after 0.5 and 1.5\u00a0s"],
  [[0], "at once"],
])("%o is said as %s", (schedule, words) => {
  expect(scheduleWords(schedule)).toBe(words);
});

test("the time of the next attempt is shown only while deliveries fail", () => {
  expect(mirrorHint(report({}))).toBe("");
  expect(mirrorHint(report({ isFailing: true }))).toMatch(
    /^It fails from the next change on; edit a slide\. Each change/,
  );
  expect(mirrorHint(report({ isFailing: true, lag: 1 }))).toMatch(
    /^Each change is tried 3 times: at once, then after 2 and 5\u00a0s\./,
  );
  expect(mirrorHint(report({ isFailing: true, lag: 1, status: "disabled" }))).toMatch(/nothing is lost/);
});

test("one change, several changes", () => {
  expect(changes(0)).toBe("0 changes");
  expect(changes(1)).toBe("1 change");
  expect(changes(2)).toBe("2 changes");
});
