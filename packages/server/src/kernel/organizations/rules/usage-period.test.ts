import { expect, test } from "vitest";
import { dayOf, usagePeriod } from "./usage-period.ts";

const NOW = Date.parse("2026-03-01T00:30:00Z");

test.each([
  ["the last 30 days", undefined, undefined, "2026-01-31", "2026-03-01"],
  ["30 days up to the last one", undefined, "2024-03-01", "2024-02-01", "2024-03-01"],
  ["from a day on", "2026-02-28", undefined, "2026-02-28", "2026-03-01"],
  ["one day", "2026-02-03", "2026-02-03", "2026-02-03", "2026-02-03"],
  ["a leap day", "2024-02-29", "2024-02-29", "2024-02-29", "2024-02-29"],
  ["times name their UTC day", "2026-01-01T23:30:00-01:00", "2026-01-03T00:30:00+01:00", "2026-01-02", "2026-01-02"],
  ["days to come", "2026-02-28", "2027-01-01", "2026-02-28", "2027-01-01"],
  ["no day before the first one", undefined, "0001-01-10", "0001-01-01", "0001-01-10"],
  ["all days", "0001-01-01", "9999-12-31", "0001-01-01", "9999-12-31"],
])("[G15] %s", (_, start, end, from, to) => {
  expect(usagePeriod(start, end, NOW)).toEqual({ from, to });
});

test.each([
  ["", undefined, "starting_at"],
  ["yesterday", undefined, "starting_at"],
  ["2026-02-30", undefined, "starting_at"],
  ["2026-2-3", undefined, "starting_at"],
  ["1767225600", undefined, "starting_at"],
  ["2026-02-03T00:00:00", undefined, "starting_at"],
  ["0001-01-01T00:00:00+01:00", undefined, "starting_at"],
  [undefined, "9999-12-31T23:59:59-01:00", "ending_at"],
  [undefined, "2026-02-03 ", "ending_at"],
  [undefined, "+275760-09-13", "ending_at"],
  ["2026-03-02", undefined, "starting_at"],
  ["2026-02-02", "2026-02-01", "starting_at"],
])("[G15] from %j to %j is refused", (start, end, param) => {
  expect(usagePeriod(start, end, NOW)).toMatchObject({ code: "invalid_value", param });
});

test("[G15] a day begins at midnight UTC", () => {
  expect(dayOf(Date.parse("2026-01-31T23:59:59.999Z"))).toBe("2026-01-31");
  expect(dayOf(Date.parse("2026-02-01T00:00:00Z"))).toBe("2026-02-01");
});
