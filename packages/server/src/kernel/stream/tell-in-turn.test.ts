import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTellInTurn } from "./tell-in-turn.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A log whose readers count how often they were told. */
const logOf = (many: number) => {
  const log = { told: 0, asked: 0, behind: many, many };
  const tell = () => {
    log.asked += 1;
    if (log.behind === 0) return false;
    log.behind -= 1;
    log.told += 1;
    return true;
  };
  return { log, readers: () => Array.from({ length: many }, () => tell) };
};

test("[T17] few readers are told a second later, and many in turn, 1 000 a second", () => {
  const few = logOf(3);
  const many = logOf(2_500);
  const turns = createTellInTurn((log: object) => (log === few.log ? few.readers() : many.readers()));
  turns.wentOn(few.log);
  turns.wentOn(few.log);
  turns.wentOn(many.log);
  vi.advanceTimersByTime(999);
  expect([few.log.told, many.log.told]).toEqual([0, 0]);
  vi.advanceTimersByTime(1);
  expect([few.log.told, many.log.told]).toEqual([3, 97]);
  vi.advanceTimersByTime(1_000);
  expect(many.log.told).toBe(1_097);
  vi.advanceTimersByTime(10_000);
  expect([few.log.told, many.log.told]).toEqual([3, 2_500]);
  expect(vi.getTimerCount()).toBe(0);
});

test("[T17] a reader that is not behind takes no one's turn, and a log that goes on during its turn gets another", () => {
  const idle = logOf(5_000);
  idle.log.behind = 0;
  const next = logOf(1);
  const turns = createTellInTurn((log: object) => (log === idle.log ? idle.readers() : next.readers()));
  turns.wentOn(idle.log);
  turns.wentOn(next.log);
  vi.advanceTimersByTime(1_000);
  expect([idle.log.asked, next.log.told]).toEqual([5_000, 1]);
  idle.log.behind = 150;
  turns.wentOn(idle.log);
  vi.advanceTimersByTime(1_000);
  expect(idle.log.told).toBe(100);
  idle.log.behind = 51;
  turns.wentOn(idle.log);
  vi.advanceTimersByTime(2_000);
  expect(idle.log).toMatchObject({ told: 151, behind: 0, asked: 15_000 });
  turns.wentOn(idle.log);
  turns.forget(idle.log);
  vi.advanceTimersByTime(2_000);
  expect(idle.log.asked).toBe(15_000);
});
