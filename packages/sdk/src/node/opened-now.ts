import { StorageFailure } from "../engine/ports.ts";

/**
 * Opens at once. What a person has to mend is thrown to whoever makes the client; a disk that fails is told when the
 * store is asked for, so that the client goes on in memory and says so.
 */
export function openedNow<T>(open: () => T): () => T {
  try {
    const opened = open();
    return () => opened;
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
    return () => {
      throw error;
    };
  }
}
