import { fromSources } from "@holdfast/server/testing/source-program";
import { patchSources } from "../conformance/patched-server.ts";
import { runTables } from "../tables/run.ts";
import { type Mutant, mutants } from "../tables/testing/mutants.ts";
import type { MutantCheck, Suite } from "./suite.ts";

/** Without faults. */
const RUN = { seconds: 10, writers: 6, print: () => {} };
/** On a busy machine the two sides may not meet. */
const TRIES = 3;

export const tables: Suite = {
  name: "tables",
  atOnce: 2,
  planted: [
    ...mutants.map(
      (bug): MutantCheck => ({
        ...bug,
        isQuick: bug.isQuick ?? false,
        async find({ database, seed }) {
          for (let tried = 0; tried < TRIES; tried++) {
            const found = await violationOf(bug, await database(), seed + tried);
            if (found) return found;
          }
          return undefined;
        },
      }),
    ),
    {
      name: "nothing in tables",
      edits: [],
      isQuick: false,
      find: async ({ database, seed }) => violationOf({ edits: [] }, await database(), seed),
    },
  ],
};

async function violationOf(
  { edits, finds }: Pick<Mutant, "edits"> & Partial<Pick<Mutant, "finds">>,
  databaseUrl: string,
  seed: number,
): Promise<string | undefined> {
  const { main, forget } = patchSources(edits);
  try {
    const { verdict } = await runTables({ ...RUN, databaseUrl, seed, main: fromSources(main) });
    const found = verdict.violations.find(({ kind }) => finds === undefined || finds.includes(kind));
    return found && `${found.kind}: ${found.text.slice(0, 160)}`;
  } finally {
    forget();
  }
}
