import type { Conflict, PendingMutation, SyncStatus } from "@holdfast/sdk";

/** What a card says about its unsaved edits; empty when everything is saved. */
export function slideState(
  id: string,
  pending: readonly PendingMutation[],
  conflicts: readonly Conflict[],
  connection: SyncStatus["name"],
): string {
  if (conflicts.some((conflict) => conflict.id === id)) return "Needs your decision";
  const mine = pending.filter((mutation) => mutation.operations.some((operation) => operation.id === id));
  if (mine.length === 0) return "";
  if (mine.some((mutation) => mutation.phase === "blocked")) return "Waits for another change";
  return connection === "online" || mine.some((mutation) => mutation.phase === "sending")
    ? "Saving…"
    : "Waiting to send";
}
