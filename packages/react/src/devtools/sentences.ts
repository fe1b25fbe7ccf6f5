import type { PendingMutation, SyncStatus } from "@holdfast/sdk";
import type { View } from "./view.ts";

/** Describes the changes between two views, in the order in which a reader expects them. */
export function sentencesBetween(before: View, after: View): readonly string[] {
  return [
    ...aboutStatus(before.status, after.status),
    ...aboutWrites(before, after),
    ...aboutDecisions(before, after),
    ...aboutReading(before.status, after.status),
  ].map((says) => `${says.charAt(0).toUpperCase()}${says.slice(1)}`);
}

const NAMES: Record<SyncStatus["name"], string> = {
  starting: "Reading the local store.",
  connecting: "Connecting.",
  online: "Connected.",
  offline: "Offline: there is no network.",
  paused: "Paused by the app.",
  "needs-auth": "The server refused the token; a new one is needed.",
  "storage-failed": "The local store failed; writes are in memory only.",
};

export function describeConnection({ name, live }: Pick<Partial<SyncStatus>, "name" | "live">): string {
  if (name === "online" && live === false) return "Connected without a socket: updates every few seconds.";
  return name ? (NAMES[name] ?? name) : "";
}

/** The status in a few words, also for screen readers. */
export const describeStatus = ({ name, live, pending, conflicts, attention }: SyncStatus): string =>
  `${describeConnection({ name, live })} ${pending} unsettled, ${conflicts + attention} to decide`;

/** Which tab sends this tab's writes; undefined if the status does not say so. */
export function describeLeader({ leads, name, storage }: Partial<SyncStatus>): string | undefined {
  if (leads === undefined || name === "starting") return undefined;
  if (leads) return "This tab: it syncs for all tabs of this browser profile.";
  if (name === "paused") return "Not this tab while it is paused.";
  return storage === "memory"
    ? "This tab syncs only for itself: it has no local store."
    : "Another tab: it syncs for this tab.";
}

function aboutStatus(before: View["status"], after: View["status"]): string[] {
  const says: string[] = [];
  if (describeConnection(before) !== describeConnection(after)) says.push(describeConnection(after));
  if (after.reason !== undefined && before.reason !== after.reason) says.push(`Reason: ${after.reason}`);
  if (before.leads !== after.leads)
    says.push(after.leads ? "This tab is now the leader: it syncs for all tabs." : "This tab is no longer the leader.");
  if (before.storage !== after.storage && after.storage === "disk") says.push("The local store is open.");
  if (before.storageTrouble !== after.storageTrouble && after.storageTrouble)
    says.push(`The local store has a problem: ${after.storageTrouble}.`);
  if (!before.lostStore && after.lostStore) says.push("The previous store was cleared.");
  if (!before.persisted && after.persisted) says.push("The browser granted persistent storage.");
  return says;
}

function aboutWrites(before: View, after: View): string[] {
  const earlier = byName(before.pending);
  const later = byName(after.pending);
  const decided = new Set([...after.conflicts, ...after.attention].map((each) => each.clientTxId));
  const came = after.pending.flatMap((write) => {
    const known = earlier.get(write.clientTxId);
    if (!known)
      return [`${describeWrite(write)} was written${write.phase === "saving" ? "" : `; ${describePhase(write)}`}.`];
    return known.phase === write.phase ? [] : [`${describeWrite(write)} ${describePhase(write)}.`];
  });
  // A view contains only the beginning of a long queue, so other writes may move into or out of it.
  const gone = before.pending
    .filter(({ clientTxId }) => !later.has(clientTxId) && !decided.has(clientTxId))
    .map((write) =>
      write.phase === "confirmed" || write.phase === "sending"
        ? `${describeWrite(write)} is settled: the log has it.`
        : `${describeWrite(write)} left the queue.`,
    );
  return [...came, ...gone];
}

function describePhase({ phase, attempts }: PendingMutation): string {
  switch (phase) {
    case "saving":
      return "is being stored";
    case "queued":
      return attempts > 0 ? `waits to be sent again, after ${times(attempts)}` : "is stored and waits to be sent";
    case "sending":
      return "is being sent";
    case "confirmed":
      return "was confirmed by the server";
    case "blocked":
      return "waits for another write that it depends on";
  }
}

const times = (attempts: number) => (attempts === 1 ? "one attempt" : `${attempts} attempts`);

function aboutDecisions(before: View, after: View): string[] {
  const key = ({ clientTxId, model, id }: View["conflicts"][number]) => `${clientTxId} ${model} ${id}`;
  const conflictsBefore = new Set(before.conflicts.map(key));
  const conflictsAfter = new Set(after.conflicts.map(key));
  const refusedBefore = byName(before.attention);
  const refusedAfter = byName(after.attention);
  return [
    ...after.conflicts
      .filter((each) => !conflictsBefore.has(key(each)))
      .map(({ model, id, fields, writtenBy, reason }) =>
        reason === "stale"
          ? `Conflict: ${writtenBy} changed ${listed(fields)} of ${model} ${id} meanwhile.`
          : `Conflict: a claim blocked the write to ${model} ${id} (${reason}).`,
      ),
    ...before.conflicts
      .filter((each) => !conflictsAfter.has(key(each)))
      .map(({ model, id }) => `The conflict about ${model} ${id} was resolved.`),
    ...after.attention
      .filter(({ clientTxId }) => !refusedBefore.has(clientTxId))
      .map((each) => `${describeWrite(each)} was refused (${each.code}): ${each.message}`),
    ...before.attention
      .filter(({ clientTxId }) => !refusedAfter.has(clientTxId))
      .map((each) => `The refused ${describeWrite(each)} was retried, edited or discarded.`),
  ];
}

function aboutReading(before: View["status"], after: View["status"]): string[] {
  if (before.loadedRows === undefined && after.loadedRows !== undefined) return ["A snapshot is being read."];
  const read = before.syncId !== after.syncId ? [`The log was read up to ${after.syncId}.`] : [];
  return before.loadedRows !== undefined && after.loadedRows === undefined ? ["The snapshot was read.", ...read] : read;
}

/** One write in a few words: `update slide s1 (title)`. */
export function describeWrite({ operations }: Pick<PendingMutation, "operations">): string {
  const [first] = operations;
  if (!first) return "an empty write";
  const fields = first.action === "update" && first.data ? ` (${listed(Object.keys(first.data))})` : "";
  const more = operations.length > 1 ? ` and ${operations.length - 1} more` : "";
  return `${first.action} ${first.model} ${first.id}${fields}${more}`;
}

const listed = (fields: readonly string[]) => fields.join(", ");

const byName = <T extends { readonly clientTxId: string }>(items: readonly T[]): ReadonlyMap<string, T> =>
  new Map(items.map((item) => [item.clientTxId, item]));
