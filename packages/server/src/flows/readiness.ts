import { isMigrated } from "../db/connection/migrate.ts";
import { type Database, takesWrites } from "../db/connection/pool.ts";

export interface ReadinessTimes {
  /** An answer is good for so long: asking often costs the database nothing. */
  readonly keptMs: number;
  /** A database that takes longer to answer is not ready. */
  readonly patienceMs: number;
}

/** Whether a check succeeds, asked once for all who ask at about the same time. Never rejects, never takes long. */
export function createReadiness(
  check: () => Promise<boolean>,
  { keptMs, patienceMs }: ReadinessTimes,
  now: () => number = () => performance.now(),
): () => Promise<boolean> {
  let known: { readonly ready: boolean; readonly until: number } | undefined;
  let asking: Promise<boolean> | undefined;

  const ask = async () => {
    const ready = await check().catch(() => false);
    known = { ready, until: now() + keptMs };
    asking = undefined;
    return ready;
  };

  return async () => {
    if (known && now() < known.until) return known.ready;
    asking ??= ask();
    let patience: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      patience = setTimeout(() => resolve(false), patienceMs);
    });
    return await Promise.race([asking, late]).finally(() => clearTimeout(patience));
  };
}

/** Whether the database answers, takes writes, has every migration that this version needs, and commits what it is given. */
export const databaseReadiness = (db: Database, canCommit: () => Promise<boolean>): (() => Promise<boolean>) =>
  createReadiness(async () => (await takesWrites(db)) && (await isMigrated(db)) && (await canCommit()), {
    keptMs: 1_000,
    patienceMs: 1_500,
  });
