import type { QueueingClient } from "../client/clients.ts";

/** What a system needs to run: its packages, loaded from the folder in which they were installed. */
export interface Installed {
  readonly folder: string;
  /** Its CommonJS modules. */
  require(name: string): unknown;
  /** Its ES modules: one file of a package. */
  import(name: string, file: string): Promise<unknown>;
}

/** A row as the tasks of the benchmark write it. */
export interface SlideRow {
  readonly id: string;
  readonly deckId: string;
  readonly title: string;
  readonly notes: string;
}

/** Another system, with its server and its own client. */
export interface System {
  /** Starts its server on a free port, with so many rows. A folder is for what it stores on disk. */
  serve(installed: Installed, rows: number, folder: string): Promise<{ readonly url: string }>;
  /** Opens its client, which follows one deck, or everything. Returned when it has all rows. */
  connect(installed: Installed, url: string, deckId?: string): Promise<QueueingClient>;
}

/** As ours has them for the first load. */
export function* slideRows(count: number): Generator<SlideRow> {
  for (let n = 0; n < count; n++)
    yield { id: `r${n}`, deckId: `deck-${n % 100}`, title: `Slide ${n}`, notes: "n".repeat(200) };
}

/** Writes that await their acknowledgement, by their ids. */
export class Awaited {
  readonly #resolvers = new Map<string, () => void>();

  acknowledged(id: string): Promise<void> {
    return new Promise((resolve) => this.#resolvers.set(id, resolve));
  }

  acknowledge(id: string): void {
    this.#resolvers.get(id)?.();
    this.#resolvers.delete(id);
  }
}
