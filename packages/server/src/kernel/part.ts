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
  /** One of them cannot be opened: closes the others again, and rejects with the error. */
  giveUp(error: unknown): Promise<never>;
}

export function createParts(): Parts {
  const parts: Part[] = [];
  const stop = async () => void (await Promise.all(parts.map((part) => part.stop?.())));
  async function close(): Promise<void> {
    for (const part of parts.toReversed()) await part.close?.();
  }
  return {
    opened(part) {
      parts.push(part);
      return part;
    },
    forget() {
      for (const part of parts) part.forget?.();
    },
    stop,
    close,
    async giveUp(error) {
      await stop();
      await close();
      throw error;
    },
  };
}
