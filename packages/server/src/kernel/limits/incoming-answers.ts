import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";

/**
 * Bounds what callers' services answer, for all of them together: the bytes that are in memory, and how much of the
 * event loop's time goes into parsing. Else a few services that answer much would stall the requests of all tenants.
 */
export interface IncomingAnswers {
  open(tenant: number): IncomingAnswer;
}

export interface IncomingAnswer {
  /** It has so many bytes now. Returns false if that is too much beside what others have. */
  take(bytes: number): boolean;
  /** Parses it. Large ones are parsed one at a time, in at most a third of the time. */
  parse<T>(work: () => T): Promise<T>;
  close(): void;
}

export interface IncomingBounds {
  readonly perTenant: number;
  readonly total: number;
}

/** Smaller answers count nothing. */
const SMALL_BYTES = 16 * 1_024;
/** The rest of the time is for other requests. A request takes several turns, each of which could meet a parse. */
const REST_FACTOR = 2;
/** Less rest than a timer can measure is none. */
const LEAST_REST_MS = 2;

export function createIncomingAnswers(
  { perTenant, total }: IncomingBounds,
  clock = { now: () => performance.now(), pause: (ms: number): Promise<unknown> => pause(ms) },
): IncomingAnswers {
  const byTenant = new Map<number, number>();
  let inMemory = 0;
  let parsing: Promise<unknown> = Promise.resolve();

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
          let restMs = 0;
          const result = parsing
            .then(() => turn())
            .then(() => {
              const begunAt = clock.now();
              try {
                return work();
              } finally {
                restMs = (clock.now() - begunAt) * REST_FACTOR;
              }
            });
          const rest = () => (restMs < LEAST_REST_MS ? undefined : clock.pause(restMs));
          parsing = result.then(rest, rest);
          return result;
        },
        close: () => grow(0),
      };
    },
  };
}
