import { expect, test, vi } from "vitest";
import { createStrangers } from "./failed-auth-limiter.ts";

test("[B4] 50 a second from one address, whatever other addresses do", () => {
  vi.useFakeTimers();
  const strangers = createStrangers(50);
  expect(strangers.areTooMany("10.0.0.1")).toBe(false);
  for (let i = 0; i < 49; i += 1) strangers.came("10.0.0.1");
  expect(strangers.areTooMany("10.0.0.1")).toBe(false);
  strangers.came("::ffff:10.0.0.1");
  expect([strangers.areTooMany("10.0.0.1"), strangers.areTooMany("10.0.0.2")]).toEqual([true, false]);
  vi.advanceTimersByTime(20);
  expect(strangers.areTooMany("10.0.0.1")).toBe(false);
  strangers.came("10.0.0.1");
  expect(strangers.areTooMany("10.0.0.1")).toBe(true);
});

test("[B4] one network of IPv6 is one address, and a rate of 0 is none", () => {
  const strangers = createStrangers(1);
  strangers.came("2001:db8:1:2::1");
  expect(strangers.areTooMany("2001:db8:1:2:ffff::9")).toBe(true);
  expect(strangers.areTooMany("2001:db8:1:3::1")).toBe(false);
  const open = createStrangers(0);
  for (let i = 0; i < 1_000; i += 1) open.came("10.0.0.1");
  expect(open.areTooMany("10.0.0.1")).toBe(false);
});
