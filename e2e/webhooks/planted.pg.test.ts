import { dirname, join } from "node:path";
import { freshDatabase } from "@holdfast/server/testing";
import { describe, expect, test } from "vitest";
import { patchSources } from "../conformance/testing/patched-server.ts";
import { plantedBugs } from "./testing/planted-bugs.ts";

const databases: string[] = [];
for (const _ of plantedBugs) databases.push((await freshDatabase()).url);

describe.concurrent("the judge finds a planted bug", () => {
  for (const [i, { name, edits, scenario, finds }] of plantedBugs.entries())
    test(name, { timeout: 180_000 }, async () => {
      const { main, forget } = patchSources(edits);
      try {
        const { verdict } = await scenario.play({
          databaseUrl: databases[i] as string,
          seed: i,
          sources: join(dirname(main), "server.ts"),
        });
        expect(verdict.violations.map(({ kind }) => kind)).toEqual(
          expect.arrayContaining([expect.stringMatching(finds.join("|"))]),
        );
      } finally {
        forget();
      }
    });
});
