import type { ParticipantKind, Verb } from "@holdfast/sdk/protocol";
import type { CommitRequest } from "./commit-request.ts";
import type { NewEntry } from "./tenant-state.ts";

/** A stored line of the log; `data` and `changedFields` are the text that was stored. */
export interface StoredEntry {
  readonly syncId: number;
  readonly model: string;
  readonly id: string;
  readonly verb: Verb;
  readonly data: string | null;
  readonly changedFields: string | null;
  readonly groups: readonly string[];
  readonly groupsBefore: readonly string[] | null;
  readonly clientTxId: string;
  readonly clientId: string | null;
  readonly transactionId: string | null;
  readonly actor: string;
  readonly participantKind: ParticipantKind;
  readonly claim: string | null;
  readonly createdAt: string;
}

/** A line that a commit wrote, as it is stored. */
export function storedEntry(commit: CommitRequest, entry: NewEntry, now: string): StoredEntry {
  const { participantId, participantKind } = commit.principal;
  const { changedFields } = entry;
  return {
    syncId: entry.syncId,
    model: entry.model,
    id: entry.id,
    verb: entry.verb,
    data: entry.text,
    changedFields: changedFields && JSON.stringify(changedFields),
    groups: entry.groups,
    groupsBefore: entry.groupsBefore,
    clientTxId: commit.clientTxId,
    clientId: commit.clientId,
    transactionId: entry.transactionId,
    actor: participantId,
    participantKind,
    claim: entry.claim,
    createdAt: now,
  };
}

/** A stored line as the protocol's entry: JSON text, its keys in the protocol's order. */
export function storedEntryText(entry: StoredEntry, declaredName: string): string {
  const head = JSON.stringify({
    object: "log_entry",
    syncId: entry.syncId,
    model: declaredName,
    id: entry.id,
    verb: entry.verb,
  });
  const tail = JSON.stringify({
    clientTxId: entry.clientTxId,
    clientId: entry.clientId,
    transactionId: entry.transactionId,
    actor: entry.actor,
    participantKind: entry.participantKind,
    claim: entry.claim,
    createdAt: entry.createdAt,
  });
  const data = `"data":${entry.data ?? "null"}${isErased(entry) ? ',"erased":true' : ""}`;
  return `${head.slice(0, -1)},${data},"changedFields":${entry.changedFields ?? "null"},${tail.slice(1)}`;
}

/** Only what ends a record has no values from the start: from any other entry they were taken. */
export const isErased = ({ verb, data }: Pick<StoredEntry, "verb" | "data">): boolean =>
  data === null && verb !== "deleted" && verb !== "erased";

/** A record that went out of the reader's groups: told as a deletion that says so. */
export const leftText = (deletedEntry: string): string => `${deletedEntry.slice(0, -1)},"left":true}`;
