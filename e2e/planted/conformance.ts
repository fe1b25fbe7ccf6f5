import { newMasterKey, newSecretToken } from "@holdfast/server";
import { startPatched } from "../conformance/testing/patched-server.ts";
import { type PlantedBug, plantedBugs } from "../conformance/testing/planted-bugs.ts";
import { failureOf, runChapters, titleOf } from "../conformance/testing/run-chapters.ts";
import { waiting } from "../conformance/testing/waiting.ts";
import type { Planted, Suite } from "./suite.ts";

const adminToken = "admin_token_of_a_planted_server";

/** Chapters that are run whole have to find nothing where nothing is planted. */
const chapters = [...new Set(plantedBugs.filter(({ only }) => only === undefined).map(({ chapter }) => chapter))];

export const conformance: Suite = {
  name: "conformance",
  atOnce: 5,
  planted: [
    ...plantedBugs.map(
      (bug): Planted => ({
        ...bug,
        name: `${bug.chapter}: ${bug.name}`,
        isQuick: bug.isQuick ?? false,
        find: async ({ database }) => (await faultsOf(bug, await database(), [bug.chapter]))[0],
      }),
    ),
    {
      name: "nothing",
      edits: [],
      isQuick: false,
      find: async ({ database }) => (await faultsOf({}, await database(), chapters))[0],
    },
  ],
};

/** What the suite finds wrong with a server of these sources, but for what is known to be missing. */
async function faultsOf(
  { edits = [], env = {}, only }: Partial<PlantedBug>,
  databaseUrl: string,
  chapters: readonly string[],
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
    const results = await runChapters({ url: server.url, key, adminToken }, { chapters, only });
    // A server that does nothing at all is not what is looked for.
    if (only === undefined && !results.some(({ outcome }) => outcome === "passed"))
      throw new Error(`Nothing passes in ${chapters.join(", ")}.`);
    return results.filter((result) => result.outcome === "failed" && !waiting.includes(titleOf(result))).map(failureOf);
  } finally {
    await server.stop();
  }
}
