import { dirname, join } from "node:path";
import { patchSources } from "../conformance/patched-server.ts";
import { type Mutant, mutants } from "../deliveries/testing/mutants.ts";
import type { MutantCheck, Suite, TestEnvironment } from "./suite.ts";

/** How long to wait for a request that a bug prevents. */
const PATIENCE_MS = 6_000;
/** On a busy machine, an attempt may be so late that its early schedule goes unnoticed. */
const TRIES = 3;

export const deliveries: Suite = {
  name: "deliveries",
  atOnce: 9,
  planted: mutants.map(
    (bug): MutantCheck => ({
      ...bug,
      isQuick: bug.isQuick ?? false,
      find: (environment) => violationOf(bug, environment),
    }),
  ),
};

async function violationOf(
  { edits, scenario, finds }: Mutant,
  { database, workerHost, seed }: TestEnvironment,
): Promise<string | undefined> {
  const { main, forget } = patchSources(edits);
  try {
    const databaseUrl = await database();
    const sources = join(dirname(main), "server.ts");
    for (let tried = 0; tried < TRIES; tried++) {
      const { verdict } = await scenario.play({
        ...{ databaseUrl, sources, seed: seed + tried, patienceMs: PATIENCE_MS },
        ...(!scenario.kills && { workerHost: await workerHost() }),
      });
      const kind = verdict.violations.map((one) => one.kind).find((one) => finds.includes(one));
      if (kind) return kind;
    }
    return undefined;
  } finally {
    forget();
  }
}
