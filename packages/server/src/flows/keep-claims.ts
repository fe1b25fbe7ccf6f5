import { limits } from "@holdfast/sdk/protocol";
import { readDueLines, readNextExpiry, touchWaiters, type Waiter } from "../db/claims.ts";
import type { Database } from "../db/pool.ts";
import type { RecordName } from "../db/records.ts";
import type { CommitLane } from "./commit-lane.ts";

export type { Waiter };

/** Lines that are brought up to the present at once. */
const STEP = 500;

/** Ends what time has ended. Answers in how many milliseconds the next lease is over. */
export const keepClaims = (db: Database, lane: CommitLane) => async (): Promise<number | undefined> => {
  const due = await readDueLines(db, limits.waiterGoneMs, STEP);
  await settle(lane, due);
  return due.length === STEP ? 0 : await readNextExpiry(db);
};

/** Notes that these participants' streams are open: those who wait keep their place, and may be next at once. */
export const keepWaiters =
  (db: Database, lane: CommitLane) =>
  async (alive: readonly Waiter[]): Promise<void> => {
    for (let from = 0; from < alive.length; from += STEP)
      await settle(lane, await touchWaiters(db, alive.slice(from, from + STEP), limits.waiterSilentMs));
  };

async function settle(lane: CommitLane, names: readonly RecordName[]): Promise<void> {
  const results = await Promise.all(
    names.map(({ world, model, id }) => lane.decide({ kind: "settle", world, model, record: id })),
  );
  const failed = results.find((result) => result.kind === "failed");
  if (failed) throw new Error(`Claims could not be brought up to the present: ${failed.code}.`);
}
