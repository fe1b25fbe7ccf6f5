import { type Storage, StorageFailure } from "../engine/ports.ts";

export interface OpenedNow {
  /** Rejects if the disk failed. */
  storage(): Promise<Storage>;
  /** For a client that is closed before it has used its store. Closing twice has no effect. */
  close(): Promise<void>;
}

/**
 * Opens the store at once. Errors that a person must fix are thrown to the caller of `createClient`. A disk failure is
 * reported later, when the store is requested, so that the client can continue in memory.
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
