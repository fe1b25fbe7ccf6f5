import type { News } from "./news.ts";

/**
 * Follows the end of one tenant's log, in order and without gaps, for the listeners in this process.
 *
 *   round of this process ─► from === position? ─► deliver at once, from memory
 *                            no: a gap ──────┐
 *   hint or poll ────────────────────────────┴─► the tail reader reads from `position` on and delivers
 */
export interface Tail {
  readonly position: number;
  news(news: News): void;
}

export interface TailOptions {
  readonly position: number;
  publish(news: News): void;
  /** The log extends at least to this position, beyond what was delivered. */
  missing(to: number): void;
}

export function createTail({ position: start, publish, missing }: TailOptions): Tail {
  let position = start;
  return {
    get position() {
      return position;
    },
    news: (news) => {
      // Own rounds are delivered while the tail reader reads. So a page or a round may arrive that was already
      // delivered.
      if (news.to <= position) return;
      if (news.from !== position) return missing(news.to);
      position = news.to;
      publish(news);
    },
  };
}
