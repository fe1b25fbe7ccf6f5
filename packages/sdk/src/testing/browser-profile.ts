import type { Platform } from "../platform.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { Profile } from "./profile.ts";

/** A browser profile with many stores: as in a browser, the name decides which disk, channel and lock tabs share. */
export class BrowserProfile {
  readonly #stores = new Map<string, { readonly disk: MemoryDisk; readonly tabs: Profile }>();

  /** What a tab of this profile gets from its platform. */
  readonly platform: Pick<Platform, "storage" | "tabs"> = {
    storage: async (name) => memoryStorage(this.store(name).disk),
    tabs: (name) => this.store(name).tabs.tab().tabs,
  };

  /** The names of the stores in which a client keeps something. */
  get names(): readonly string[] {
    return [...this.#stores.keys()];
  }

  store(name: string): { readonly disk: MemoryDisk; readonly tabs: Profile } {
    const found = this.#stores.get(name) ?? { disk: new MemoryDisk(), tabs: new Profile() };
    this.#stores.set(name, found);
    return found;
  }
}
