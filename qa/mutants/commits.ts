import { fileURLToPath } from "node:url";
import { newMasterKey, newSecretToken } from "@holdfast/server";
import { judgeForeignEntry } from "../commits/foreign-entry.ts";
import { mutants } from "../commits/testing/mutants.ts";
import type { Edit } from "../conformance/mutants.ts";
import { startPatched } from "../conformance/patched-server.ts";
import type { MutantCheck, Suite } from "./suite.ts";

const SCHEMA = fileURLToPath(new URL("../../packages/server/reference-schema.json", import.meta.url));
/** On a busy machine the rounds may miss each other: then nothing is proved, and they are sent again. */
const TRIES = 5;

export const commits: Suite = {
  name: "commits",
  atOnce: 2,
  planted: [...mutants, { name: "nothing between two processes", edits: [] }].map(
    (bug): MutantCheck => ({
      ...bug,
      isQuick: "isQuick" in bug,
      find: async ({ database }) => (await faultsOf(bug.edits, await database()))[0],
    }),
  ),
};

async function faultsOf(edits: readonly Edit[], databaseUrl: string): Promise<string[]> {
  const key = newSecretToken(true);
  const env = {
    DATABASE_URL: databaseUrl,
    HOLDFAST_SECRET_KEY: key,
    HOLDFAST_MASTER_KEY: newMasterKey(),
    HOLDFAST_SCHEMA: SCHEMA,
    HOLDFAST_LOG_LEVEL: "silent",
    // The rounds that are staged wait for the head together.
    HOLDFAST_DATABASE_LOCK_MS: "2000",
  };
  const first = await startPatched(edits, env);
  const second = await startPatched(edits, env);
  try {
    for (let tried = 0; tried < TRIES; tried++) {
      const found = await judgeForeignEntry({ databaseUrl, urls: [first.url, second.url], key });
      if (found.length > 0) return found;
      // A process looks at a head for a second after it was surprised.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
    return [];
  } finally {
    await Promise.all([first.stop(), second.stop()]);
  }
}
