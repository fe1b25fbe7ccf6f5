import type { AttachedColumn, AttachedTable } from "./attached-table.ts";
import { takesColumn } from "./sql-type.ts";

/** What makes a table `broken`: it is not as its model says any more. In sentences that say what to do. */
export function faultsOf(table: AttachedTable): readonly string[] {
  const { name, sqlName, keyColumn, keyType, columns } = table;
  if (sqlName === "") return [`${name} is gone: detach it with "holdfast tables detach ${table.model} --drop".`];
  const gone = columns.filter(({ type }) => type === "").map((column) => column.name);
  const missing = [...(keyType === null ? [keyColumn] : []), ...gone];
  return [
    ...(missing.length > 0 ? [missingColumns(name, missing)] : []),
    ...(keyType !== null && !table.keyIsUnique
      ? [`${name} has no primary key any more: run "alter table ${sqlName} add primary key (${keyColumn})".`]
      : []),
    ...(table.hasRelatives
      ? [
          `${name} has become a partition, or has parents or children by inheritance: "holdfast tables inspect ${name}" says what to do, then run "holdfast tables verify --repair".`,
        ]
      : []),
    ...columns.filter(isRetyped).map((column) => retypedColumn(name, column)),
  ];
}

/** Why its changes cannot be recorded, or it takes no writes. Undefined: they can, and it does. */
export const problemOf = (table: AttachedTable): string | undefined => faultsOf(table)[0] ?? table.problem ?? undefined;

export const isRetyped = ({ declared, type }: AttachedColumn): boolean => type !== "" && !takesColumn(declared, type);

export const missingColumns = (name: string, missing: readonly string[]): string =>
  `${name} has no column ${missing.join(", ")} any more. Give it its name back, or ${FOLLOW(name)}.`;

const retypedColumn = (name: string, { name: column, type, field, declared }: AttachedColumn): string =>
  `${name}.${column} is of the type ${type} now, and the field "${field}" of the type ${declared}. Change the type back, or ${FOLLOW(name)}.`;

/** The values that were captured are of another type than the column's now. */
export const mistypedValues = (name: string, columns: readonly string[]): string =>
  `Changes of ${name} were captured while ${columns.join(", ")} had another type: run "holdfast tables verify --repair".`;

const FOLLOW = (name: string): string => `push the schema that "holdfast tables inspect ${name}" prints`;
