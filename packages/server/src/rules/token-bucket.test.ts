import fc from "fast-check";
import { expect, test } from "vitest";
import { leftAt, secondsUntil } from "./token-bucket.ts";

const rate = { perSecond: 100, burst: 200 };

test.each([
  [0, 0, 0],
  [0, 10, 1],
  [0, 1_000, 100],
  [150, 1_000, 200],
  [200, 60_000, 200],
  [50, -5_000, 50],
])("[B1] with %d left, after %d ms there are %d", (left, ms, expected) => {
  expect(leftAt({ left, at: 1_000_000 }, rate, 1_000_000 + ms)).toBe(expected);
});

test("[B1] no sender, however it spreads its requests, gets more than the burst and the rate", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 600 }), (pauses) => {
      let level = { left: rate.burst, at: 0 };
      let now = 0;
      let granted = 0;
      for (const pause of pauses) {
        now += pause;
        const left = leftAt(level, rate, now);
        if (left >= 1) granted += 1;
        level = { left: left >= 1 ? left - 1 : left, at: now };
      }
      expect(granted).toBeLessThanOrEqual(rate.burst + (now / 1_000) * rate.perSecond + 1e-6);
    }),
  );
});

test("[B1] whole seconds until there is enough", () => {
  expect(secondsUntil(1, 0.5, rate)).toBe(1);
  expect(secondsUntil(200, 0, rate)).toBe(2);
  expect(secondsUntil(200, 200, rate)).toBe(0);
});
