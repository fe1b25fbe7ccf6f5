import type { Scope } from "../core/log/rows.ts";
import { scopeKey } from "../core/log/scope-key.ts";
import type { Reply } from "../core/queue/outcome.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import type { Server, Snapshot } from "./ports.ts";

/**
 * Reads a snapshot page by page. While a page is being taken in, the next one is on its way: it is requested as soon as
 * its cursor is known, because the client always asks for it next, unless it wants other rows by then. Not on a line
 * that is too slow for whole pages: each page decides how large the next one is.
 */
export class SnapshotReader {
  readonly #server: Pick<Server, "readSnapshot">;
  #ahead: { readonly at: string; readonly scope: Scope; readonly page: Promise<Snapshot | Reply> } | undefined;
  #request = new AbortController();

  constructor(server: Pick<Server, "readSnapshot">) {
    this.#server = server;
  }

  async read(at: string | null, scope: Scope, limit: number): Promise<Snapshot | Reply> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    const isNext = ahead !== undefined && ahead.at === at && scopeKey(ahead.scope) === scopeKey(scope);
    if (ahead && !isNext) this.abort();
    const { signal } = this.#request;
    const read = await (isNext ? ahead.page : this.#server.readSnapshot(at, signal, scope, limit));
    const isSlow = limit < limits.snapshotPage;
    if (read.kind === "snapshot" && read.cursor !== null && !isSlow && !signal.aborted)
      this.#ahead = { at: read.cursor, scope, page: this.#server.readSnapshot(read.cursor, signal, scope, limit) };
    return read;
  }

  /** Ends what is on its way. */
  abort(): void {
    this.#ahead = undefined;
    this.#request.abort();
    this.#request = new AbortController();
  }
}
