import { type ErrorCode, operationParam } from "@holdfast/sdk/protocol";
import type { CommitRequest } from "../../../kernel/commits/rules/commit-request.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import { isOfField } from "./archived-column.ts";
import type { RowWrite } from "./row-writes.ts";

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
