import type { Field, Model, ModelTable } from "@holdfast/sdk/protocol";
import { archivedColumn, isMomentColumn } from "./archived-column.ts";
import type { FieldColumn } from "./attached-table.ts";
import type { CatalogColumn, CatalogTable } from "./catalog-table.ts";
import { columnField } from "./column-field.ts";
import { columnOf } from "./column-of.ts";
import { sqlNameOf } from "./sql-name.ts";
import { tableProblem } from "./table-problem.ts";

/** Where a model and its table's catalog disagree, and what to do. */
export interface Disagreement {
  /** The part of the model: `fields.title`. Undefined: the table as a whole. */
  readonly part?: string;
  readonly message: string;
}

/** The columns of a model's fields. */
export interface FittingModel {
  readonly columns: readonly FieldColumn[];
  /** In sentences: null can be where the model has none, or cannot be where it has. Triggers may see to it. */
  readonly notes: readonly string[];
}

/** The first disagreement between an attached model and its table, or the columns of its fields. */
export function compareModel(
  { table: declared, fields }: Model & { readonly table: ModelTable },
  table: CatalogTable,
): FittingModel | Disagreement {
  const problem = tableProblem(table);
  if (problem !== undefined) return { message: problem };
  const taken = new Map<string, string>();
  const columns: FieldColumn[] = [];
  const notes: string[] = [];
  for (const [field, type] of Object.entries(fields)) {
    if (field === "id") continue;
    const name = columnOf(declared, field);
    const other = taken.get(name);
    const column = table.columns.find((one) => one.name === name);
    const message = !column
      ? `${table.sqlName} has no column ${name}: name the column of "${field}" in "table.columns", or add it to the table.`
      : other !== undefined
        ? `"${other}" and "${field}" both name the column ${table.sqlName}.${name}: remove one field.`
        : name === declared.key
          ? `${table.sqlName}.${name} is the record's id: remove the field.`
          : disagreementOf(field, type, column, table);
    if (message !== undefined) return { part: `fields.${field}`, message };
    taken.set(name, field);
    columns.push({ field, name, declared: type.type });
    if (column) notes.push(...notesOnNull(field, type, column, table));
  }
  const { archived } = declared;
  if (archived === undefined) return { columns, notes };
  const message = archivedFault(archived, declared, table, taken.get(archived));
  return message === undefined
    ? { columns: [...columns, archivedColumn(archived)], notes }
    : { part: "table.archived", message };
}

/** Why a column cannot say since when a record is archived. */
function archivedFault(name: string, { key }: ModelTable, table: CatalogTable, taken: string | undefined) {
  const column = table.columns.find((one) => one.name === name);
  const at = `${table.sqlName}.${name}`;
  if (!column)
    return `${table.sqlName} has no column ${name}: name another one in "table.archived", or add it to the table.`;
  if (name === key) return `${at} is the record's id: name another column in "table.archived".`;
  if (taken !== undefined)
    return `"${taken}" names the column ${at}, which says when a record was archived: remove the field, and read $archivedAt.`;
  if (!isMomentColumn(column))
    return `${at} is ${sqlTypeOf(column)}: "table.archived" takes a column of timestamptz, timestamp or date.`;
  if (column.generated !== null)
    return `${at} is generated, so records could not be archived: name another column in "table.archived".`;
  return column.notNull
    ? `${at} cannot be null, so every record would be archived: run "alter table ${table.sqlName} alter column ${sqlNameOf(name)} drop not null".`
    : undefined;
}

function disagreementOf(name: string, field: Field, column: CatalogColumn, table: CatalogTable): string | undefined {
  const read = columnField(column, table.checks);
  const at = `${table.sqlName}.${column.name}`;
  if ("leftOut" in read) return `${read.leftOut} Remove the field "${name}".`;
  const found = read.field;
  if (!takes(field, found, column))
    return `"${name}" is of type ${field.type}, but ${at} is ${sqlTypeOf(column)}: declare it as ${typeOf(found)}.`;
  const more = (found.values ?? []).filter((value) => field.type === "enum" && !field.values?.includes(value));
  if (more.length > 0) return `${at} can be ${listed(more)}: add that to the values of "${name}".`;
  const less = (field.values ?? []).filter((value) => found.type === "enum" && !found.values?.includes(value));
  if (less.length > 0)
    return `${at} cannot be ${listed(less)}: remove that from the values of "${name}", or add it to the table's.`;
  return undefined;
}

function notesOnNull(name: string, field: Field, { name: column, notNull }: CatalogColumn, { sqlName }: CatalogTable) {
  if (!notNull === (field.nullable === true)) return [];
  const alter = (act: string) => `run "alter table ${sqlName} alter column ${sqlNameOf(column)} ${act} not null"`;
  return [
    notNull
      ? `${sqlName}.${column} cannot be null, but "${name}" is nullable: remove "nullable", or ${alter("drop")}.`
      : `${sqlName}.${column} can be null, but "${name}" is not nullable: add "nullable": true, or ${alter("set")}.`,
  ];
}

/**
 * Whether every value of the column fits the field. What an `enum` of a text column may be, and whether JSON is a list, only
 * the model says.
 */
function takes(field: Field, found: Field, { type, isArray }: CatalogColumn): boolean {
  if (field.type === found.type) return true;
  if (field.type === "number") return !isArray && (found.type === "integer" || type === "numeric");
  if (field.type === "enum") return found.type === "string" && ["text", "varchar"].includes(type);
  if (field.type === "array") return found.type === "json";
  return field.type === "string" && found.type === "enum";
}

const typeOf = ({ type, values }: Field): string => (values ? `${type} of ${listed(values)}` : type);

const sqlTypeOf = ({ type, isArray, labels }: CatalogColumn): string =>
  `${labels ? "an enum" : type}${isArray ? "[]" : ""}`;

const listed = (values: readonly string[]): string => values.map((value) => `"${value}"`).join(", ");

/** An index of the table, by its first column, or one of its columns if it is a GIN index. */
export interface CatalogIndex {
  readonly column: string;
  /** It is in the order of code points, as lists are. */
  readonly isByCodePoint: boolean;
  /** It finds the items of a list, and has no order. */
  readonly isGin: boolean;
}

/** An index that a model declares and its table lacks, and the statement that creates it. */
export interface MissingIndex {
  readonly field: string;
  readonly statement: string;
}

export function missingIndexes(
  { table, fields }: Model & { readonly table: ModelTable },
  sqlName: string,
  columns: readonly CatalogColumn[],
  indexes: readonly CatalogIndex[],
): readonly MissingIndex[] {
  return Object.entries(fields).flatMap(([field, { index, type }]) => {
    const column = columns.find(({ name }) => name === columnOf(table, field));
    if (!index || !column || column.isObject || type === "json") return [];
    const own = indexes.filter((one) => one.column === column.name);
    const [name, key] = [column.name, table.key].map(sqlNameOf);
    if (type === "array")
      return own.some(({ isGin }) => isGin) || !(column.isArray ? ITEMS : JSONB).has(column.type)
        ? []
        : [{ field, statement: `create index on ${sqlName} using gin (${name})` }];
    const isText = TEXTS.has(column.type);
    if (own.some((one) => !one.isGin && (!isText || one.isByCodePoint))) return [];
    return [{ field, statement: `create index on ${sqlName} (${isText ? `(${name} collate "C")` : name}, ${key})` }];
  });
}

/** Elements that a GIN index finds by their values in JSON. */
const ITEMS: ReadonlySet<string> = new Set(["text", "varchar", "uuid", "int2", "int4", "int8"]);
const JSONB: ReadonlySet<string> = new Set(["jsonb"]);
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "citext", "name"]);
