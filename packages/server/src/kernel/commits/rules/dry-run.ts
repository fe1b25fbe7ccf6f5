import {
  applyOperation,
  changedValues,
  type FieldChanges,
  type Json,
  type JsonObject,
  jsonEqual,
  type Model,
  operationParam,
  ownValue,
  type StaleNotification,
  type Verb,
} from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import { groupsOf } from "../../schema/rules/sync-group.ts";
import { isVisible, isWithin } from "../../tokens/rules/scope.ts";
import { checkChanged } from "./check-payload.ts";
import { checkRecordRules } from "./check-record-rules.ts";
import { checkRecordSize } from "./check-record-size.ts";
import { tooLargeCommit } from "./commit-bytes.ts";
import {
  type CommitOperation,
  type CommitRequest,
  momentOf,
  recordKey,
  rowAction,
  stepOf,
  writerOf,
} from "./commit-request.ts";
import { filledFields } from "./filled-fields.ts";
import { type Dependent, dependentsOf, MOST_DEPENDENTS, type Restriction } from "./follow-deletes.ts";
import { isRepeated } from "./replay.ts";
import { judgeStale, policyOf, type StaleConflict } from "./stale.ts";
import { unreadableData } from "./stored-entry.ts";
import {
  type FiledEntry,
  firstOf,
  judgeByModules,
  type NewEntry,
  newerEntries,
  type RecordState,
  type TenantState,
} from "./tenant-state.ts";

/** A dry run of the commit: what it would write, and the reasons against it. */
export interface DryRun {
  readonly records: Map<string, RecordState | null>;
  readonly entries: NewEntry[];
  readonly missingIds: string[];
  readonly conflicts: StaleNotification[];
  /** Position of an earlier, identical create that this commit repeats. */
  createdAt?: number;
  /** The first id that the server generated for it. */
  madeId?: string;
  /** Bytes of JSON that it would write. */
  bytes: number;
  exists?: Refusal;
  stale?: Refusal;
  /** A record would be too large, a changed field would break its type, or a rule is broken. */
  unfit?: Refusal;
  /** Records that reference deleted ones cannot be changed with them. */
  unkept?: Refusal;
  /** What holds the records that it deletes. */
  readonly restrictions: Restriction[];
}

/** `breaks`: refuses an operation on a record that breaks a rule. */
export function dryRunCommit(
  state: TenantState,
  commit: CommitRequest,
  breaks: typeof checkRecordRules = checkRecordRules,
): DryRun {
  const dryRun: DryRun = { records: new Map(), entries: [], missingIds: [], conflicts: [], bytes: 0, restrictions: [] };
  for (const [index, operation] of commit.operations.entries()) {
    if (isRepeated(state, commit, operation)) continue;
    if (operation.makesId) dryRun.madeId ??= operation.id;
    const { name, model } = state.models.get(operation.model) as { name: string; model: Model };
    const key = recordKey(operation.model, operation.id);
    const before = dryRun.records.has(key) ? (dryRun.records.get(key) ?? null) : (state.records.get(key) ?? null);
    if (operation.action === "create" && before !== null) {
      if (!isSameCreate(state, before, operation, model, commit))
        dryRun.exists ??= at(commit, index, refuse("already_exists", { param: "id" }));
      else dryRun.createdAt = before.createdSyncId;
      continue;
    }
    // Staleness is judged against the state before the commit: an operation does not conflict with operations of the
    // same commit.
    const conflict = dryRun.records.has(key) ? undefined : conflictOf(state, commit, operation, model, before);
    if (conflict && policyOf(operation) === "notify")
      dryRun.conflicts.push({
        object: "stale_notification",
        model: name,
        id: operation.id,
        readAt: operation.readAt ?? 0,
        ...conflict,
      });
    else if (conflict) dryRun.stale ??= at(commit, index, refuse("stale_context"));
    const remains = before === null && operation.action === "erase" ? remainsOf(state, commit, key) : undefined;
    if (before === null && operation.action !== "create" && !remains) {
      if (!dryRun.missingIds.includes(operation.id)) dryRun.missingIds.push(operation.id);
      continue;
    }
    const values = before && operation.changes && newValues(before.data, operation.changes, model);
    const replaced = operation.action === "create" ? (state.records.get(key) ?? null) : null;
    const unfit =
      (values && checkChanged(model, values)) ??
      breaks(
        commit.principal,
        { name, model },
        operation,
        replaced ?? before,
        replaced
          ? applyOperation(undefined, stepOf(operation), model, momentOf(state, commit))?.data
          : (values ?? undefined),
      );
    if (unfit) {
      dryRun.unfit ??= at(commit, index, unfit);
      continue;
    }
    const tooLarge = write(state, commit, dryRun, values ? withValues(operation, values) : operation, {
      key,
      before,
      model,
      remains,
    });
    if (tooLarge) dryRun.unfit ??= at(commit, index, tooLarge);
    // Stop here: the rest of the commit would only use more memory.
    if (dryRun.bytes > state.bytes.commitBytes) {
      dryRun.unfit ??= tooLargeCommit(state.bytes.commitBytes);
      break;
    }
  }
  followDeletes(state, commit, dryRun);
  return dryRun;
}

/** The entries of changes that have already happened. Nothing is checked: no scope, claim, conflict, type or size. */
export function entriesOf(state: TenantState, commit: CommitRequest): readonly NewEntry[] {
  const known = new Set<string>();
  const operations = commit.operations.map((operation) => {
    const { action, model, id, happened } = operation;
    const key = recordKey(model, id);
    const isNew = happened && action === "update" && !known.has(key) && !state.records.get(key);
    if (isNew || action === "create") known.add(key);
    return { ...operation, onStale: "overwrite" as const, action: isNew ? ("create" as const) : action };
  });
  const unbounded = { ...state, bytes: { ...state.bytes, commitBytes: Number.MAX_SAFE_INTEGER } };
  return dryRunCommit(unbounded, { ...commit, operations }, () => undefined).entries;
}

/** `data.title` on a single-record route, `operations[6].data.title` in a batch. */
export const at = (commit: CommitRequest, index: number, refusal: Refusal): Refusal =>
  commit.single ? refusal : { ...refusal, param: operationParam(index, refusal.param) };

/** Changes the records that reference deleted ones, and those that reference what that deletes, and so on. */
function followDeletes(state: TenantState, commit: CommitRequest, dryRun: DryRun): void {
  if (state.values.declared.referencing.size === 0) return;
  for (let count = 0, from = 0; ; ) {
    const gone = new Map(
      dryRun.entries.slice(from).flatMap((entry) => {
        const key = recordKey(entry.model, entry.id);
        return dryRun.records.get(key) === null && state.records.get(key) ? [[key, entry]] : [];
      }),
    );
    from = dryRun.entries.length;
    if (gone.size === 0 || dryRun.unkept || dryRun.unfit) return;
    const { changes, restrictions, isTooLarge } = dependentsOf(state, dryRun.records, [...gone.values()]);
    dryRun.restrictions.push(...restrictions);
    count += changes.length;
    if (isTooLarge || dryRun.bytes > state.bytes.commitBytes) dryRun.unkept = tooLargeCommit(state.bytes.commitBytes);
    else if (count > MOST_DEPENDENTS) dryRun.unkept = refuse("too_many_dependents");
    else
      for (const dependent of changes) {
        const unkept = changeDependent(state, commit, dryRun, dependent);
        if (unkept) dryRun.unkept ??= unkept;
      }
  }
}

/**
 * A claim of another participant on the record holds here, too: its holder relies on it. A deleter who may not see the
 * record is told only that something is claimed.
 */
function changeDependent(
  state: TenantState,
  commit: CommitRequest,
  dryRun: DryRun,
  { operation, before }: Dependent,
): Refusal | undefined {
  const { model } = state.models.get(operation.model) as { model: Model };
  const key = recordKey(operation.model, operation.id);
  const claimed = judgeByModules(state, commit, operation);
  if (!claimed) return write(state, commit, dryRun, operation, { key, before, model, remains: undefined });
  return isVisible(commit.principal.scope, operation.model, before.groups)
    ? claimed
    : refuse(claimed.code, {
        message: "Another participant has claimed a record that would change with the deleted one.",
      });
}

/** What changes make of a record, once: an array can be as large as the record. Fields that stay the same are left out. */
const newValues = (before: JsonObject, changes: FieldChanges, model: Model): JsonObject =>
  Object.fromEntries(
    Object.entries(changedValues(before, changes, model)).filter(([name, value]) => value !== ownValue(before, name)),
  );

function withValues({ changes: _, ...operation }: CommitOperation, values: JsonObject): CommitOperation {
  return { ...operation, data: { ...operation.data, ...values } };
}

function isSameCreate(
  state: TenantState,
  record: RecordState,
  operation: CommitOperation,
  model: Model,
  commit: CommitRequest,
): boolean {
  const given = operation.data as JsonObject;
  // What the server filled in is what it was then.
  const filled = filledFields(model, given).filter((field) => Object.hasOwn(record.data, field));
  const data = {
    ...given,
    ...Object.fromEntries(filled.map((field) => [field, ownValue(record.data, field) as Json])),
  };
  const wanted = applyOperation(
    undefined,
    { action: "create", id: operation.id, data },
    model,
    momentOf(state, commit),
  );
  return (
    record.createdBy === writerOf(commit).writtenBy &&
    record.syncId === record.createdSyncId &&
    (firstOf(state, ({ fillsRecords }) => fillsRecords?.(operation.model) || undefined)
      ? Object.entries(wanted?.data ?? {}).every(([field, value]) => jsonEqual(ownValue(record.data, field), value))
      : jsonEqual(record.data, wanted?.data))
  );
}

function conflictOf(
  state: TenantState,
  commit: CommitRequest,
  operation: CommitOperation,
  model: Model,
  before: RecordState | null,
): StaleConflict | undefined {
  if (operation.readAt === undefined || policyOf(operation) === "overwrite") return undefined;
  const key = recordKey(operation.model, operation.id);
  // A reviewer is asked about their own changes too: the author of the proposal has not seen them.
  const writer = commit.decides ? { ...writerOf(commit), clientId: null } : writerOf(commit);
  const newer = newerEntries(state, key, operation.readAt, writer, commit.principal.scope);
  if (newer.length === 0) return undefined;
  return judgeStale({
    action: rowAction(operation.action),
    data: operation.data as JsonObject | undefined,
    changes: operation.changes,
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

/** Adds the operation to the dry run. Returns a refusal if the record would be too large. */
function write(
  state: TenantState,
  commit: CommitRequest,
  dryRun: DryRun,
  operation: CommitOperation,
  { key, before, model, remains }: WrittenRecord,
): Refusal | undefined {
  const moment = momentOf(state, commit);
  const { archivedAt: now = moment.now, unreadable } = operation;
  const at = operation.action === "archive" ? { ...moment, now } : moment;
  const row = applyOperation(before ?? undefined, stepOf(operation), model, at);
  const changedFields =
    operation.action === "update" && unreadable === undefined ? changed(before?.data ?? {}, row?.data ?? {}) : null;
  if (
    changedFields?.length === 0 ||
    (before && row && operation.action !== "update" && before.archivedAt === row.archivedAt)
  )
    return undefined;
  const text = row ? (unreadable === undefined ? JSON.stringify(row.data) : unreadableData(unreadable)) : null;
  const syncId = state.head.syncId + dryRun.entries.length + 1;
  const createdSyncId = before?.createdSyncId ?? syncId;
  const by = writerOf(commit).writtenBy;
  // A deletion keeps the record's last groups, so that their readers see a deletion and not a move to another group.
  // So do those of a record whose values cannot be read.
  const groups = row && !(unreadable && before) ? groupsOf(model, row.data) : (before?.groups ?? remains?.groups ?? []);
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
  dryRun.records.set(key, after);
  dryRun.bytes += text?.length ?? 0;
  dryRun.entries.push({
    syncId,
    model: operation.model,
    id: operation.id,
    verb: VERB_OF[operation.action],
    changedFields,
    filledFields: operation.action === "create" ? filledFields(model, operation.data as JsonObject) : [],
    transactionId: operation.transactionId ?? null,
    claim: operation.claim ?? null,
    groups,
    groupsBefore: before && !jsonEqual(before.groups, groups) ? before.groups : null,
    createdSyncId,
    dataBefore: operation.action === "update" || operation.action === "delete" ? valuesOf(before) : undefined,
    after,
    text,
  });
  const writes = operation.action === "create" || operation.action === "update";
  return writes && text !== null ? checkRecordSize(text, state.recordBytes) : undefined;
}

/** Undefined: a delete needs no values to be judged, and these were large. */
function valuesOf(before: RecordState | null): JsonObject | null | undefined {
  if (!before) return null;
  return before.bytes === "not read" ? undefined : before.data;
}

/** The fields whose values differ. */
const changed = (before: JsonObject, after: JsonObject): readonly string[] =>
  Object.keys(after).filter((name) => !jsonEqual(ownValue(before, name), ownValue(after, name)));
