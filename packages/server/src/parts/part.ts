/** A part of the server. */
export interface Part {
  /** The logs were replaced: discards what was read from them. */
  forget?(): void;
  /** Accepts no more work, and finishes what is in progress. All parts stop at the same time. */
  stop?(): Promise<void>;
  /** Releases what it uses. The parts close after all have stopped, in the reverse order of their opening. */
  close?(): Promise<void>;
}

/** Several parts as one. */
export interface Parts extends Required<Part> {
  opened<P extends Part>(part: P): P;
}

export function createParts(): Parts {
  const parts: Part[] = [];
  return {
    opened(part) {
      parts.push(part);
      return part;
    },
    forget() {
      for (const { forget } of parts) forget?.();
    },
    stop: async () => void (await Promise.all(parts.map(({ stop }) => stop?.()))),
    async close() {
      for (const { close } of parts.toReversed()) await close?.();
    },
  };
}
