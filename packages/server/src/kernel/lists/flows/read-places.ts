import { errorState, LOCK_NOT_AVAILABLE } from "../../connection/database-error.ts";
import type { Database } from "../../connection/pool.ts";
import { createLimiter, type LimiterOptions } from "../../limits/limiter.ts";
import { type Refusal, refuse } from "../../refusal.ts";
import type { Principal } from "../../tokens/rules/participant.ts";
import type { RecordPlaces } from "./record-places.ts";

/** Reads relations that others lock. `what`: those that are read, the same for reads of the same relations. */
export type ReadPlace = <T>(
  reader: Pick<Principal, "tenant" | "tokenId">,
  what: string,
  work: (db: Database) => Promise<T>,
) => Promise<T | Refusal>;

/** Places with the connections that read them. */
export interface OpenPlaces extends RecordPlaces {
  readonly read: ReadPlace;
}

/** So long after a table was found locked, its reads are refused without another look. */
const REST_MS = 1_000;
const LOCKED = "The table of these records is locked by another transaction. Try again once that has ended.";

/**
 * A table can be locked for hours: `alter table` in a transaction that stays open, `vacuum full`. Its reads wait for a
 * moment on connections that read nothing else, and one tenant leaves some of these to others. Then they are refused,
 * and so are those that wait behind them.
 */
export function createPlaceReader(db: Database, limits: LimiterOptions, now: () => number): ReadPlace {
  const limiter = createLimiter(limits);
  const lockedUntil = new Map<string, number>();
  return async ({ tenant, tokenId }, what, work) => {
    const key = `${tenant} ${what}`;
    await limiter.enter(tenant, tokenId);
    try {
      if (now() < (lockedUntil.get(key) ?? 0)) return refuse("overloaded", { message: LOCKED });
      return await work(db);
    } catch (error) {
      if (errorState(error) !== LOCK_NOT_AVAILABLE) throw error;
      for (const [other, until] of lockedUntil) if (until < now()) lockedUntil.delete(other);
      lockedUntil.set(key, now() + REST_MS);
      return refuse("overloaded", { message: LOCKED });
    } finally {
      limiter.leave(tenant);
    }
  };
}
