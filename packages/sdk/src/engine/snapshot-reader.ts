import { isSameScope } from "../core/log/parts.ts";
import type { Scope } from "../core/log/rows.ts";
import type { Reply } from "../core/queue/outcome.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import { nextTask } from "./next-task.ts";
import { pageOf, restOf } from "./page-cursor.ts";
import type { Server, Snapshot } from "./ports.ts";

/** Rows to take in at a time: a slow phone is busy with them for 20 ms, and lists look at no others (`StaleIds`). */
const PIECE = 1_000;

/**
 * Reads a snapshot page by page. While a page is being taken in, the next one is on its way: it is requested as soon as
 * its cursor is known, because the client always asks for it next, unless it wants other rows by then. Not on a line
 * that is too slow for whole pages: each page decides how large the next one is.
 *
 * A large page is given in pieces, each in a task of its own. To the client each piece is a page, and its cursor is in
 * the page. If the rest is not here any more when the client asks for it, the page is read again.
 */
export class SnapshotReader {
  readonly #server: Pick<Server, "readSnapshot">;
  #ahead: Ahead | undefined;
  #request = new AbortController();

  constructor(server: Pick<Server, "readSnapshot">) {
    this.#server = server;
  }

  async read(at: string | null, scope: Scope, limit: number): Promise<Snapshot | Reply> {
    const ahead = this.#take(at, scope);
    const { signal } = this.#request;
    const request = (from: string | null) => this.#server.readSnapshot(from, signal, scope, limit);
    const read = await (ahead?.rest ?? ahead?.page ?? request(pageOf(at)));
    if (read.kind !== "snapshot") return read;
    if (signal.aborted) return ABORTED;
    // The core makes slow pages larger one by one.
    if (limit < limits.snapshotPage) return read;
    const { cursor, lines } = read;
    if (ahead?.rest) this.#ahead = ahead.after;
    else if (cursor !== null) this.#ahead = { at: cursor, scope, page: request(cursor) };
    if (!ahead?.rest && lines.length <= PIECE) return read;
    // This task has parsed the end of the page, or taken in the piece before.
    await nextTask();
    if (signal.aborted) return ABORTED;
    if (lines.length <= PIECE) return read;
    const next = restOf(ahead ? at : pageOf(at), PIECE);
    this.#ahead = { at: next, scope, rest: { ...read, lines: lines.slice(PIECE) }, after: this.#ahead };
    return { ...read, lines: lines.slice(0, PIECE), cursor: next };
  }

  /** What is here, or on its way, if it is what the client asks for. */
  #take(at: string | null, scope: Scope): Ahead | undefined {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead?.at === at && isSameScope(ahead.scope, scope)) return ahead;
    if (ahead) this.abort();
    return undefined;
  }

  /** Ends what is on its way. */
  abort(): void {
    this.#ahead = undefined;
    this.#request.abort();
    this.#request = new AbortController();
  }
}

/** What the client is expected to ask for next: a page, or the rest of one, and the page after it. */
type Ahead = { readonly at: string; readonly scope: Scope } & (
  | { readonly page: Promise<Snapshot | Reply>; readonly rest?: undefined }
  | { readonly rest: Snapshot; readonly after: Ahead | undefined; readonly page?: undefined }
);

const ABORTED: Reply = { kind: "silence", timedOut: false, reason: "The request was aborted." };
