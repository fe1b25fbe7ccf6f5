/** A part of the server. */
export interface Part {
  /** The logs were replaced: discards what was read from them. */
  forget?(): void;
  /** Accepts no more work, and finishes what is in progress. All parts stop at the same time. */
  stop?(): Promise<void>;
  /** Releases what it uses. The parts close after all have stopped, in the reverse order of their opening. */
  close?(): Promise<void>;
}
