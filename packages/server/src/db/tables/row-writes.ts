import type { OrderedWrites } from "../../rules/tables/row-writes.ts";
import type { TableRefusal } from "../../rules/tables/written-commit.ts";
import type { Statement } from "../connection/statement.ts";
import { CAPTURED, type ChangeRow, type NumberedChange, parsed } from "./captured-changes.ts";

/** A row that is there, and whether no other transaction has locked it. */
export interface FoundRow {
  readonly id: string;
  readonly free: boolean;
}

/** Locks the rows with these keys that no other transaction has locked. */
export const lockRows = (relation: number, keyColumn: string, ids: readonly string[]): Statement<FoundRow[]> => ({
  name: "lock_rows",
  text: "select id, free from holdfast.lock_rows($1, $2, $3)",
  values: [relation, keyColumn, ids],
  read: (rows) => rows as FoundRow[],
});

/** What the tables said to one commit. */
export interface WriteResult extends TableRefusal {
  readonly done: boolean;
  /** The number of the last change that was captured until then; null: each row's change is its commit's. */
  readonly upTo: number | null;
}

/** Writes the rows of several commits, each whole or not at all: see migration 21. */
export const writeRows = (tenant: number, { atOnce, writes }: OrderedWrites): Statement<WriteResult[]> => ({
  name: "write_rows",
  text: `select done, operation, state as sqlstate, message, of_constraint as "constraint", of_table as "table",
      of_column as "column", up_to as "upTo"
    from holdfast.write_rows($1, $2, $3, $4, $5, $6::bigint[]::oid[], $7, $8, $9, $10, $11)`,
  values: [
    tenant,
    atOnce,
    writes.map(({ batch }) => batch),
    writes.map(({ commit }) => commit),
    writes.map(({ operation }) => operation),
    writes.map(({ table }) => table.relation),
    writes.map(({ table }) => table.keyColumn),
    writes.map(({ action }) => action),
    writes.map(({ id }) => id),
    writes.map(({ names }) => names),
    writes.map(({ action, values }) => (action === "delete" ? null : JSON.stringify(values))),
  ],
  read: (rows) => rows as WriteResult[],
});

/** Takes the changes that this transaction itself has made to a tenant's tables. */
export const takeOwnChanges = (tenant: number): Statement<NumberedChange[]> => ({
  name: "take_own_changes",
  text: `with taken as (
      delete from holdfast.captured_change where tenant = $1 and tx = pg_current_xact_id() returning *)
    select t.seq, ${CAPTURED} from taken t order by t.seq`,
  values: [tenant],
  read: (rows) => (rows as (ChangeRow & { seq: number })[]).map(parsed),
});
