import type { Storage, Tabs } from "./ports.ts";

/** The storage of a client whose store is chosen later. Until then its operations wait. */
export function lateStorage<S extends Storage>(): Storage & { become(storage: S): void; chosen(): S | undefined } {
  let storage: S | undefined;
  let become: (storage: S) => void = () => {};
  const there = new Promise<S>((resolve) => {
    become = resolve;
  });
  return {
    open: async (freshClientId) => (await there).open(freshClientId),
    enqueue: async (changes) => (await there).enqueue(changes),
    takeLead: async (seen) => (await there).takeLead(seen),
    readQueue: async (seen) => (await there).readQueue(seen),
    keep: async (mutations, generation) => (await there).keep(mutations, generation),
    forget: async (places, generation) => (await there).forget(places, generation),
    keepRows: async (range, generation) => (await there).keepRows(range, generation),
    keepPage: async (page, generation) => (await there).keepPage(page, generation),
    own: async (owner, instead) => (await there).own(owner, instead),
    keepRecordBytes: async (recordBytes) => (await there).keepRecordBytes(recordBytes),
    close: async () => (await there).close(),
    destroy: async () => (await there).destroy(),
    become(chosen) {
      storage = chosen;
      become(chosen);
    },
    chosen: () => storage,
  };
}

/** The tabs of a client whose store is chosen later. Until then the tab takes part in nothing. */
export function lateTabs(): Tabs & { become(tabs: Tabs): void } {
  let tabs: Tabs | undefined;
  return {
    start: (listener) => tabs?.start(listener),
    campaign: (wanted) => tabs?.campaign(wanted),
    post: (message) => tabs?.post(message),
    close: () => tabs?.close(),
    become(chosen) {
      tabs = chosen;
    },
  };
}
