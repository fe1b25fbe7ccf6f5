import {
  applyOperation,
  type CommitReceipt,
  type JsonObject,
  jsonEqual,
  type Model,
  type StaleNotification,
  type Verb,
} from "@holdfast/sdk/protocol";
import { guardWrite } from "../claims/guard-write.ts";
import { type Refusal, refuse } from "../refusal.ts";
import { checkGroups, groupsOf } from "../schema/sync-group.ts";
import { participantName } from "../tokens/participant.ts";
import { isWithin } from "../tokens/scope.ts";
import { checkPayload, writesNothing } from "./check-payload.ts";
import { checkRecordSize } from "./check-record-size.ts";
import { checkScope } from "./check-scope.ts";
import { checkCommitBytes, tooLargeCommit } from "./commit-bytes.ts";
import { type CommitOperation, type CommitRequest, recordKey, rowAction } from "./commit-request.ts";
import { judgeReads } from "./premises.ts";
import { confirmedReceipt, heldReceipt } from "./receipt.ts";
import { isRepeated, replayOf } from "./replay.ts";
import { type Collision, judgeStale, type Writer } from "./stale.ts";
import {
  type FiledEntry,
  type NewEntry,
  newerEntries,
  type RecordState,
  type StoredReceipt,
  type TenantState,
} from "./tenant-state.ts";

/** The decision about one commit. Only `confirmed` and `held` leave a receipt. */
export type Decision =
  | { readonly kind: "confirmed"; readonly receipt: CommitReceipt; readonly entries: readonly NewEntry[] }
  | { readonly kind: "held"; readonly receipt: CommitReceipt }
  | { readonly kind: "replayed"; readonly receipt: StoredReceipt }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/**
 * Judges one commit against its tenant: replay → size → scope → payload → claims → positions → exists → stale → no-op.
 * Each check covers every operation before the next check starts. A refusal takes precedence over a hold.
 */
export function decideCommit(state: TenantState, commit: CommitRequest): Decision {
  const replay = replayOf(state, commit);
  if (replay) return replay;
  const refusal =
    checkCommitBytes(state, commit) ??
    checkScope(state, commit) ??
    checkPayloads(state, commit) ??
    checkClaims(state, commit) ??
    checkPositions(state, commit);
  if (refusal) return { kind: "refused", refusal };
  const draft = draftCommit(state, commit);
  const premises = judgeReads(state, commit);
  const refused = draft.exists ?? draft.stale ?? premises.refusal ?? draft.tooLarge;
  if (refused) return { kind: "refused", refusal: refused };
  const held = [...draft.held, ...premises.held];
  if (held.length > 0) return { kind: "held", receipt: heldReceipt(commit, state.head.logId, state.head.syncId, held) };
  const { head } = state;
  const lastSyncId = draft.entries.at(-1)?.syncId ?? draft.createdAt ?? head.syncId;
  const { entries, missingIds, madeId } = draft;
  return {
    kind: "confirmed",
    entries,
    receipt: confirmedReceipt(commit, { lastSyncId, logId: head.logId, missingIds, madeId }),
  };
}

export const writerOf = (commit: CommitRequest): Writer => ({
  writtenBy: participantName(commit.principal.participantKind, commit.principal.participantId),
  clientId: commit.clientId,
});

/** `data.title` on a single-record route, `operations[6].data.title` in a batch. */
const at = (commit: CommitRequest, index: number, refusal: Refusal): Refusal =>
  commit.single
    ? refusal
    : {
        ...refusal,
        param: refusal.param === undefined ? `operations[${index}]` : `operations[${index}].${refusal.param}`,
      };

function checkPayloads(state: TenantState, commit: CommitRequest): Refusal | undefined {
  for (const [index, operation] of commit.operations.entries()) {
    const refusal = checkOperation(state, commit, operation);
    if (refusal) return at(commit, index, refusal);
  }
  return undefined;
}

function checkOperation(state: TenantState, commit: CommitRequest, operation: CommitOperation): Refusal | undefined {
  const declared = state.models.get(operation.model);
  if (!declared) return refuse("unknown_model", commit.single ? { param: "model" } : { param: "model", status: 400 });
  const data = operation.data as JsonObject | undefined;
  const refusal =
    checkPayload(declared.model, rowAction(operation.action), operation.id, data) ??
    (data && checkGroups(declared.model, data));
  if (refusal) return refusal;
  if (operation.action === "update" && writesNothing(data) && operation.model !== "favorite")
    return refuse("empty_update", { param: "data" });
  return undefined;
}

function checkClaims(state: TenantState, commit: CommitRequest): Refusal | undefined {
  const writer = writerOf(commit).writtenBy;
  const now = Date.parse(state.now);
  for (const [index, operation] of commit.operations.entries()) {
    const queue = state.claims.get(recordKey(operation.model, operation.id)) ?? [];
    const isBound = operation.claim !== undefined || operation.fenceToken !== undefined;
    if (!isBound && queue.length === 0) continue;
    if (isRepeated(state, commit, operation)) continue;
    const declaredName = state.models.get(operation.model)?.name ?? operation.model;
    const refusal = guardWrite(queue, writer, operation, { declaredName, now });
    if (refusal) return at(commit, index, refusal);
  }
  return undefined;
}

/** Refuses positions of another log, and positions beyond the log's end. */
function checkPositions(state: TenantState, commit: CommitRequest): Refusal | undefined {
  const isOther = commit.logId !== undefined && commit.logId !== state.head.logId;
  if (isOther && !commit.operations.every((operation) => isRepeated(state, commit, operation)))
    return refuse("other_log", { param: "logId" });
  const index = commit.operations.findIndex(({ readAt }) => readAt !== undefined && readAt > state.head.syncId);
  if (index >= 0) return at(commit, index, refuse("read_at_in_future", { param: "readAt" }));
  const read = commit.reads.findIndex(({ readAt }) => readAt > state.head.syncId);
  return read < 0 ? undefined : refuse("read_at_in_future", { param: `reads[${read}].readAt` });
}

/** A trial run of the commit: what it would write, and the reasons against it. */
interface Draft {
  readonly records: Map<string, RecordState | null>;
  readonly entries: NewEntry[];
  readonly missingIds: string[];
  readonly held: StaleNotification[];
  /** Position of an earlier, identical create that this commit repeats. */
  createdAt?: number;
  /** The first id that the server generated for it. */
  madeId?: string;
  /** Bytes of JSON that it would write. */
  bytes: number;
  exists?: Refusal;
  stale?: Refusal;
  tooLarge?: Refusal;
}

function draftCommit(state: TenantState, commit: CommitRequest): Draft {
  const draft: Draft = { records: new Map(), entries: [], missingIds: [], held: [], bytes: 0 };
  for (const [index, operation] of commit.operations.entries()) {
    if (isRepeated(state, commit, operation)) continue;
    if (operation.makesId) draft.madeId ??= operation.id;
    const { name, model } = state.models.get(operation.model) as { name: string; model: Model };
    const key = recordKey(operation.model, operation.id);
    const before = draft.records.has(key) ? (draft.records.get(key) ?? null) : (state.records.get(key) ?? null);
    if (operation.action === "create" && before !== null) {
      if (!isSameCreate(before, operation, model, commit))
        draft.exists ??= at(commit, index, refuse("already_exists", { param: "id" }));
      else draft.createdAt = before.createdSyncId;
      continue;
    }
    // Staleness is judged against the state before the commit: an operation does not conflict with operations of the
    // same commit.
    const collision = draft.records.has(key) ? undefined : collisionOf(state, commit, operation, model, before);
    if (collision && operation.onStale === "notify")
      draft.held.push({
        object: "stale_notification",
        model: name,
        id: operation.id,
        readAt: operation.readAt ?? 0,
        ...collision,
      });
    else if (collision && operation.onStale !== "overwrite") draft.stale ??= at(commit, index, refuse("stale_context"));
    const remains = before === null && operation.action === "erase" ? remainsOf(state, commit, key) : undefined;
    if (before === null && operation.action !== "create" && !remains) {
      if (!draft.missingIds.includes(operation.id)) draft.missingIds.push(operation.id);
      continue;
    }
    const tooLarge = write(state, commit, draft, operation, { key, before, model, remains });
    if (tooLarge) draft.tooLarge ??= at(commit, index, tooLarge);
    // Stop here: the rest of the commit would only use more memory.
    if (draft.bytes > state.bytes.commitBytes) {
      draft.tooLarge ??= tooLargeCommit(state.bytes.commitBytes);
      break;
    }
  }
  return draft;
}

function isSameCreate(record: RecordState, operation: CommitOperation, model: Model, commit: CommitRequest): boolean {
  const wanted = applyOperation(
    undefined,
    { action: "create", id: operation.id, data: operation.data as JsonObject },
    model,
    "",
  );
  return (
    record.createdBy === writerOf(commit).writtenBy &&
    record.syncId === record.createdSyncId &&
    jsonEqual(record.data, wanted?.data)
  );
}

function collisionOf(
  state: TenantState,
  commit: CommitRequest,
  operation: CommitOperation,
  model: Model,
  before: RecordState | null,
): Collision | undefined {
  if (operation.readAt === undefined || operation.onStale === "overwrite") return undefined;
  const key = recordKey(operation.model, operation.id);
  const newer = newerEntries(state, key, operation.readAt, writerOf(commit), commit.principal.scope);
  if (newer.length === 0) return undefined;
  return judgeStale({
    action: rowAction(operation.action),
    data: operation.data as JsonObject | undefined,
    conflict: model.conflict ?? "field",
    row: before?.data,
    newer,
  });
}

const VERB_OF = {
  create: "created",
  update: "updated",
  delete: "deleted",
  erase: "erased",
  archive: "archived",
  unarchive: "unarchived",
} as const satisfies Record<CommitOperation["action"], Verb>;

/**
 * The last entry of a deleted record whose values the log may still hold: an erase removes those too. Undefined if the
 * record never existed, was already erased, or was last in groups that the caller may not see.
 */
function remainsOf(state: TenantState, { principal: { scope } }: CommitRequest, key: string): FiledEntry | undefined {
  const last = state.history.get(key)?.at(-1);
  if (!last || last.verb === "erased") return undefined;
  return scope === undefined || isWithin(scope, last.groups) ? last : undefined;
}

interface WrittenRecord {
  readonly key: string;
  readonly before: RecordState | null;
  readonly model: Model;
  readonly remains: FiledEntry | undefined;
}

/** Adds the operation to the draft. Returns a refusal if the record would be too large. */
function write(
  state: TenantState,
  commit: CommitRequest,
  draft: Draft,
  operation: CommitOperation,
  { key, before, model, remains }: WrittenRecord,
): Refusal | undefined {
  const row = applyOperation(
    before ?? undefined,
    { action: rowAction(operation.action), id: operation.id, data: operation.data as JsonObject | undefined },
    model,
    state.now,
  );
  const changedFields = operation.action === "update" ? changed(before?.data ?? {}, row?.data ?? {}) : null;
  if (
    changedFields?.length === 0 ||
    (before && row && operation.action !== "update" && before.archivedAt === row.archivedAt)
  )
    return undefined;
  const text = row ? JSON.stringify(row.data) : null;
  const syncId = state.head.syncId + draft.entries.length + 1;
  const createdSyncId = before?.createdSyncId ?? syncId;
  const by = writerOf(commit).writtenBy;
  // A deletion keeps the record's last groups, so that their readers see a deletion and not a move to another group.
  const groups = row ? groupsOf(model, row.data) : (before?.groups ?? remains?.groups ?? []);
  const after: RecordState | null = row
    ? {
        syncId,
        data: row.data,
        bytes: text?.length ?? 0,
        archivedAt: row.archivedAt,
        groups,
        createdSyncId,
        createdBy: before?.createdBy ?? by,
        createdAt: before?.createdAt ?? state.now,
        updatedAt: state.now,
        updatedBy: by,
      }
    : null;
  draft.records.set(key, after);
  draft.bytes += text?.length ?? 0;
  draft.entries.push({
    syncId,
    model: operation.model,
    id: operation.id,
    verb: VERB_OF[operation.action],
    changedFields,
    transactionId: operation.transactionId ?? null,
    claim: operation.claim ?? null,
    groups,
    groupsBefore: before && !jsonEqual(before.groups, groups) ? before.groups : null,
    createdSyncId,
    after,
    text,
  });
  const writes = operation.action === "create" || operation.action === "update";
  return writes && text !== null ? checkRecordSize(text, state.recordBytes) : undefined;
}

/** The fields whose values differ. */
const changed = (before: JsonObject, after: JsonObject): readonly string[] =>
  Object.keys(after).filter((name) => !jsonEqual(before[name], after[name]));
