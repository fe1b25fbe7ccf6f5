import { reasonOf } from "../core/reason-of.ts";
import type { StorageTrouble } from "../core/state.ts";
import { type Storage, StorageFailure } from "../engine/ports.ts";
import { localError } from "../errors.ts";
import { MemoryDisk, memoryStorage } from "./memory.ts";
import { assertSound, type Operation } from "./sound-results.ts";

/**
 * A store that switches to memory, once and permanently, if the disk fails, and reports that. The client's memory
 * already contains what the disk held. Writes that are still on disk are sent again after a reload, under the same
 * names.
 */
export function withMemoryFallback(
  disk: () => Promise<Storage>,
  failed: (trouble: StorageTrouble) => void,
): Storage & { detach(): void } {
  const memory = new MemoryDisk({ isFallback: true });
  const fallback = memoryStorage(memory);
  let primary: Promise<Storage> | undefined;
  let broken = false;
  let isDetached = false;
  /** Operations that the disk has not completed, oldest first. If the disk fails, each of them runs in memory. */
  const open = new Set<() => void>();
  let lastInMemory: Promise<unknown> = Promise.resolve();

  /** Calls an operation with these arguments, in memory if the disk has failed. */
  const run =
    <Name extends Operation>(name: Name) =>
    (...args: Parameters<Storage[Name]>): Promise<ResultOf<Name>> => {
      const work = (storage: Storage) =>
        (storage[name] as (...args: unknown[]) => Promise<ResultOf<Name>>).apply(storage, args);
      if (broken) return inMemory(work);
      primary ??= Promise.resolve().then(disk).then(watched);
      return onDisk(primary, work, (result) => assertSound(name, result, args));
    };

  function onDisk<T>(
    storage: Promise<Storage>,
    work: (storage: Storage) => Promise<T>,
    check: (result: T) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const switchToMemory = () => inMemory(work).then(resolve, reject);
      open.add(switchToMemory);
      // Ignore results of the disk after the switch: the operation runs in memory instead.
      storage
        .then(work)
        .then((result) => {
          check(result);
          if (open.delete(switchToMemory)) resolve(result);
        })
        .catch((error: unknown) => {
          if (open.has(switchToMemory)) lost(error);
        });
    });
  }

  /** Runs operations one after the other, so that the outcomes of a write are reported in order. */
  function inMemory<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
    const done = lastInMemory.then(() => work(fallback));
    lastInMemory = done.catch(() => {});
    return done;
  }

  /**
   * What a disk that has failed may still take. Other tabs, and this one after a reload, send what it holds: they should
   * know that this tab may have sent it, even a month later, when the server has forgotten it. The fence holds as ever.
   */
  async function keepIfPossible(...args: Parameters<Storage["keep"]>): Promise<void> {
    await (await primary?.catch(() => undefined))?.keep(...args).catch(() => {});
  }

  function watched(storage: Storage): Storage {
    if (typeof storage?.open !== "function") throw new Error("what was opened is no storage");
    storage.watch?.(lost);
    return storage;
  }

  /** Switches to memory before notifying: a listener may start an operation at once. */
  function lost(error: unknown): void {
    const isNews = !broken;
    broken = true;
    for (const switchToMemory of open) switchToMemory();
    open.clear();
    if (isNews)
      failed(
        error instanceof StorageFailure
          ? { code: error.code, reason: error.message }
          : { code: "unavailable", reason: `The local store is unavailable: ${reasonOf(error)}` },
      );
  }

  return {
    open: async (freshClientId) => {
      const stored = await run("open")(freshClientId);
      memory.startAfter(stored.lastSeq);
      return stored;
    },
    enqueue: async (changes) => {
      const enqueued = await run("enqueue")(changes);
      // Memory must assign `seq` numbers after those that the disk has assigned.
      for (const places of enqueued.places) if (places !== "refused") for (const seq of places) memory.startAfter(seq);
      return enqueued;
    },
    takeLead: run("takeLead"),
    readQueue: run("readQueue"),
    keep: (...args) => {
      const inOrder = () => run("keep")(...args);
      // On a sound disk at once: its changes stay in the order in which they are made.
      return broken && !isDetached ? keepIfPossible(...args).then(inOrder) : inOrder();
    },
    forget: run("forget"),
    keepRows: run("keepRows"),
    keepPage: run("keepPage"),
    own: run("own"),
    keepRecordBytes: run("keepRecordBytes"),
    /** From now on nothing is written to the disk, because it is being deleted. */
    detach: () => {
      broken = true;
      isDetached = true;
    },
    /** Also deletes a disk that failed before. Rejects if that fails, so that the app knows that data stays there. */
    destroy: async () => {
      try {
        await (await primary)?.destroy();
      } catch (error) {
        await (await primary?.catch(() => undefined))?.close();
        throw localError("storage_failed", `The data on this device could not be deleted: ${reasonOf(error)}`);
      }
    },
    close: async () => {
      const open = await primary?.catch(() => undefined);
      await open?.close();
    },
  };
}

type ResultOf<Name extends Operation> = Awaited<ReturnType<Storage[Name]>>;
