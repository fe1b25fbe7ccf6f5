import { DISCARDED } from "../core/queue/discarded.ts";
import { localFailure } from "../core/queue/failure.ts";
import { NAMES, nextName } from "../core/queue/next-name.ts";
import { outcomeOf, verdictOf } from "../core/queue/outcome.ts";
import type { PendingPromises } from "./pending-promises.ts";
import type { Clock, Server } from "./ports.ts";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 4_000;

const UNKNOWN = localFailure(
  "storage_failed",
  "The outcome of the write is unknown. The write may still be on the disk that failed; if it is, the client sends it after a reload.",
);

export interface OutcomeLookupDeps {
  /** Whether requests may be sent to the server now. */
  canRequest(): boolean;
  /** Whether this tab has lost access to the store. */
  hasLostDisk(): boolean;
  tokenRefused(reason: string): void;
}

/**
 * Asks the server for the outcomes of writes that left the queue without a message to this tab, and retries until it
 * answers, because callers await these writes.
 */
export class OutcomeLookup {
  readonly #server: Server;
  readonly #waiters: PendingPromises;
  readonly #clock: Clock;
  readonly #deps: OutcomeLookupDeps;
  readonly #end = new AbortController();
  readonly #names = new Set<string>();
  #isRunning = false;
  #waited = () => {};

  constructor(server: Server, waiters: PendingPromises, clock: Clock, deps: OutcomeLookupDeps) {
    this.#server = server;
    this.#waiters = waiters;
    this.#clock = clock;
    this.#deps = deps;
  }

  begin(clientTxId: string): void {
    this.#names.add(clientTxId);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#requestAll();
  }

  close(): void {
    this.#end.abort();
    this.#waited();
  }

  /** Asks about one write after the other. */
  async #requestAll(): Promise<void> {
    let failures = 0;
    for (const name of this.#names) {
      while (!(this.#deps.canRequest() && (await this.#lookUp(name)))) {
        if (this.#end.signal.aborted) return;
        await this.#wait(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures++, 16)));
      }
      failures = 0;
      this.#names.delete(name);
    }
    this.#isRunning = false;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const off = this.#clock.wait(ms, resolve);
      this.#waited = () => {
        off();
        resolve();
      };
    });
  }

  /** Asks about one write. Returns whether the server knew its outcome. */
  async #lookUp(clientTxId: string): Promise<boolean> {
    let name = clientTxId;
    let failure = this.#deps.hasLostDisk() ? UNKNOWN : DISCARDED;
    for (let i = 0; i < NAMES; i++, name = nextName(name)) {
      const reply = await this.#server.request("readCommit", { params: { clientTxId: name } }, this.#end.signal);
      const verdict = verdictOf(reply);
      if (verdict.then === "refused" && verdict.failure.status === 404) continue;
      // It conflicted, and its record is hidden from the token by now.
      if (verdict.then === "refused") {
        this.#waiters.notify(clientTxId, { kind: "failed", failure: verdict.failure });
        return true;
      }
      if (verdict.then === "sign-in") this.#deps.tokenRefused(verdict.reason);
      if (verdict.then !== "read") return false;
      const outcome = outcomeOf({ ...(verdict.body as object), httpStatus: 200 });
      // The write may have been merged, and sent under its next name.
      if (outcome.kind === "conflicted") {
        failure = outcome.failure;
        continue;
      }
      if (outcome.kind === "confirmed") this.#waiters.notify(clientTxId, outcome);
      else if ("failure" in outcome) this.#waiters.notify(clientTxId, { kind: "failed", failure: outcome.failure });
      else return false;
      return true;
    }
    this.#waiters.notify(clientTxId, { kind: "failed", failure });
    return true;
  }
}
