import type { Limiter } from "../limits/limiter.ts";
import type { FollowLog } from "../log/flows/follow-log.ts";
import type { View } from "../log/rules/view.ts";
import type { SpokenSchema } from "../schema/flows/client-schemas.ts";
import { type CacheUse, createSizedCache } from "../sized-cache.ts";
import { entriesFrame, isUnder, type News, newsOfEntries, readerName } from "./news.ts";

/** The next range that a reader needs: entries after a position, optionally up to another one. */
export interface CatchUpQuestion {
  readonly tenant: number;
  readonly after: number;
  readonly to: number;
  /** The position of the newest known erasure: pages that were read before it must not be sent. */
  readonly erasedTo: number;
  readonly view: View;
  /** The schema of the reader's welcome. Older entries are translated to this version's names, or to the reader's. */
  readonly spoken: SpokenSchema;
}

export interface CatchUpPage {
  /** The last position of the page. */
  readonly to: number;
  readonly frame: Buffer;
}

/**
 * Pages of logs for sockets that catch up. After a server restart, thousands of clients request the same pages. Each
 * page is read once, each frame is built once per view, and tenants are served round-robin, a few pages at a time.
 */
export interface CatchUp {
  readonly use: CacheUse;
  /**
   * Sends a page in fair order. "trimmed": the next entries are no longer kept. "renamed": a push has changed the records
   * or names meanwhile.
   */
  page(question: CatchUpQuestion, send: (page: CatchUpPage) => void): Promise<"sent" | "trimmed" | "renamed">;
  forget(): void;
}

const USUAL_BYTES = 16 * 2 ** 20;

export function createCatchUp(log: FollowLog, turns: Limiter, maxBytes = USUAL_BYTES): CatchUp {
  const pages = createSizedCache<string, News>(maxBytes / 2, ({ entries }) =>
    entries.reduce((sum, { text }) => sum + 200 + 2 * text.length, 500),
  );
  const frames = createSizedCache<string, CatchUpPage>(maxBytes / 2, ({ frame }) => frame.length + 500);
  /** Pages whose read is in progress. */
  const reading = new Map<string, Promise<News | undefined>>();

  async function read(key: string, { tenant, after, to, spoken }: CatchUpQuestion): Promise<News | undefined> {
    const entries = await log.entries(tenant, after, to);
    const last = entries.at(-1)?.syncId;
    // A log has no gaps: missing entries were trimmed during the read.
    if (last === undefined || last - after > entries.length) return undefined;
    // Read the schema after the page: an entry may belong to a model that was declared meanwhile.
    const { schema } = await log.current(tenant);
    const news = newsOfEntries(after, last, entries, schema);
    if (schema.version === spoken.version) pages.set(key, news);
    return news;
  }

  function newsOf(key: string, question: CatchUpQuestion): Promise<News | undefined> {
    const known = pages.get(key);
    if (known) return Promise.resolve(known);
    const asked = reading.get(key) ?? read(key, question).finally(() => reading.delete(key));
    reading.set(key, asked);
    return asked;
  }

  async function pageOf(question: CatchUpQuestion): Promise<CatchUpPage | "trimmed" | "renamed"> {
    const { tenant, after, to, spoken, erasedTo, view } = question;
    const key = `${tenant}:${after}:${to}:${spoken.version}:${erasedTo}`;
    const frameKey = `${key} ${readerName(view, spoken.names)}`;
    const known = frames.get(frameKey);
    if (known) return known;
    const news = await newsOf(key, question);
    if (!news) return "trimmed";
    if (!isUnder(news, spoken)) return "renamed";
    // Other readers of the same page may have built its frame meanwhile.
    const made = frames.peek(frameKey);
    if (made) return made;
    const page = { to: news.to, frame: Buffer.from(entriesFrame(view, news, spoken.names)) };
    if (pages.peek(key)) frames.set(frameKey, page);
    return page;
  }

  return {
    page: (question, send) =>
      turns.take(question.tenant, "", async () => {
        const page = await pageOf(question);
        if (typeof page === "string") return page;
        send(page);
        return "sent";
      }),
    forget() {
      pages.clear();
      frames.clear();
      reading.clear();
    },
    use: {
      get hits() {
        return pages.hits + frames.hits;
      },
      get misses() {
        return pages.misses;
      },
      get bytes() {
        return pages.bytes + frames.bytes;
      },
    },
  };
}
