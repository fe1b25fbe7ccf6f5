import { isMigrated } from "./connection/migrate.ts";
import { type Database, takesWrites } from "./connection/pool.ts";

export interface ReadinessTimes {
  /** How long a result is reused, so that frequent checks cost the database nothing. */
  readonly keptMs: number;
  /** A database that takes longer than this to respond is not ready. */
  readonly patienceMs: number;
}

/**
 * Runs a check and shares its result among concurrent callers. Never rejects, and never takes longer than the timeout.
 */
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

/** Checks that the database responds, accepts writes, has every migration that this version needs, and can commit. */
export const databaseReadiness = (db: Database, canCommit: () => Promise<boolean>): (() => Promise<boolean>) =>
  createReadiness(async () => (await takesWrites(db)) && (await isMigrated(db)) && (await canCommit()), {
    keptMs: 1_000,
    patienceMs: 1_500,
  });

/** What a check says, and since when it says so: Unix milliseconds. */
export interface Readiness {
  readonly ready: boolean;
  readonly since: number;
}

/** Remembers when the result changed. */
export function followReadiness(check: () => Promise<boolean>, now: () => number = Date.now): () => Promise<Readiness> {
  let last: Readiness | undefined;
  return async () => {
    const ready = await check();
    if (last?.ready !== ready) last = { ready, since: now() };
    return last;
  };
}
