import type { Statement } from "../../../kernel/connection/statement.ts";
import type { OrderedWrites } from "../rules/row-writes.ts";
import type { TableRefusal } from "../rules/table-refusal.ts";
import { CAPTURED, type ChangeRow, type NumberedChange, parsed } from "./captured-changes.ts";
import { parseRow } from "./row-text.ts";
import { writeStatement } from "./write-statement.ts";

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
  /** The number of the last change that was captured until then; null: the rows were written at once. */
  readonly upTo: number | null;
}

/** What the tables said to each commit, and what they made of rows that were written at once. */
export interface WrittenRows {
  readonly results: readonly WriteResult[];
  readonly changes: readonly NumberedChange[];
}

/** Writes the rows of several commits, each whole or not at all: see `holdfast.write_rows`. */
export const writeRows = (tenant: number, { atOnce, writes }: OrderedWrites): Statement<WrittenRows> => ({
  name: "write_rows",
  text: `select done, operation, state as sqlstate, message, of_constraint as "constraint", of_table as "table",
      of_column as "column", up_to as "upTo", keys, images, of_batches as batches
    from holdfast.write_rows($1, $2, $3, $4, $5, $6::bigint[]::oid[], $7, $8, $9, $10, $11)`,
  values: [
    tenant,
    atOnce ? firstOfBatches(writes).map(writeStatement) : null,
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
  read: (rows) => {
    const [first] = rows as unknown as readonly Made[];
    return { results: rows as WriteResult[], changes: first?.keys ? changesOfMade(first, writes) : [] };
  },
});

/** On the first line, of rows that were written at once: their keys, what they are now, and the batches they were in. */
type Made = WriteResult &
  Readonly<Record<"keys" | "images", readonly (string | null)[] | null> & { batches: readonly number[] | null }>;

const firstOfBatches = (writes: OrderedWrites["writes"]): OrderedWrites["writes"] =>
  writes.filter(({ batch }, i) => batch !== writes[i - 1]?.batch);

/** As if they had been captured. */
function changesOfMade({ keys, images, batches }: Made, writes: OrderedWrites["writes"]): NumberedChange[] {
  const tables = firstOfBatches(writes).map(({ table }) => table);
  return (keys ?? []).map((key, i): NumberedChange => {
    const { model, keyColumn } = tables[(batches?.[i] ?? 1) - 1] as (typeof tables)[number];
    const image = images?.[i];
    return {
      ...{ seq: i, tx: "", model, nested: false, present: null },
      before: image ? null : { [keyColumn]: key },
      after: image ? parseRow(image) : null,
    };
  });
}

/** Takes the changes that this transaction itself has made to a tenant's tables. */
export const takeOwnChanges = (tenant: number): Statement<NumberedChange[]> => ({
  name: "take_own_changes",
  text: `with taken as (
      delete from holdfast.captured_change where tenant = $1 and tx = pg_current_xact_id() returning *)
    select t.seq, ${CAPTURED} from taken t order by t.seq`,
  values: [tenant],
  read: (rows) => (rows as (ChangeRow & { seq: number })[]).map(parsed),
});
