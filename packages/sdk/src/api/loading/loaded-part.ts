/** Records that `load` keeps up to date on this device. */
export interface LoadedPart {
  /**
   * Resolves when all records of the part are in lists. Rejects if the client is closed before, with `invalid_options` if
   * too many parts are loaded at once, or `follow` has left the records out meanwhile, and with `discarded` if the part
   * was released and dropped before it had been read.
   */
  readonly ready: Promise<void>;
  /**
   * Nothing here needs the part any more. Its records stay, and stay up to date, until other parts need the room: then
   * those that were used longest ago are removed from memory and disk.
   */
  release(): void;
}

export interface LoadOptions {
  /** Keeps the part for as long as this client is open, also after `release`. Default false. */
  readonly keep?: boolean | undefined;
}
