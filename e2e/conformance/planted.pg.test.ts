import { newMasterKey, newSecretToken } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { describe, expect, test } from "vitest";
import { startPatched } from "./testing/patched-server.ts";
import { type PlantedBug, plantedBugs } from "./testing/planted-bugs.ts";
import { failureOf, runChapters, titleOf } from "./testing/run-chapters.ts";
import { waiting } from "./testing/waiting.ts";

const databases: string[] = [];
for (let i = 0; i <= plantedBugs.length; i++) databases.push((await freshDatabase()).url);

/** What the suite finds wrong with a server of these sources, but for what is known to be missing. */
async function faultsOf(
  { edits = [], env = {}, only }: Partial<PlantedBug>,
  databaseUrl: string,
  chapters: readonly string[],
) {
  const [key, adminToken] = [newSecretToken(true), "admin_token_of_a_planted_server"];
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
    if (only === undefined) expect(results.some(({ outcome }) => outcome === "passed")).toBe(true);
    return results.filter((result) => result.outcome === "failed" && !waiting.includes(titleOf(result)));
  } finally {
    await server.stop();
  }
}

describe.concurrent("[X2] a planted bug is found in its chapter", () => {
  for (const [i, bug] of plantedBugs.entries())
    test(`${bug.chapter}: ${bug.name}`, { timeout: 180_000 }, async () => {
      const faults = await faultsOf(bug, databases[i + 1] as string, [bug.chapter]);
      expect(faults.length).toBeGreaterThan(0);
    });

  test("and without a bug there is nothing to find", { timeout: 180_000 }, async () => {
    const chapters = [...new Set(plantedBugs.filter(({ only }) => only === undefined).map(({ chapter }) => chapter))];
    expect((await faultsOf({}, databases[0] as string, chapters)).map(failureOf)).toEqual([]);
  });
});
