import { type ErrorCode, operationParam } from "@holdfast/sdk/protocol";
import { type CommitOperation, type CommitRequest, recordKey, rowAction } from "../commits/commit-request.ts";
import { entriesOf } from "../commits/dry-run.ts";
import { type CommitOutcome, confirmedReceipt } from "../commits/receipt.ts";
import type { Decision, TenantState } from "../commits/tenant-state.ts";
import { type Refusal, refuse } from "../refusal.ts";
import { isOfField } from "./archived-column.ts";
import type { RecordChange } from "./captured-changes.ts";
import { operationsOf } from "./captured-commit.ts";
import type { RowWrite } from "./row-writes.ts";

/** The decision about a commit that has happened elsewhere: its entries say what was made of it there. */
export function confirmedAsLeft(
  state: TenantState,
  commit: CommitRequest,
  changes: readonly RecordChange[],
  { missingIds, madeId }: Pick<CommitOutcome, "missingIds" | "madeId">,
): Decision {
  const entries = entriesOf(state, writtenCommit(commit, changes));
  const { logId, syncId } = state.head;
  const lastSyncId = entries.at(-1)?.syncId ?? syncId;
  return {
    kind: "confirmed",
    entries,
    receipt: confirmedReceipt(commit, { lastSyncId, logId, missingIds, madeId }),
  };
}

/**
 * A commit as it was taken elsewhere: the last operation on each row has what it left there, with what defaults and triggers
 * made of it. What triggers and foreign keys changed besides comes after; a change that an operation has already, changes
 * nothing.
 */
export function writtenCommit(commit: CommitRequest, changes: readonly RecordChange[]): CommitRequest {
  const left = new Map(changes.map((change) => [recordKey(change.model, change.id), change]));
  const last = new Map(
    commit.operations.flatMap((operation) => (writesRow(operation) ? [[keyOf(operation), operation] as const] : [])),
  );
  const operations = commit.operations.map((operation): CommitOperation => {
    const change = left.get(keyOf(operation));
    if (!change) return operation;
    if (!writesRow(operation))
      return operation.action === "archive" && change.archivedAt
        ? { ...operation, archivedAt: change.archivedAt }
        : operation;
    const isLast = last.get(keyOf(operation)) === operation;
    if (!isLast) return operation;
    const { changes: _, ...rest } = operation;
    return { ...rest, ...asLeft(rest, change), happened: true };
  });
  return { ...commit, operations: [...operations, ...changes.flatMap(operationsOf)] };
}

const keyOf = ({ model, id }: CommitOperation): string => recordKey(model, id);

const writesRow = ({ action }: CommitOperation): boolean => action !== "archive" && action !== "unarchive";

function asLeft(
  { action }: CommitOperation,
  { data, unreadable }: RecordChange,
): Pick<CommitOperation, "action" | "data" | "unreadable"> {
  if (data === null) return { action: rowAction(action) === "delete" ? action : "delete" };
  return { action: action === "create" ? "create" : "update", data, ...(unreadable !== undefined && { unreadable }) };
}

/** Why a table did not take a commit. */
export interface TableRefusal {
  /** Index of the operation, if one was refused and not the commit as a whole. */
  readonly operation: number | null;
  readonly sqlstate: string;
  readonly message: string;
  readonly constraint: string;
  readonly table: string;
  readonly column: string;
}

const LONGEST_MESSAGE = 1_000;
/** Postgres' own names are shorter; `raise` can give any. */
const LONGEST_NAME = 255;

const cut = (text: string, length: number): string => text.slice(0, length).toWellFormed();

/**
 * What says nothing about the commit: the time ran out, or the database, its disk or a server that a trigger asks is not
 * there. XX000 is not among it: extensions use it for values that they do not accept.
 */
function outageOf({ sqlstate, message }: Pick<TableRefusal, "sqlstate" | "message">): ErrorCode | undefined {
  if (sqlstate === "53100") return "storage_full";
  if (sqlstate === "42501" && OF_FILE.test(message)) return "unavailable";
  if (sqlstate === "57014" || sqlstate.startsWith("53")) return "overloaded";
  return /^(08|57P|58|XX00[12])/.test(sqlstate) ? "unavailable" : undefined;
}

/**
 * Of a disk that became read-only, Postgres says what it says of a missing privilege. Only the path tells them apart, in
 * any language: "could not open file "base/16384/16389": Read-only file system".
 */
const OF_FILE = /"(base|global|pg_tblspc|pg_wal|pg_xact)\/[^"]*\d/;

/** The refusal that the caller sees. Postgres' details are left out: they can have other rows' values. */
export function tableRefusal(
  commit: CommitRequest,
  writes: readonly RowWrite[],
  { operation, sqlstate, message, constraint, table, column }: TableRefusal,
): Refusal {
  const outage = outageOf({ sqlstate, message });
  if (outage !== undefined) return refuse(outage);
  const write = writes.find((one) => one.operation === operation);
  const field = write?.table.columns.filter(isOfField).find(({ name }) => column !== "" && name === column)?.field;
  const data = field === undefined ? undefined : `data.${field}`;
  const param = operation === null || commit.single ? data : operationParam(operation, data);
  const names = Object.entries({ constraint, table, column }).filter(([, name]) => name !== "");
  const source = { sqlstate, ...Object.fromEntries(names.map(([kind, name]) => [kind, cut(name, LONGEST_NAME)])) };
  // A unique constraint of another table, which a trigger writes, says nothing about the records.
  const isTaken = sqlstate === UNIQUE_VIOLATION && writes.some((one) => isNamed(one.table.name, table));
  return refuse(isTaken ? "not_unique" : "source_refused", {
    message: isTaken
      ? `Another row of ${table} has the value (${cut(constraint, LONGEST_NAME)}).`
      : cut(message, LONGEST_MESSAGE),
    source,
    ...(param !== undefined && { param }),
  });
}

const UNIQUE_VIOLATION = "23505";

/** Whether a table with its schema, as SQL spells it, has this name. */
const isNamed = (spelled: string, table: string): boolean =>
  spelled.endsWith(`.${table}`) || spelled.endsWith(`."${table.replaceAll('"', '""')}"`);
