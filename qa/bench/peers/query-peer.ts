import type { Change } from "../lists/tracker.ts";

/** A library that keeps the 50 lists of the tracker current. */
export interface QueryPeer {
  /** Loads the 100,000 rows. No list is mounted yet. */
  load(): Promise<void>;
  /** Mounts all lists, and returns when each has its rows and a listener. */
  mount(): Promise<void>;
  /** Makes a change, and returns the ms until the listeners of all lists it touches have the new result. */
  change(change: Change): Promise<number>;
  /** What each list shows now, by which two libraries are compared. */
  shown(): readonly (readonly ShownIssue[])[];
}

export interface ShownIssue {
  readonly id: string;
  readonly notes: string | null;
  readonly project: string;
  readonly labels: readonly string[];
  readonly comments: readonly string[];
}

/** When listeners were last called: a change ends there, or at the call's return if no list shows it. */
export class Stopwatch {
  #begun = 0;
  #last = 0;

  start(): void {
    this.#begun = performance.now();
    this.#last = 0;
  }

  /** A listener has its new result, or the call has returned. */
  lap(): void {
    this.#last = performance.now();
  }

  get lapped(): boolean {
    return this.#last > 0;
  }

  get took(): number {
    return this.#last - this.#begun;
  }
}
