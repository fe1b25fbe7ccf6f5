import { isSameOwner, storeNames } from "../core/connection/same-owner.ts";
import type { Storage, Stored } from "./ports.ts";

/*
 * Which store a client opens. The name of a store decides what its tabs share: the data, the channel and the lock. So
 * tabs of different owners have stores with different names.
 *
 *   the owner is known (the app named it, or the server did) ──► the first store of `storeNames` that is this owner's
 *   the server cannot be asked ──► the plain store, if no other owner has asked for it; otherwise ask again later
 *
 * The store itself decides whose it is, in one transaction (`own`), so two tabs that start at once cannot both have it.
 */

export interface ChosenStore<S extends Storage> {
  readonly name: string;
  readonly storage: S;
  readonly stored: Stored;
  /** The client has created it. */
  readonly isNew: boolean;
}

export type OpenStore<S extends Storage> = (name: string) => Promise<ChosenStore<S>>;

/** Opens the store of this owner. A platform with only one store gets that one, and the client shows nothing of it. */
export async function storeOf<S extends Storage>(
  owner: string,
  plain: ChosenStore<S>,
  open: OpenStore<S>,
): Promise<ChosenStore<S>> {
  for (const name of storeNames(plain.name, owner)) {
    const candidate = name === plain.name ? plain : await open(name);
    const owned = await ownedBy(owner, candidate);
    if (isSameOwner(owned, owner)) {
      if (candidate !== plain) await plain.storage.close();
      return { ...candidate, stored: { ...candidate.stored, owner: owned } };
    }
    if (candidate !== plain && candidate.storage !== plain.storage) await candidate.storage.close();
  }
  const { owner: found } = plain.stored;
  return { ...plain, stored: { ...plain.stored, owner: found ?? (await plain.storage.own(owner)), others: true } };
}

/** A partial name of the same owner stays: whether its tenant is the same, only the log shows. */
async function ownedBy(owner: string, { storage, stored }: ChosenStore<Storage>): Promise<string> {
  if (stored.owner !== undefined && isSameOwner(stored.owner, owner)) return stored.owner;
  return await storage.own(owner);
}
