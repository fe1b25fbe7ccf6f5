import { dirname, join } from "node:path";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, describe, expect, test } from "vitest";
import { patchSources } from "../conformance/testing/patched-server.ts";
import { openHouse } from "./house.ts";
import { type PlantedBug, plantedBugs } from "./testing/planted-bugs.ts";
import type { ViolationKind } from "./violations.ts";

/** What a bug keeps from coming is not waited for longer than that. */
const PATIENCE_MS = 6_000;
/** On a machine that is busy an attempt may come so late that nobody sees it was to come too early. */
const TRIES = 3;
/** Most of the time they wait. */
const AT_ONCE = 9;

const house = await openHouse();
afterAll(() => house.close());
const databases: string[] = [];
for (const _ of plantedBugs) databases.push((await freshDatabase()).url);

const lanes: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve());
const found = plantedBugs.map((bug, i) => {
  const kind = (lanes[i % AT_ONCE] as Promise<unknown>).then(() => find(bug, databases[i] as string));
  // Its own test tells of it.
  lanes[i % AT_ONCE] = kind.catch(() => {});
  return kind;
});

describe("the judge finds a planted bug", () => {
  for (const [i, { name, finds }] of plantedBugs.entries())
    test(name, { timeout: 180_000 }, async () => expect(finds).toContain(await found[i]));
});

/** One of the kinds that it is to be found by. */
async function find({ edits, scenario, finds }: PlantedBug, databaseUrl: string): Promise<ViolationKind | undefined> {
  const { main, forget } = patchSources(edits);
  try {
    for (let seed = 1; seed <= TRIES; seed++) {
      const sources = join(dirname(main), "server.ts");
      const setting = { databaseUrl, seed, sources, patienceMs: PATIENCE_MS, ...(!scenario.kills && { house }) };
      const { verdict } = await scenario.play(setting);
      const kind = verdict.violations.map((one) => one.kind).find((one) => finds.includes(one));
      if (kind) return kind;
    }
    return undefined;
  } finally {
    forget();
  }
}
