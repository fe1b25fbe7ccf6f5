import type { JsonObject, Verb } from "@holdfast/sdk/protocol";
import type { ClaimQueue, ClaimState } from "../claims/claim.ts";
import type { Wait } from "../claims/wait-graph.ts";
import type { DeclaredModel } from "../schema/declared-model.ts";
import type { Scope } from "../tokens/participant.ts";
import { isWithin } from "../tokens/scope.ts";
import type { CommitRequest } from "./commit-request.ts";
import { isOwn, type PastEntry, type Writer } from "./stale.ts";

/** The end of a tenant's log, and the newest entry that its newest writer did not make. */
export interface Head extends GroupHead {
  readonly logId: string;
  readonly schemaVersion: number;
  /** Positions up to here are no longer kept. */
  readonly trimmedTo: number;
}

/**
 * The newest entry of a group by anybody, and the newest by anybody else than that one's writer. Two positions
 * answer "is there news that is not my own?" for every writer, whatever the group's size.
 */
export interface GroupHead {
  readonly syncId: number;
  /** Null when the entry came without a clientId: then it is nobody's own. */
  readonly writer: string | null;
  readonly otherSyncId: number;
}

/** An entry with the groups that its record was in after it. */
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
  /** Throws where they were not read. */
  readonly data: JsonObject;
  /** Of its JSON, where that is large. "not read": its values did not fit into the round. */
  readonly bytes?: number | "not read";
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
  readonly held: boolean;
}

/** A receipt with the names that it is stored under. An operation's own key has no receipt: it only says that it was there. */
export interface NewReceipt {
  readonly participant: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly body: string | null;
  readonly held: boolean;
}

/**
 * A small commit may name many large records, and to judge it takes their values, and the new ones, into memory. So a
 * commit takes up to `commitBytes`, and a round ends when it took `roundBytes`: the commits behind it wait for a later one.
 */
export interface ByteBounds {
  /** Of the records' JSON that one commit takes into memory; a record counts as often as the commit names it. */
  readonly commitBytes: number;
  /** The same of a round, unless a single commit takes more. */
  readonly roundBytes: number;
}

/** What one round takes into memory, over all its tenants. */
export interface RoundBytes extends ByteBounds {
  /** Its values were read first: what it lacks is too much for any round. */
  readonly first: CommitRequest | undefined;
  /** JSON that was written, or told to a held commit, so far. */
  used: number;
}

/**
 * What is true of one tenant while a round of commits is judged: loaded for all of them at once, then moved on by
 * each commit that is confirmed, so that the next one sees it. It belongs to that round alone.
 */
export interface TenantState {
  readonly organization: string;
  readonly models: ReadonlyMap<string, DeclaredModel>;
  /** As JSON, a record may have so many after a write. */
  readonly recordBytes: number;
  /** Shared by all tenants of the round. */
  readonly bytes: RoundBytes;
  /** ISO; never before the newest entry's. */
  readonly now: string;
  head: Head;
  /** By `recordKey`; null is known to be absent. */
  readonly records: Map<string, RecordState | null>;
  /** By `recordKey`, oldest first: what came after the oldest `readAt` that the round asks about, and what the round adds. */
  readonly history: Map<string, FiledEntry[]>;
  readonly groupHeads: Map<string, GroupHead>;
  /** By position: who wrote the newest entries of the groups that the round asks about. */
  readonly authors: Map<number, Author>;
  /** By `receiptKey`. */
  readonly receipts: Map<string, StoredReceipt>;
  /** Those of `receipts` that the round adds. */
  readonly newReceipts: NewReceipt[];
  /** By `recordKey`: the claims that have not ended. */
  readonly claims: Map<string, ClaimQueue>;
  /** Who waits for whom on other records, as far as somebody is about to wait. */
  readonly waits: readonly Wait[];
  /** By participant: claims that have not ended, where they may be too many. */
  readonly claimsHeld: Map<string, number>;
  /** Of the tokens that ask for claims: those that were revoked meanwhile. */
  readonly revokedTokens: ReadonlySet<string>;
  /** The last number that a change of a claim, or a fence, took. */
  claimChange: number;
  /** Claims of the tenant that have not ended. */
  claimCount: number;
  /** By claim id: what the round changed. */
  readonly changedClaims: Map<string, ChangedClaim>;
}

export interface ChangedClaim {
  readonly claim: ClaimState;
  readonly change: number;
}

export const receiptKey = (participant: string, name: string): string => `${participant} ${name}`;

export const writerName = (writer: Writer): string | null =>
  writer.clientId === null ? null : `${writer.writtenBy}/${writer.clientId}`;

/** A group's heads after one more entry. */
export const nextGroupHead = (before: GroupHead | undefined, syncId: number, writer: string | null): GroupHead => ({
  syncId,
  writer,
  otherSyncId:
    before === undefined ? 0 : writer !== null && before.writer === writer ? before.otherSyncId : before.syncId,
});

/** Position of the newest entry in a group that is not the writer's own; 0 when there is none. */
export const newestOfOthers = (head: GroupHead | undefined, writer: string | null): number =>
  head === undefined ? 0 : writer !== null && head.writer === writer ? head.otherSyncId : head.syncId;

/**
 * What others did to a record after a position. A log that was trimmed beyond it answers "the whole record". Of a
 * record that is gone a scoped writer hears what happened within its groups only, and of one that came into them from
 * elsewhere not who did what there.
 */
export function newerEntries(
  state: TenantState,
  key: string,
  readAt: number,
  writer: Writer,
  scope: Scope | undefined,
): readonly PastEntry[] {
  const record = state.records.get(key);
  if (record && record.syncId <= readAt) return [];
  const newer = (state.history.get(key) ?? []).filter(({ syncId }) => syncId > readAt);
  const known =
    scope !== undefined && record
      ? asSeen(newer, writer, scope)
      : newer.filter((entry) => !isOwn(writer, entry) && (scope === undefined || isWithin(scope, entry.groups)));
  if (!record || readAt >= state.head.trimmedTo) return known;
  // Nobody knows any more what happened up to there: it counts as one entry that touched everything.
  const syncId = Math.min(record.syncId, state.head.trimmedTo);
  return [{ syncId, verb: "updated", changedFields: null, writtenBy: record.updatedBy, clientId: null }, ...known];
}

/** What others did out of sight counts, as a part of the entry that brought the record into sight. */
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

/** One line to append, with the row as it then stands. */
export interface NewEntry {
  readonly syncId: number;
  readonly model: string;
  readonly id: string;
  readonly verb: Verb;
  readonly changedFields: readonly string[] | null;
  readonly transactionId: string | null;
  readonly claim: string | null;
  readonly groups: readonly string[];
  /** Null when the record was in the same groups before. */
  readonly groupsBefore: readonly string[] | null;
  /** Position of the line that made the record. */
  readonly createdSyncId: number;
  /** The record after; null when it is gone. */
  readonly after: RecordState | null;
  /** Its data as JSON: what is stored. */
  readonly text: string | null;
}

/** The groups that a line is news in: where the record is filed now, and where it was. */
export const groupsTouched = ({ groups, groupsBefore }: NewEntry): readonly string[] =>
  groupsBefore === null ? groups : [...new Set([...groups, ...groupsBefore])];
