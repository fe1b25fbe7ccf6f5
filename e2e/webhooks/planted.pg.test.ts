import { dirname, join } from "node:path";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, describe, expect, test } from "vitest";
import { patchSources } from "../conformance/testing/patched-server.ts";
import { openHouse } from "./house.ts";
import { plantedBugs } from "./testing/planted-bugs.ts";

/** What a bug keeps from coming is not waited for longer than that. */
const PATIENCE_MS = 6_000;

const databases: string[] = [];
for (const _ of plantedBugs) databases.push((await freshDatabase()).url);
const house = await openHouse();
afterAll(() => house.close());

describe.concurrent("the judge finds a planted bug", () => {
  for (const [i, { name, edits, scenario, finds }] of plantedBugs.entries())
    test(name, { timeout: 180_000 }, async () => {
      const { main, forget } = patchSources(edits);
      try {
        const { verdict } = await scenario.play({
          databaseUrl: databases[i] as string,
          seed: i,
          patienceMs: PATIENCE_MS,
          sources: join(dirname(main), "server.ts"),
          ...(!scenario.kills && { house }),
        });
        expect(finds).toContain(verdict.violations.map(({ kind }) => kind).find((kind) => finds.includes(kind)));
      } finally {
        forget();
      }
    });
});
