import type { TailPage, TailQuestion } from "../log/flows/follow-log.ts";

/**
 * Reads the entries that other processes wrote, for all tenants together: one statement at a time, followed by a pause
 * as long as the statement took. Hints that arrive meanwhile wait for the next statement, so many tenants cost as much
 * as few.
 */
export interface TailReader {
  /** A tenant's log extends to this position: reads and delivers the missing entries. */
  readUpTo(tenant: number, to: number): void;
}

export interface TailReaderOptions {
  read(questions: readonly TailQuestion[]): Promise<readonly TailPage[]>;
  /** The delivered position of a tenant. Undefined: it has no listeners any more. */
  positionOf(tenant: number): number | undefined;
  publish(page: TailPage): void;
  failed(error: unknown): void;
}

/** Most tenants per statement. */
const MOST_TENANTS = 256;
const MOST_REST_MS = 20;

export function createTailReader({ read, positionOf, publish, failed }: TailReaderOptions): TailReader {
  /** Tenant → the position up to which it has to be read. */
  const wanted = new Map<number, number>();
  let running = false;

  async function run(): Promise<void> {
    running = true;
    // Collect all hints of this tick into one statement.
    await undefined;
    while (wanted.size > 0) {
      const questions = take();
      if (questions.length === 0) break;
      const begun = performance.now();
      try {
        const pages = await read(questions);
        for (const page of pages) publish(page);
        leaveRest(questions, pages);
      } catch (error) {
        // The next hint or poll requests them again.
        failed(error);
      }
      const tookMs = performance.now() - begun;
      await new Promise((resolve) => setTimeout(resolve, Math.min(tookMs, MOST_REST_MS)).unref());
    }
    running = false;
  }

  function take(): TailQuestion[] {
    const questions: TailQuestion[] = [];
    for (const [tenant, to] of wanted) {
      if (questions.length >= MOST_TENANTS) break;
      wanted.delete(tenant);
      const after = positionOf(tenant);
      if (after !== undefined && after < to) questions.push({ tenant, after, to });
    }
    return questions;
  }

  /**
   * A page is limited in entries and bytes, so tenants with more to read are queued again. The first tenant always gets
   * its page. So if no page came at all, there is nothing to read.
   */
  function leaveRest(questions: readonly TailQuestion[], pages: readonly TailPage[]): void {
    if (pages.length === 0) return;
    const byTenant = new Map(pages.map((page) => [page.tenant, page]));
    for (const { tenant, to } of questions) {
      const page = byTenant.get(tenant);
      if (!page || page.hasMore) wanted.set(tenant, Math.max(to, wanted.get(tenant) ?? 0));
    }
  }

  return {
    readUpTo(tenant, to) {
      if (to <= (positionOf(tenant) ?? Number.POSITIVE_INFINITY)) return;
      wanted.set(tenant, Math.max(to, wanted.get(tenant) ?? 0));
      if (!running) void run();
    },
  };
}
