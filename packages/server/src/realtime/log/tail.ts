import type { News } from "./news.ts";

/**
 * The end of one tenant's log, followed for those who listen in this process.
 *
 *   our own round ─► from === position? ─► told at once, from memory
 *                     no: a gap ──────┐
 *   a hint, or a poll ────────────────┴─► the tail reader reads from `position` on, and tells
 */
export interface Tail {
  readonly position: number;
  news(news: News): void;
}

export interface TailOptions {
  readonly position: number;
  tell(news: News): void;
  /** The log reaches beyond what is told, up to here at least. */
  missing(to: number): void;
}

export function createTail({ position: start, tell, missing }: TailOptions): Tail {
  let position = start;
  return {
    get position() {
      return position;
    },
    news: (news) => {
      // Our own rounds are told while the tail is read: then a page is old news, or a round is.
      if (news.to <= position) return;
      if (news.from !== position) return missing(news.to);
      position = news.to;
      tell(news);
    },
  };
}
