import { noteTrouble } from "../connection/trouble.ts";
import { type Draft, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import type { StorageTrouble, StoreState } from "../state.ts";

type Of<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** The store is chosen once its owner is known. */
export function onChoosing(draft: Draft, { name, reason }: Of<"choosing">): void {
  set<StoreState>(draft, { choosing: name });
  noteTrouble(draft, reason);
}

/** The disk failed. */
export const onStorageFailed = (draft: Draft, { code, reason }: StorageTrouble): void =>
  set<StoreState>(draft, { storageTrouble: { code, reason } });

export const onPersistence = (draft: Draft, { granted }: Of<"persistence">): void =>
  set<StoreState>(draft, { persisted: granted });

export const onStoreLost = (draft: Draft, { pending, notedAt }: Of<"storeLost">): void =>
  set<StoreState>(draft, { lostStore: { pending, notedAt } });
