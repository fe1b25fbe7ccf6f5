import { SyncError } from "../errors.ts";

/** Why a file cannot be opened as the store. In a separate module, so that browsers do not load these sentences. */
export type StoreRefusal =
  /** Another client uses it. Close that client first. */
  | "store_in_use"
  /** It is not this store, or the database package is missing. */
  | "store_unusable";

export function storeRefusal(code: StoreRefusal, message: string): SyncError {
  return new SyncError({ code, type: "client_error", then: code === "store_in_use" ? "wait" : "fix", message });
}

export const unusable = (path: string, why: string): SyncError =>
  storeRefusal("store_unusable", `${path} cannot be used as the store: ${why}.`);
