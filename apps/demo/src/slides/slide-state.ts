import type { Conflict, PendingMutation, SyncStatus } from "@holdfast/sdk";

/** Said of a slide whose edit conflicts with another person’s. */
export const DECISION = "Needs your decision";

/** What the cards say that have unsaved edits, by slide; of the others everything is saved. */
export function slideStates(
  pending: readonly PendingMutation[],
  conflicts: readonly Conflict[],
  connection: SyncStatus["name"],
): ReadonlyMap<string, string> {
  const writes = new Map<string, PendingMutation[]>();
  for (const mutation of pending)
    for (const { id } of mutation.operations) writes.set(id, [...(writes.get(id) ?? []), mutation]);
  const states = new Map([...writes].map(([id, mine]) => [id, unsaved(mine, connection)]));
  for (const { id } of conflicts) states.set(id, DECISION);
  return states;
}

function unsaved(mine: readonly PendingMutation[], connection: SyncStatus["name"]): string {
  if (mine.some((mutation) => mutation.phase === "blocked")) return "Waits for a decision";
  return connection === "online" || mine.some((mutation) => mutation.phase === "sending")
    ? "Saving…"
    : "Waiting to be sent";
}
