import { expect } from "vitest";
import { violationText } from "./report.ts";
import { runFuzz } from "./run.ts";

interface Least {
  readonly refusedQuietly: number;
  readonly entries: number;
  readonly frames: number;
}

/** A run finds nothing; and it wrote, read, was refused, and received frames. */
export async function expectSound(databaseUrl: string, seed: number, requests: number, least: Least): Promise<void> {
  const findings = await runFuzz({ databaseUrl, requests, seed, connections: 16, print: () => {} });
  expect(findings.violations.map(violationText)).toEqual([]);
  expect(findings.exits).toBe(0);
  expect(findings.totals.of("500")).toBe(0);
  expect(findings.totals.of("2")).toBeGreaterThan(requests / 5);
  expect(findings.totals.of("4")).toBeGreaterThan(requests / 5);
  expect(findings.refusedQuietly).toBeGreaterThan(least.refusedQuietly);
  expect(findings.entries).toBeGreaterThan(least.entries);
  expect(findings.streams.framesReceived).toBeGreaterThan(least.frames);
}
