import { fileURLToPath } from "node:url";
import { newMasterKey, newSecretToken } from "@holdfast/server";
import { fromSources } from "@holdfast/server/testing/source-program";
import type { Verdict } from "../claims/check.ts";
import { runClaims } from "../claims/run.ts";
import { type Mutant, mutants, promotionMutants } from "../claims/testing/mutants.ts";
import { judgePromotions } from "../claims/testing/promotions.ts";
import { shifted } from "../claims/testing/shifted-clock.ts";
import type { Edit } from "../conformance/mutants.ts";
import { patchSources, startPatched } from "../conformance/patched-server.ts";
import { movableClock } from "../support/movable-clock.ts";
import type { MutantCheck, Suite } from "./suite.ts";

const SCHEMA = fileURLToPath(new URL("../../packages/server/reference-schema.json", import.meta.url));

/** A run without faults, until the checker has found the bug, which shows soon. */
const RUN = { claimants: 12, records: 2, processes: 1, operations: 4_000, withinMs: 90_000, print: () => {} };

export const claims: Suite = {
  name: "claims",
  atOnce: 5,
  planted: [
    ...mutants.map(
      (bug): MutantCheck => ({
        ...bug,
        isQuick: bug.isQuick ?? false,
        find: async ({ database, seed }) => violationOf(bug, await database(), seed),
      }),
    ),
    ...[...promotionMutants, { name: "nothing about turns", edits: [] }].map(
      ({ name, edits }): MutantCheck => ({
        ...{ name, edits },
        isQuick: false,
        find: async ({ database }) => (await promotionsOf(edits, await database()))[0],
      }),
    ),
  ],
};

async function violationOf(
  { edits, finds, shiftMs }: Mutant,
  databaseUrl: string,
  seed: number,
): Promise<string | undefined> {
  const { main: file, forget } = patchSources(edits);
  const main = fromSources(file);
  const foundIn = ({ violations }: Verdict) => violations.find(({ kind }) => finds.includes(kind))?.kind;
  try {
    const { verdict } = await runClaims({
      ...RUN,
      ...{ databaseUrl, seed },
      servers: [{ main }, shiftMs === undefined ? { main } : shifted(shiftMs, { main })],
      enough: (soFar) => foundIn(soFar) !== undefined,
    });
    return foundIn(verdict);
  } finally {
    forget();
  }
}

async function promotionsOf(edits: readonly Edit[], databaseUrl: string): Promise<string[]> {
  const key = newSecretToken(true);
  const clock = await movableClock(databaseUrl);
  try {
    const server = await startPatched(edits, {
      DATABASE_URL: databaseUrl,
      HOLDFAST_SECRET_KEY: key,
      HOLDFAST_MASTER_KEY: newMasterKey(),
      HOLDFAST_SCHEMA: SCHEMA,
      HOLDFAST_LOG_LEVEL: "silent",
    });
    try {
      return await judgePromotions(server.url, key, clock);
    } finally {
      await server.stop();
    }
  } finally {
    await clock.close();
  }
}
