import { type Json, type JsonObject, ownValue } from "@holdfast/sdk/protocol";
import { type CommitOperation, type CommitRequest, recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { NewEntry } from "../../../kernel/commits/rules/tenant-state.ts";
import { archivedOf } from "./archived-column.ts";
import type { AttachedTable } from "./attached-table.ts";

/** One row to insert, update or delete. */
export interface RowWrite {
  /** Index of the operation in its commit. */
  readonly operation: number;
  readonly table: AttachedTable;
  readonly action: "insert" | "update" | "delete";
  readonly id: string;
  /** The columns to write with their values. Those that a create does not give get the table's own defaults. */
  readonly values: Readonly<Record<string, Json>>;
}

/** What the entries of a judged commit mean for the rows of attached tables. */
export function rowWrites(
  { operations }: CommitRequest,
  entries: readonly NewEntry[],
  attached: ReadonlyMap<string, AttachedTable>,
): readonly RowWrite[] {
  let next = 0;
  return entries.flatMap((entry): RowWrite[] => {
    // Entries are in the order of the operations; one that changes nothing has none.
    const operation = operations.findIndex((one, i) => i >= next && isOf(one, entry));
    next = operation + 1;
    const table = attached.get(entry.model);
    const action = table && rowActionOf(table, entry.verb);
    if (!table || !action) return [];
    const fields = fieldsToWrite(operations[operation], entry);
    return [{ operation, table, action, id: entry.id, values: valuesOf(table, entry, fields) }];
  });
}

/** Undefined: whether a record is archived, most tables do not say. */
const rowActionOf = ({ columns }: AttachedTable, verb: NewEntry["verb"]): RowWrite["action"] | undefined =>
  (verb === "archived" || verb === "unarchived") && !archivedOf(columns) ? undefined : ROW_ACTIONS[verb];

const ROW_ACTIONS: Readonly<Record<NewEntry["verb"], RowWrite["action"]>> = {
  created: "insert",
  updated: "update",
  archived: "update",
  unarchived: "update",
  deleted: "delete",
  erased: "delete",
};

const isOf = ({ model, id }: CommitOperation, entry: NewEntry): boolean =>
  recordKey(model, id) === recordKey(entry.model, entry.id);

function fieldsToWrite(operation: CommitOperation | undefined, { verb, changedFields, filledFields }: NewEntry) {
  // A table does not know the writer.
  if (verb === "created") return [...Object.keys((operation?.data as JsonObject | undefined) ?? {}), ...filledFields];
  return changedFields ?? [];
}

function valuesOf({ keyColumn, columns }: AttachedTable, { verb, id, after }: NewEntry, fields: readonly string[]) {
  const archived = archivedOf(columns);
  if (archived && (verb === "archived" || verb === "unarchived")) return { [archived.name]: after?.archivedAt ?? null };
  const written = columns.filter(({ field }) => fields.includes(field));
  return Object.fromEntries([
    ...(verb === "created" ? [[keyColumn, id] as const] : []),
    ...written.map(({ field, name }) => [name, ownValue(after?.data, field) ?? null] as const),
  ]);
}

/** The writes of several commits, in order, as the database gets them. */
export interface OrderedWrites {
  /** One statement for several rows has the same effect as one for each. */
  readonly atOnce: boolean;
  readonly writes: readonly (RowWrite & {
    /** Index of the commit. */
    readonly commit: number;
    /** Neighbours that one statement can write have the same. */
    readonly batch: number;
    /** The columns as a JSON array. */
    readonly names: string;
  })[];
}

export function orderWrites(commits: readonly (readonly RowWrite[])[]): OrderedWrites {
  let batch = 0;
  let before = "";
  const writes = commits.flatMap((own, commit) =>
    own.map((write) => {
      const names = JSON.stringify(Object.keys(write.values));
      const kind = `${write.action} ${write.table.relation} ${names}`;
      if (kind !== before) batch += 1;
      before = kind;
      return { ...write, commit, batch, names };
    }),
  );
  const rows = new Set(writes.map(({ table, id }) => recordKey(table.model, id)));
  return { atOnce: rows.size === writes.length && writes.every(({ table }) => !table.actsBeyond), writes };
}
