import { newMasterKey, newSecretToken } from "@holdfast/server";
import { type Mutant, mutants } from "../conformance/mutants.ts";
import { startPatched } from "../conformance/patched-server.ts";
import { failureOf, runSections, titleOf } from "../conformance/run-sections.ts";
import { waiting } from "../conformance/waiting.ts";
import type { MutantCheck, Suite } from "./suite.ts";

const adminToken = "admin_token_of_a_planted_server";

/** Sections that are run whole have to find nothing where nothing is planted. */
const sections = [...new Set(mutants.filter(({ only }) => only === undefined).map(({ section }) => section))];

export const conformance: Suite = {
  name: "conformance",
  atOnce: 5,
  planted: [
    ...mutants.map(
      (bug): MutantCheck => ({
        ...bug,
        name: `${bug.section}: ${bug.name}`,
        isQuick: bug.isQuick ?? false,
        find: async ({ database }) => (await faultsOf(bug, await database(), [bug.section]))[0],
      }),
    ),
    {
      name: "nothing",
      edits: [],
      isQuick: false,
      find: async ({ database }) => (await faultsOf({}, await database(), sections))[0],
    },
  ],
};

/** The suite's failures for a server of these sources, except known ones. */
async function faultsOf(
  { edits = [], env = {}, only }: Partial<Mutant>,
  databaseUrl: string,
  sections: readonly string[],
): Promise<string[]> {
  const key = newSecretToken(true);
  const server = await startPatched(edits, {
    DATABASE_URL: databaseUrl,
    HOLDFAST_SECRET_KEY: key,
    HOLDFAST_MASTER_KEY: newMasterKey(),
    HOLDFAST_ADMIN_TOKEN: adminToken,
    HOLDFAST_LOG_LEVEL: "silent",
    HOLDFAST_WEBHOOK_ALLOW_PRIVATE: "1",
    ...env,
  });
  try {
    const results = await runSections({ url: server.url, key, adminToken }, { sections, only });
    // A server that does not work at all does not count as found.
    if (only === undefined && !results.some(({ outcome }) => outcome === "passed"))
      throw new Error(`Nothing passes in ${sections.join(", ")}.`);
    return results.filter((result) => result.outcome === "failed" && !waiting.includes(titleOf(result))).map(failureOf);
  } finally {
    await server.stop();
  }
}
