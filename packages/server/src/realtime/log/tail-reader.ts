import type { TailPage, TailQuestion } from "../../flows/log/follow-log.ts";

/**
 * Reads what other processes wrote, for all tenants that have news together: one statement at a time, and a rest after it
 * as long as it took. Hints that come meanwhile wait for the next one, so many tenants cost as much as few.
 */
export interface TailReader {
  /** A tenant's log reaches this position: what is missing up to there is read and handed out. */
  want(tenant: number, to: number): void;
}

export interface TailReaderOptions {
  read(questions: readonly TailQuestion[]): Promise<readonly TailPage[]>;
  /** How far a tenant is known here; undefined: no process listens to it any more. */
  positionOf(tenant: number): number | undefined;
  tell(page: TailPage): void;
  failed(error: unknown): void;
}

/** Tenants in one statement. */
const MOST_TENANTS = 256;
const MOST_REST_MS = 20;

export function createTailReader({ read, positionOf, tell, failed }: TailReaderOptions): TailReader {
  /** Tenant → how far it has to be read. */
  const wanted = new Map<number, number>();
  let running = false;

  async function run(): Promise<void> {
    running = true;
    // Hints of one notification go together.
    await undefined;
    while (wanted.size > 0) {
      const questions = take();
      if (questions.length === 0) break;
      const begun = performance.now();
      try {
        const pages = await read(questions);
        for (const page of pages) tell(page);
        leaveRest(questions, pages);
      } catch (error) {
        // The next hint or poll asks again.
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
   * A page has so many entries and bytes at most: what is left is wanted again. The first tenant always has its page, so
   * where no page came at all there is nothing to read.
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
    want(tenant, to) {
      if (to <= (positionOf(tenant) ?? Number.POSITIVE_INFINITY)) return;
      wanted.set(tenant, Math.max(to, wanted.get(tenant) ?? 0));
      if (!running) void run();
    },
  };
}
