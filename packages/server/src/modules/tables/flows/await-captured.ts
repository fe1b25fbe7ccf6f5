import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../../../kernel/connection/pool.ts";
import { isCapturedUpTo, readLastCaptured } from "../db/captured-changes.ts";

const LOOK_MS = 10;
/** The collector takes less, unless it has much to do or cannot go on. */
const PATIENCE_MS = 250;

/**
 * A read sees what the caller's SQL has committed, perhaps before the log has it. So a read that says how far the log
 * was waits until the log has what is captured: else its reader would be asked about changes that it has seen.
 */
export async function awaitCaptured(db: Database, tenant: number): Promise<void> {
  const last = await readLastCaptured(db, tenant);
  if (last === null) return;
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await pause(LOOK_MS))
    if (!(await isCapturedUpTo(db, tenant, last))) return;
}
