import type { Database } from "../../connection/pool.ts";
import { readTokenEnds } from "../db/token-ends.ts";

/**
 * Follows the revocations of tokens in all processes, with one query per second for the whole process, however many
 * tokens it has cached. A token that reaches its `expiresAt` needs no notification.
 */
export interface TokenEndsFollowed {
  /** Whether this process knows every revocation up to a moment ago. */
  isCurrent(): boolean;
  /** Reports every revocation from now on. */
  start(ended: (tokenId: string) => void): void;
  stop(): Promise<void>;
}

const POLL_MS = 1_000;
/** After this long without a reply, a revocation may have been missed. */
const OUTDATED_MS = 3_000;
/**
 * Each revocation is reported repeatedly for this long: a transaction may commit later than the time that it stored,
 * and a token that was being looked up may be cached after its revocation was reported.
 */
const OVERLAP_SECONDS = 70;

export function followTokenEnds(db: Database, failed: (error: unknown) => void): TokenEndsFollowed {
  let timer: NodeJS.Timeout | undefined;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let now: string | undefined;
  let polling: Promise<void> | undefined;

  async function readEnds(ended: (tokenId: string) => void): Promise<void> {
    const begun = performance.now();
    const ends = await readTokenEnds(db, now, OVERLAP_SECONDS);
    for (const id of ends.ids) ended(id);
    now = ends.now;
    answeredAt = begun;
  }

  const poll = (ended: (tokenId: string) => void) => {
    polling ??= readEnds(ended)
      .catch(failed)
      .finally(() => {
        polling = undefined;
      });
  };
  return {
    isCurrent: () => performance.now() - answeredAt < OUTDATED_MS,
    start(ended) {
      poll(ended);
      timer = setInterval(poll, POLL_MS, ended).unref();
    },
    async stop() {
      clearInterval(timer);
      await polling;
    },
  };
}
