import type { ModelSchema, SyncClient } from "@holdfast/sdk";

export interface UnsavedOptions {
  /**
   * What has to be so before the page may be closed unasked. `durable` (default): every write is on disk, and will be
   * sent when the app is open again. `sent`: the server has answered every write, too; one that waits for a person's
   * decision was answered.
   */
  readonly until?: "durable" | "sent";
}

/** Whether closing the page now would lose something, or leave it unsent, by what the client says of its writes. */
export function isUnsaved<S extends ModelSchema>(
  client: SyncClient<S>,
  { until = "durable" }: UnsavedOptions,
): boolean {
  const { storage, conflicts, attention } = client.status();
  const pending = client.pending();
  // In memory nothing outlives the page, also not what waits for a decision. What the server has taken is safe.
  const isOpen = pending.some(({ phase }) => phase !== "confirmed");
  if (storage === "memory") return isOpen || conflicts + attention > 0;
  return until === "sent" ? isOpen : pending.some(({ phase }) => phase === "saving");
}

/**
 * Lets the browser ask before the page is closed, while something is unsaved and at no other time: a listener that
 * stays would keep the page out of the browser's back/forward cache. Gives back the function that ends it.
 */
export function preventUnsavedChanges<S extends ModelSchema>(
  client: SyncClient<S>,
  options: UnsavedOptions = {},
): () => void {
  const ask = (event: BeforeUnloadEvent) => {
    event.preventDefault();
    // Chromium before 119 asks only for this.
    event.returnValue = true;
  };
  const end = () => removeEventListener("beforeunload", ask);
  // Adding it again, or taking away what is not there, does nothing.
  const look = () => (isUnsaved(client, options) ? addEventListener("beforeunload", ask) : end());
  const off = client.subscribe(look);
  look();
  return () => {
    off();
    end();
  };
}
