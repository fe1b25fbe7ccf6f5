import type { FollowLog } from "../flows/follow-log.ts";
import { type News, newsOfEntries } from "./news.ts";

/**
 * The end of one world's log, followed for those who listen in this process.
 *
 *   our own round ─► from === position? ─► told at once, from memory
 *                     no: a gap ──────┐
 *   a hint, or a poll ────────────────┴─► the log is read from `position` on, and told
 */
export interface Tail {
  readonly position: number;
  news(news: News): void;
  /** The log may have grown beyond `position`: look. */
  look(): void;
}

export interface TailOptions {
  readonly log: FollowLog;
  readonly world: number;
  readonly position: number;
  tell(news: News): void;
  failed(error: unknown): void;
}

const PAGE = 1_000;

export function createTail({ log, world, position: start, tell, failed }: TailOptions): Tail {
  let position = start;
  let reading = false;
  let again = false;

  async function read(): Promise<void> {
    const { syncId: head } = await log.head(world);
    while (position < head) {
      const from = position;
      const entries = await log.entries(world, from, Math.min(head, from + PAGE));
      // What was trimmed away before it was read nobody can be told: those who need it are told to resync.
      const to = entries.at(-1)?.syncId ?? Math.min(head, from + PAGE);
      const live = await log.schema(world);
      // While we read, a round of our own may have been told: then this page is old news.
      if (position === from) advance(newsOfEntries(from, to, entries, live));
    }
  }

  function advance(news: News): void {
    position = news.to;
    tell(news);
  }

  async function look(): Promise<void> {
    again = true;
    if (reading) return;
    reading = true;
    while (again) {
      again = false;
      await read().catch(failed);
    }
    reading = false;
  }

  return {
    get position() {
      return position;
    },
    news: (news) => {
      if (news.to <= position) return;
      if (news.from === position) advance(news);
      else void look();
    },
    look: () => void look(),
  };
}
