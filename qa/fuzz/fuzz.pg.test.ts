import { freshDatabase } from "@holdfast/server/testing";
import { expect, test } from "vitest";
import { violationText } from "./report.ts";
import { run } from "./run.ts";

// The same as `npm run fuzz`, but short, and always the same seed. The soak suite takes a new one.
const PINNED = 20_260_131;
const REQUESTS = 800;
const database = await freshDatabase();

test(`[F1] [F2] [F3] [H7] every request is answered as documented, seed ${PINNED}`, async () => {
  const findings = await run({
    databaseUrl: database.url,
    requests: REQUESTS,
    seed: PINNED,
    connections: 16,
    print: () => {},
  });
  expect(findings.violations.map(violationText)).toEqual([]);
  expect(findings.exits).toBe(0);
  expect(findings.totals.of("500")).toBe(0);
  // The run wrote, read, was refused, and received frames.
  expect(findings.totals.of("2")).toBeGreaterThan(REQUESTS / 5);
  expect(findings.totals.of("4")).toBeGreaterThan(REQUESTS / 5);
  expect(findings.refusedQuietly).toBeGreaterThan(20);
  expect(findings.entries).toBeGreaterThan(5);
  expect(findings.streams.framesReceived).toBeGreaterThan(0);
});
