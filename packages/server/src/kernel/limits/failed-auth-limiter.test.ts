import { afterEach, expect, test, vi } from "vitest";
import { createFailedAuthLimiter } from "./failed-auth-limiter.ts";

afterEach(() => void vi.useRealTimers());

test("[B4] 50 a second from one address, whatever other addresses do", () => {
  vi.useFakeTimers();
  const failedAuths = createFailedAuthLimiter(50);
  expect(failedAuths.areTooMany("10.0.0.1")).toBe(false);
  for (let i = 0; i < 49; i += 1) failedAuths.recordFailure("10.0.0.1");
  expect(failedAuths.areTooMany("10.0.0.1")).toBe(false);
  failedAuths.recordFailure("::ffff:10.0.0.1");
  expect(failedAuths.areTooMany("10.0.0.1")).toBe(true);
  expect(failedAuths.areTooMany("10.0.0.2")).toBe(false);
  vi.advanceTimersByTime(20);
  expect(failedAuths.areTooMany("10.0.0.1")).toBe(false);
  failedAuths.recordFailure("10.0.0.1");
  expect(failedAuths.areTooMany("10.0.0.1")).toBe(true);
});

test("[B4] one network of IPv6 is one address, and a rate of 0 is none", () => {
  const failedAuths = createFailedAuthLimiter(1);
  failedAuths.recordFailure("2001:db8:1:2::1");
  expect(failedAuths.areTooMany("2001:db8:1:2:ffff::9")).toBe(true);
  expect(failedAuths.areTooMany("2001:db8:1:3::1")).toBe(false);
  const open = createFailedAuthLimiter(0);
  for (let i = 0; i < 1_000; i += 1) open.recordFailure("10.0.0.1");
  expect(open.areTooMany("10.0.0.1")).toBe(false);
});
