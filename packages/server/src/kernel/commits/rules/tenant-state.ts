import type { CommitReceipt, JsonObject, Verb } from "@holdfast/sdk/protocol";
import type { Refusal } from "../../refusal.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import type { Scope } from "../../tokens/rules/participant.ts";
import { isWithin } from "../../tokens/rules/scope.ts";
import type { CommitOperation, CommitRequest } from "./commit-request.ts";
import type { RecordValues } from "./record-values.ts";
import { hasMoved, isOwn, type PastEntry, type Writer } from "./stale.ts";

/** The end of a tenant's log: the newest entry, and the newest entry by another writer. */
export interface Head extends GroupHead {
  readonly logId: string;
  readonly schemaVersion: number;
  /** Entries up to this position are trimmed. */
  readonly trimmedTo: number;
}

/**
 * The newest entry of a group, and the newest entry by anyone other than its writer. With these two positions every
 * writer can tell whether others have written, whatever the group's size.
 */
export interface GroupHead {
  readonly syncId: number;
  /** Null if the entry has no clientId: then no writer counts it as its own. */
  readonly writer: string | null;
  readonly otherSyncId: number;
}

/** An entry with the groups of its record after the change. */
export interface FiledEntry extends PastEntry {
  readonly groups: readonly string[];
}

/** Who wrote an entry, and to which record. */
export interface Author {
  readonly model: string;
  readonly id: string;
  readonly writtenBy: string;
}

export interface RecordState {
  readonly syncId: number;
  /** Throws if the values were not read. */
  readonly data: JsonObject;
  /** Size of its JSON, if it is large. "not read": the values did not fit into the round. */
  readonly bytes?: number | "not read";
  /** Its values can never be read, because they have so many bytes; 0: Postgres cannot make their JSON. */
  readonly unreadable?: number;
  readonly archivedAt: string | null;
  readonly groups: readonly string[];
  readonly createdSyncId: number;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly updatedBy: string;
}

export interface StoredReceipt {
  readonly fingerprint: string;
  /** The receipt as it was sent, byte for byte. */
  readonly body: string;
  readonly conflicted: boolean;
}

/** A receipt as it is in the database: see short-receipt.ts. */
export interface KeptReceipt {
  readonly fingerprint: string;
  /** Null: the key of a single operation has no receipt, and is only marked as done. */
  readonly kept: string | null;
  readonly conflicted: boolean;
}

/** A receipt to keep, with the name that it is kept under. */
export interface NewReceipt extends KeptReceipt {
  readonly participant: string;
  readonly name: string;
}

/**
 * Memory bounds. A small commit can name many large records, and judging it loads their old and new values. So a commit
 * may use up to `commitBytes`, and a round ends once it has used `roundBytes`; the remaining commits wait for a later
 * round.
 */
export interface ByteBounds {
  /** JSON bytes of the records that one commit names. A record that it names twice counts twice. */
  readonly commitBytes: number;
  /** The same for a round, unless a single commit needs more. */
  readonly roundBytes: number;
}

/** The memory that one round uses, over all its tenants. */
export interface RoundBytes extends ByteBounds {
  /** The commit whose values are read first. If a value of it is missing, it is too large for any round. */
  readonly first: CommitRequest | undefined;
  /** JSON bytes written, or returned to a conflicted commit, so far. */
  used: number;
}

/**
 * The state of one tenant while a round is judged: loaded once for all its commits, then updated by each confirmed
 * commit, so that the next one sees the change. It belongs to that round alone.
 */
export interface TenantState {
  readonly organization: string;
  readonly models: ReadonlyMap<string, DeclaredModel>;
  /** Largest JSON size of a record after a write. */
  readonly recordBytes: number;
  /** Shared by all tenants of the round. */
  readonly bytes: RoundBytes;
  /** ISO; never earlier than the newest entry's time. */
  readonly now: string;
  head: Head;
  /** By `recordKey`; null: known not to exist. */
  readonly records: Map<string, RecordState | null>;
  /** By `recordKey`, oldest first: the entries after the oldest `readAt` in question, and those that the round adds. */
  readonly history: Map<string, FiledEntry[]>;
  /** The values of unique fields and of checked references. */
  readonly values: RecordValues;
  readonly groupHeads: Map<string, GroupHead>;
  /** By position: the authors of the newest entries in the groups that the round names. */
  readonly authors: Map<number, Author>;
  /** By `receiptKey`. */
  readonly receipts: Map<string, StoredReceipt>;
  /** The receipts that the round adds; `receipts` has them too. */
  readonly newReceipts: NewReceipt[];
  /** By name, in the order in which they are asked: what modules know of the tenant, and what they say of commits. */
  readonly modules: ReadonlyMap<string, RoundModule>;
}

/** A module in the judgement of one tenant's round. It belongs to that round alone, like the state. */
export interface RoundModule {
  /** It takes the tenant's commits: they come as steps of its own, and as nothing else. */
  readonly takesCommits?: boolean;
  /** It runs the tenant's rounds itself, and this is none of them. */
  readonly runsRounds?: boolean;
  /** Refuses an operation together with its payload, by what is known before anything is judged. */
  check?(operation: CommitOperation, declaredName: string): Refusal | undefined;
  /** Refuses a commit as a whole, before anything else of it is judged. */
  judgeCommit?(commit: CommitRequest): Refusal | undefined;
  /** Refuses an operation whose payload is right. Also asked about what a delete changes in other records. */
  judge?(state: TenantState, commit: CommitRequest, operation: CommitOperation): Refusal | undefined;
  /** What becomes of a decision. "later": a later round judges the commit. */
  settle?(state: TenantState, commit: CommitRequest, decision: Decision): Decision | "later";
  /** Whether another transaction has locked the record. */
  isLocked?(key: string): boolean;
  /** Whether records of the model have more than their creates gave. */
  fillsRecords?(model: string): boolean;
  /** A commit is going to happen: decided, and its receipt fits. Not of what has happened already (`captured`). */
  committed?(state: TenantState, commit: CommitRequest): void;
  /** A commit has become a proposal: nothing of it is in the state. */
  proposed?(state: TenantState, commit: CommitRequest, entries: readonly NewEntry[]): void;
  /** A commit was confirmed, and this entry of it is in the state. */
  applied?(state: TenantState, entry: NewEntry): void;
}

/** What the first of the modules says that says something. */
export function firstOf<T>({ modules }: TenantState, ask: (module: RoundModule) => T | undefined): T | undefined {
  for (const module of modules.values()) {
    const found = ask(module);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The name of the first module of which something holds. */
export function moduleThat(
  { modules }: Pick<TenantState, "modules">,
  holds: (module: RoundModule) => boolean | undefined,
): string | undefined {
  for (const [name, module] of modules) if (holds(module)) return name;
  return undefined;
}

/** The module that takes the tenant's commits. */
export const ownerOf = (state: Pick<TenantState, "modules">): string | undefined =>
  moduleThat(state, ({ takesCommits }) => takesCommits);

export const judgeByModules = (
  state: TenantState,
  commit: CommitRequest,
  operation: CommitOperation,
): Refusal | undefined => firstOf(state, (module) => module.judge?.(state, commit, operation));

export const receiptKey = (participant: string, name: string): string => `${participant} ${name}`;

export const writerName = (writer: Writer): string | null =>
  writer.clientId === null ? null : `${writer.writtenBy}/${writer.clientId}`;

/** The group head after one more entry. */
export const nextGroupHead = (before: GroupHead | undefined, syncId: number, writer: string | null): GroupHead => ({
  syncId,
  writer,
  otherSyncId:
    before === undefined ? 0 : writer !== null && before.writer === writer ? before.otherSyncId : before.syncId,
});

/** Position of the newest entry in a group by another writer; 0 if there is none. */
export const newestOfOthers = (head: GroupHead | undefined, writer: string | null): number =>
  head === undefined ? 0 : writer !== null && head.writer === writer ? head.otherSyncId : head.syncId;

/**
 * Entries by others about a record after a position. If the log is trimmed beyond that position, an entry that concerns
 * the whole record comes first. For a deleted record, a scoped writer gets only entries within its groups. For a record
 * that moved into its groups from others, it does not learn who did what there.
 */
export function newerEntries(
  state: TenantState,
  key: string,
  readAt: number,
  writer: Writer,
  scope: Scope | undefined,
): readonly PastEntry[] {
  const record = state.records.get(key);
  if (!hasMoved(record, readAt)) return [];
  const newer = (state.history.get(key) ?? []).filter(({ syncId }) => syncId > readAt);
  const known =
    scope !== undefined && record
      ? asSeen(newer, writer, scope)
      : newer.filter((entry) => !isOwn(writer, entry) && (scope === undefined || isWithin(scope, entry.groups)));
  if (!record || readAt >= state.head.trimmedTo) return known;
  // The history up to there is trimmed. It counts as one entry that changed every field.
  const syncId = Math.min(record.syncId, state.head.trimmedTo);
  return [{ syncId, verb: "updated", changedFields: null, writtenBy: record.updatedBy, clientId: null }, ...known];
}

/**
 * Changes that the writer may not see still count: they are attributed to the entry that brought the record into its
 * groups.
 */
function asSeen(entries: readonly FiledEntry[], writer: Writer, scope: Scope): readonly PastEntry[] {
  const told: PastEntry[] = [];
  let bringer: FiledEntry | undefined;
  for (const entry of [...entries].reverse()) {
    if (isWithin(scope, entry.groups)) bringer = entry;
    const { syncId, writtenBy, clientId } = bringer ?? entry;
    if (!isOwn(writer, entry)) told.unshift({ ...entry, syncId, writtenBy, clientId });
  }
  return told;
}

/** An entry to append, with the row after it. */
export interface NewEntry {
  readonly syncId: number;
  readonly model: string;
  readonly id: string;
  readonly verb: Verb;
  readonly changedFields: readonly string[] | null;
  /** Of a create: those that it leaves to the server. */
  readonly filledFields: readonly string[];
  readonly transactionId: string | null;
  readonly claim: string | null;
  readonly groups: readonly string[];
  /** Null if the groups did not change. */
  readonly groupsBefore: readonly string[] | null;
  /** Position of the entry that created the record. */
  readonly createdSyncId: number;
  /** Of an update or a delete: the values before it; null if there was no record. Undefined: they are not known. */
  readonly dataBefore: JsonObject | null | undefined;
  /** The record after the change; null if it is deleted. */
  readonly after: RecordState | null;
  /** The stored JSON of its data. */
  readonly text: string | null;
}

/** The decision about one commit. Only `confirmed`, `proposed` and `conflicted` leave a receipt. `proposed`: the entries are those that it would write. */
export type Decision =
  | { readonly kind: "confirmed"; readonly receipt: CommitReceipt; readonly entries: readonly NewEntry[] }
  | { readonly kind: "proposed"; readonly receipt: CommitReceipt; readonly entries: readonly NewEntry[] }
  | { readonly kind: "conflicted"; readonly receipt: CommitReceipt }
  | { readonly kind: "replayed"; readonly receipt: StoredReceipt }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** The groups that see the entry: the record's groups after and before it. */
export const groupsTouched = ({ groups, groupsBefore }: NewEntry): readonly string[] =>
  groupsBefore === null ? groups : [...new Set([...groups, ...groupsBefore])];
