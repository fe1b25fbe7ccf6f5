import type { Database } from "../../db/connection/pool.ts";
import { readTokenEnds } from "../../db/tokens/token-ends.ts";

/**
 * Hears of all tokens that end by revocation, in any process: one statement a second for the whole process, whatever number
 * of tokens it remembers. What ends by itself, at its `expiresAt`, needs no message.
 */
export interface TokenEndsFollowed {
  /** Whether every end up to a moment ago was heard of. */
  hearsAll(): boolean;
  stop(): Promise<void>;
}

const POLL_MS = 1_000;
/** Without an answer for so long, an end may have been missed. */
const SILENT_MS = 3_000;
/**
 * A transaction may commit later than the time that it wrote down, and a token that was just being looked up may be
 * remembered after we said that it ended: each end is said again for so long.
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
