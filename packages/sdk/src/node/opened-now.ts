import { type Storage, StorageFailure } from "../engine/ports.ts";

export interface OpenedNow {
  /** Rejects where the disk failed. */
  storage(): Promise<Storage>;
  /** For a client that is closed before it has asked for its store. Closing twice does nothing. */
  close(): Promise<void>;
}

/**
 * Opens at once. What a person has to mend is thrown to whoever makes the client; a disk that fails is told when the
 * store is asked for, so that the client goes on in memory and says so.
 */
export function openedNow(open: () => Storage): OpenedNow {
  try {
    const storage = open();
    return { storage: async () => storage, close: () => storage.close() };
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
    return { storage: () => Promise.reject(error), close: async () => {} };
  }
}
