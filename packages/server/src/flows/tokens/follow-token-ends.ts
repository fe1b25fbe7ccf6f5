import type { Database } from "../../db/connection/pool.ts";
import { readTokenEnds } from "../../db/tokens/token-ends.ts";

/**
 * Follows the revocations of tokens in all processes, with one query per second for the whole process, however many
 * tokens it has cached. A token that reaches its `expiresAt` needs no notification.
 */
export interface TokenEndsFollowed {
  /** Whether this process knows every revocation up to a moment ago. */
  hearsAll(): boolean;
  stop(): Promise<void>;
}

const POLL_MS = 1_000;
/** After this long without a reply, a revocation may have been missed. */
const SILENT_MS = 3_000;
/**
 * Each revocation is reported repeatedly for this long: a transaction may commit later than the time that it stored,
 * and a token that was being looked up may be cached after its revocation was reported.
 */
const OVERLAP_SECONDS = 70;

export function followTokenEnds(
  db: Database,
  ended: (tokenId: string) => void,
  failed: (error: unknown) => void,
): TokenEndsFollowed {
  let heardAt = Number.NEGATIVE_INFINITY;
  let now: string | undefined;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const begun = performance.now();
    const ends = await readTokenEnds(db, now, OVERLAP_SECONDS);
    for (const id of ends.ids) ended(id);
    now = ends.now;
    heardAt = begun;
  }

  const poll = () => {
    asking ??= ask()
      .catch(failed)
      .finally(() => {
        asking = undefined;
      });
  };
  poll();
  const timer = setInterval(poll, POLL_MS).unref();
  return {
    hearsAll: () => performance.now() - heardAt < SILENT_MS,
    async stop() {
      clearInterval(timer);
      await asking;
    },
  };
}
