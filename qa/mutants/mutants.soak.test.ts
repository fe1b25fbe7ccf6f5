import { freshDatabases } from "@holdfast/server/testing";
import { describe, expect, test } from "vitest";
import { betweenTwoProcesses } from "./judges.ts";
import { mutants } from "./mutants.ts";
import { patchSources } from "./patched-sources.ts";

/** On a busy machine, the two sides of a race may not meet: then nothing is proved, and they try again. */
const TRIES = 3;
const database = freshDatabases();

describe("[R15] [X2] [L12] [A19] [A35] [DS19] a judge finds the bug that is inserted into a copy of the sources", () => {
  test.each(mutants)("$name", { timeout: 600_000 }, async ({ edits, judge, finds }) => {
    const sources = patchSources(edits);
    const isMeant = (found: string) => finds.some((one) => found.startsWith(one));
    try {
      const found: string[] = [];
      for (let tried = 0; tried < TRIES && !found.some(isMeant); tried++)
        found.push(...(await judge(sources, { databaseUrl: await database(), seed: 5_000 + tried, finds })));
      expect(found).toContainEqual(expect.toSatisfy(isMeant));
    } finally {
      sources.forget();
    }
  });
});

// The other judges judge unchanged sources in tests of their own.
test("[L12] two processes on one database show nothing where no bug is", { timeout: 120_000 }, async () => {
  const sources = patchSources([]);
  try {
    expect(await betweenTwoProcesses(sources, { databaseUrl: await database(), seed: 1, finds: [] })).toEqual([]);
  } finally {
    sources.forget();
  }
});
