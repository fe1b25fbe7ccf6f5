import { dirname, join } from "node:path";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, describe, expect, test } from "vitest";
import { patchSources } from "../conformance/testing/patched-server.ts";
import { openHouse } from "./house.ts";
import { plantedBugs } from "./testing/planted-bugs.ts";
import type { ViolationKind } from "./violations.ts";

/** What a bug keeps from coming is not waited for longer than that. */
const PATIENCE_MS = 6_000;

/** On a machine that is busy an attempt may come so late that nobody sees it was to come too early. */
const TRIES = 3;

const house = await openHouse();
afterAll(() => house.close());
const databases: string[] = [];
for (const _ of plantedBugs) databases.push((await freshDatabase()).url);

describe.concurrent("the judge finds a planted bug", () => {
  for (const [i, { name, edits, scenario, finds }] of plantedBugs.entries())
    test(name, { timeout: 180_000 }, async () => {
      const { main, forget } = patchSources(edits);
      try {
        let found: ViolationKind | undefined;
        for (let tried = 1; tried <= TRIES && !found; tried++) {
          const { verdict } = await scenario.play({
            databaseUrl: databases[i] as string,
            seed: tried,
            patienceMs: PATIENCE_MS,
            sources: join(dirname(main), "server.ts"),
            ...(!scenario.kills && { house }),
          });
          found = verdict.violations.map(({ kind }) => kind).find((kind) => finds.includes(kind));
        }
        expect(finds).toContain(found);
      } finally {
        forget();
      }
    });
});
