import type { StorageTrouble } from "../core/state.ts";
import { type Storage, StorageFailure } from "../engine/ports.ts";
import { MemoryDisk, memoryStorage } from "./memory.ts";

/**
 * A store that goes on in memory when the disk fails: once, for good, and saying so. What the disk held until then is
 * in the client's own memory; what it still holds is sent again after a reload, under the same names.
 */
export function withMemoryFallback(
  disk: () => Promise<Storage>,
  failed: (trouble: StorageTrouble) => void,
): Storage & { detach(): void } {
  const memory = new MemoryDisk({ isFallback: true });
  const fallback = memoryStorage(memory);
  let primary: Promise<Storage> | undefined;
  let broken = false;

  async function run<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
    if (!broken) {
      try {
        primary ??= disk().then(watched);
        return await work(await primary);
      } catch (error) {
        lost(error);
      }
    }
    return work(fallback);
  }

  function watched(storage: Storage): Storage {
    storage.watch?.(lost);
    return storage;
  }

  /** It counts as lost before that is told: whoever hears of it may ask for something at once. */
  function lost(error: unknown): void {
    const isNews = !broken;
    broken = true;
    if (isNews)
      failed(
        error instanceof StorageFailure
          ? { code: error.code, reason: error.message }
          : { code: "unavailable", reason: `The local store cannot be used: ${error}` },
      );
  }

  return {
    open: async (freshClientId) => {
      const stored = await run((storage) => storage.open(freshClientId));
      memory.startAfter(stored.lastSeq);
      return stored;
    },
    enqueue: async (changes) => {
      const enqueued = await run((storage) => storage.enqueue(changes));
      // Places that memory gives later have to lie behind those that the disk gave.
      for (const places of enqueued.places) if (places !== "refused") for (const seq of places) memory.startAfter(seq);
      return enqueued;
    },
    lead: (seen) => run((storage) => storage.lead(seen)),
    look: (seen) => run((storage) => storage.look(seen)),
    keep: (mutations, generation) => run((storage) => storage.keep(mutations, generation)),
    forget: (places, generation) => run((storage) => storage.forget(places, generation)),
    keepRows: (stretch, generation) => run((storage) => storage.keepRows(stretch, generation)),
    keepPage: (page, generation) => run((storage) => storage.keepPage(page, generation)),
    own: (participant) => run((storage) => storage.own(participant)),
    /** From now on nothing is put on the disk any more: it is being taken away. */
    detach: () => {
      broken = true;
    },
    destroy: () => run((storage) => storage.destroy()),
    close: async () => {
      const open = await primary?.catch(() => undefined);
      await open?.close();
    },
  };
}
