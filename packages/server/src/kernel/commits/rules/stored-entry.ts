import type { ParticipantKind, Verb } from "@holdfast/sdk/protocol";
import type { CommitRequest } from "./commit-request.ts";
import type { NewEntry } from "./tenant-state.ts";

/**
 * A log entry as it is stored; `data` and `changedFields` are the stored JSON text. Of a record that cannot be read, `data`
 * is a JSON string that says why.
 */
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
  /** Since when the record is archived, of an update; of an archive, if that is not when it was committed. */
  readonly archivedAt: string | null;
  /** Of a change of a record that is still there. Null: of any other entry, and of one of an earlier version. */
  readonly recordCreatedAt: string | null;
  readonly recordCreatedBy: string | null;
  /** As JSON text: why its commit was made, in which run, and for whom. */
  readonly attribution: string | null;
  readonly createdAt: string;
}

/** The stored form of an entry that a commit wrote. */
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
    archivedAt: archivedAtOf(entry, now),
    recordCreatedAt: (entry.verb !== "created" && entry.after?.createdAt) || null,
    recordCreatedBy: (entry.verb !== "created" && entry.after?.createdBy) || null,
    attribution: commit.attribution ? JSON.stringify(commit.attribution) : null,
    createdAt: now,
  };
}

/** A row of a table can say any time. */
const archivedAtOf = ({ verb, after }: NewEntry, now: string): string | null =>
  verb === "updated" || (verb === "archived" && after?.archivedAt !== now) ? (after?.archivedAt ?? null) : null;

/** A stored entry in the protocol's form: JSON text, with keys in the protocol's order. */
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
    ...(entry.archivedAt !== null && { archivedAt: entry.archivedAt }),
  });
  const values = valuesText(entry);
  const said = isErased(entry) ? ',"erased":true' : values !== entry.data ? `,"unreadable":${entry.data}` : "";
  const data = `"data":${values ?? "null"}${said}`;
  const text = `${head.slice(0, -1)},${data},"changedFields":${entry.changedFields ?? "null"},${tail.slice(1)}`;
  return withAttribution(text, entry);
}

/** Adds to an object, as JSON text, what its commit says of why it was made. */
export const withAttribution = (text: string, { attribution }: Pick<StoredEntry, "attribution">): string =>
  attribution === null ? text : `${text.slice(0, -1)},${attribution.slice(1)}`;

/** In place of the values of a record that cannot be read. */
export const unreadableData = (sentence: string): string => JSON.stringify(sentence);

/** The values as JSON text. Null: there are none, or they cannot be read. */
export const valuesText = ({ data }: Pick<StoredEntry, "data">): string | null => (data?.startsWith('"') ? null : data);

/**
 * Only entries that end a record have no values from the start. From any other entry without values they were erased.
 */
export const isErased = ({ verb, data }: Pick<StoredEntry, "verb" | "data">): boolean =>
  data === null && verb !== "deleted" && verb !== "erased";

/** What the record was before, for a reader who may not have seen it. */
export function enteredText(text: string, { recordCreatedAt, recordCreatedBy }: StoredEntry): string {
  if (recordCreatedAt === null || recordCreatedBy === null) return text;
  return `${text.slice(0, -1)},"record":${JSON.stringify({ createdAt: recordCreatedAt, createdBy: recordCreatedBy })}}`;
}

/** Rewrites a deletion for a reader who lost sight of the record: it left the reader's groups. */
export const leftText = (deletedEntry: string): string => `${deletedEntry.slice(0, -1)},"left":true}`;
