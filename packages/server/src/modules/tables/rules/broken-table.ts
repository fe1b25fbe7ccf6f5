import { ARCHIVED } from "./archived-column.ts";
import type { AttachedColumn, AttachedTable } from "./attached-table.ts";
import { sqlNameOf } from "./sql-name.ts";
import { takesType } from "./sql-type.ts";

/** What makes a table `broken`: it is not as its model says any more. In sentences that say what to do. */
export function faultsOf(table: AttachedTable): readonly string[] {
  const { name, model, sqlName, keyColumn, keyType, columns } = table;
  if (sqlName === "") return [`${name} is gone: detach it with "holdfast tables detach ${model} --drop".`];
  const gone = columns.filter(({ type }) => type === "").map((column) => column.name);
  return [
    ...(keyType === null ? [missingKey(table)] : []),
    ...(gone.length > 0 ? [missingColumns(table, gone)] : []),
    ...(keyType !== null && !table.keyIsUnique
      ? [`${name} has no primary key any more: run "alter table ${sqlName} add primary key (${sqlNameOf(keyColumn)})".`]
      : []),
    ...(table.hasRelatives
      ? [
          `${name} has become a partition, or has parents or children by inheritance: "holdfast tables inspect ${sqlName}" says what to do, then run "holdfast tables verify --repair".`,
        ]
      : []),
    ...columns.filter(isRetyped).map((column) => retypedColumn(table, column)),
    ...(table.silent.length > 0
      ? [
          `The triggers of ${table.silent.join(", ")} that capture changes are disabled, or gone: run "holdfast tables verify --repair", which enables them and records what was written without them.`,
        ]
      : []),
  ];
}

/** Why its changes cannot be recorded, or it takes no writes. Undefined: they can, and it does. */
export const problemOf = (table: AttachedTable): string | undefined => faultsOf(table)[0] ?? table.problem ?? undefined;

export const isRetyped = (column: AttachedColumn): boolean => column.type !== "" && !takesType(column);

type Named = Pick<AttachedTable, "name" | "model" | "sqlName" | "keyColumn" | "columns">;

export const missingKey = ({ name, model, keyColumn }: Named): string =>
  `${name} has no column ${keyColumn} any more, which is its key. Rename the column back, or run "holdfast tables detach ${model} --drop", and attach the table again.`;

export const missingColumns = (table: Named, missing: readonly string[]): string =>
  `${table.name} has no column ${missing.join(", ")} any more. Rename the column back, or ${follow(table, missing)}.`;

const retypedColumn = (table: Named, { name: column, type, field, declared }: AttachedColumn): string =>
  `${table.name}.${column} is now of type ${type}, and ${field === ARCHIVED ? "says when a record was archived" : `the field "${field}" of type ${declared}`}. Change the type back, or ${follow(table, [column])}.`;

/** The values that were captured are of another type than the column's now. */
export const mistypedValues = (name: string, columns: readonly string[]): string =>
  `Changes of ${name} were captured while ${columns.join(", ")} had another type: run "holdfast tables verify --repair".`;

/** A table may have another name by now. Of a column with an unusual name, `inspect` makes a field, and no record is archived. */
const follow = ({ name, sqlName, columns }: Named, changed: readonly string[]): string =>
  columns.some((column) => column.field === ARCHIVED && changed.includes(column.name))
    ? 'push the schema with the column in "table.archived" that says when a record was archived'
    : `push the schema that "holdfast tables inspect ${sqlName === "" ? name : sqlName}" prints`;
