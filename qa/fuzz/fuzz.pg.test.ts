import { freshDatabase } from "@holdfast/server/testing";
import { expect, test } from "vitest";
import { violationText } from "./report.ts";
import { run } from "./run.ts";

// The same as `npm run fuzz`, but short. One seed is always the same, the other is new in every run.
const PINNED = 20_260_131;
const REQUESTS = 1_000;
const databases = [await freshDatabase(), await freshDatabase()];

test.each([
  [PINNED, databases[0]?.url as string],
  [Math.floor(Math.random() * 2 ** 31), databases[1]?.url as string],
])("[F1] [F2] [F3] [H7] every request is answered as documented, seed %i", async (seed, databaseUrl) => {
  const findings = await run({ databaseUrl, requests: REQUESTS, seed, connections: 16, print: () => {} });
  expect(findings.violations.map(violationText)).toEqual([]);
  expect(findings.exits).toBe(0);
  expect(findings.totals.of("500")).toBe(0);
  // The run wrote, read, was refused, and received frames.
  expect(findings.totals.of("2")).toBeGreaterThan(REQUESTS / 5);
  expect(findings.totals.of("4")).toBeGreaterThan(REQUESTS / 5);
  expect(findings.refusedQuietly).toBeGreaterThan(30);
  expect(findings.entries).toBeGreaterThan(10);
  expect(findings.streams.framesReceived).toBeGreaterThan(5);
});
