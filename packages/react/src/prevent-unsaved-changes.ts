import type { ModelSchema, SyncClient } from "@holdfast/sdk";

export interface UnsavedOptions {
  /**
   * When the page may be closed without a warning. `durable` (default): every write is on disk and will be sent when
   * the app is open again. `sent`: the server has also answered every write, including those that wait for a person's
   * decision.
   */
  readonly until?: "durable" | "sent" | undefined;
}

/** Whether closing the page now would lose writes or leave them unsent. */
export function isUnsaved<S extends ModelSchema>(
  client: SyncClient<S>,
  { until = "durable" }: UnsavedOptions,
): boolean {
  const { storage, conflicts, attention } = client.status();
  const pending = client.pending();
  // Writes in memory are lost with the page, also those that wait for a decision. Confirmed writes are safe.
  const isOpen = pending.some(({ phase }) => phase !== "confirmed");
  if (storage === "memory") return isOpen || conflicts + attention > 0;
  return until === "sent" ? isOpen : pending.some(({ phase }) => phase === "saving");
}

/**
 * Lets the browser ask before the page is closed, but only while there are unsaved writes, because a permanent listener
 * would disable the back/forward cache. Returns a function that ends it.
 */
export function preventUnsavedChanges<S extends ModelSchema>(
  client: SyncClient<S>,
  options: UnsavedOptions = {},
): () => void {
  const ask = (event: BeforeUnloadEvent) => {
    event.preventDefault();
    // Chromium before 119 needs this.
    event.returnValue = true;
  };
  const end = () => removeEventListener("beforeunload", ask);
  // Adding the listener twice, or removing a missing one, has no effect.
  const look = () => (isUnsaved(client, options) ? addEventListener("beforeunload", ask) : end());
  const off = client.subscribe(look);
  look();
  return () => {
    off();
    end();
  };
}
