import { setImmediate as turn } from "node:timers/promises";

/**
 * Bounds what callers' services answer, for all of them together: the bytes that are in memory, and how much of it is
 * parsed in one turn of the event loop. Else a few services that answer much would stall the requests of all tenants.
 */
export interface IncomingAnswers {
  open(tenant: number): IncomingAnswer;
}

export interface IncomingAnswer {
  /** It has so many bytes now. Returns false if that is too much beside what others have. */
  take(bytes: number): boolean;
  /** Parses it, if it is large as the only one in a turn of the event loop. */
  parse<T>(work: () => T): Promise<T>;
  close(): void;
}

export interface IncomingBounds {
  readonly perTenant: number;
  readonly total: number;
}

/** Smaller answers count nothing. */
const SMALL_BYTES = 16 * 1_024;

export function createIncomingAnswers({ perTenant, total }: IncomingBounds): IncomingAnswers {
  const byTenant = new Map<number, number>();
  let inMemory = 0;
  let parsing = Promise.resolve();

  return {
    open(tenant) {
      let own = 0;
      const grow = (bytes: number) => {
        const all = (byTenant.get(tenant) ?? 0) + bytes - own;
        inMemory += bytes - own;
        own = bytes;
        if (all === 0) byTenant.delete(tenant);
        else byTenant.set(tenant, all);
      };
      return {
        take(bytes) {
          if (bytes <= SMALL_BYTES) return true;
          const more = bytes - own;
          if (inMemory + more > total || (byTenant.get(tenant) ?? 0) + more > perTenant) return false;
          grow(bytes);
          return true;
        },
        async parse(work) {
          if (own === 0) return work();
          const before = parsing;
          const mine = before.then(() => turn());
          parsing = mine;
          await mine;
          return work();
        },
        close: () => grow(0),
      };
    },
  };
}
