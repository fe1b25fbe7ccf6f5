import type { Field, Model } from "@holdfast/sdk/protocol";
import { archivedColumn, usualArchivedColumn } from "./archived-column.ts";
import type { FieldColumn } from "./attached-table.ts";
import type { CatalogColumn, CatalogTable } from "./catalog-table.ts";
import { columnField } from "./column-field.ts";
import { snakeCase } from "./column-of.ts";
import { camelCase, isSchemaName, modelNameOf } from "./schema-name.ts";
import { tableProblem } from "./table-problem.ts";

/** A table with the model that it gets, or with what has to be done before it can be attached. */
export type DerivedTable =
  | {
      readonly table: CatalogTable;
      readonly modelName: string;
      readonly model: Model;
      readonly columns: readonly FieldColumn[];
      readonly keyColumn: string;
      /** What differs between a column and its field, in sentences. */
      readonly notes: readonly string[];
    }
  | { readonly table: CatalogTable; readonly problem: string };

export interface DeriveOptions {
  /** Names for models, by the table's SQL name or as it was given. The others are named by `modelNameOf`. */
  readonly modelNames?: ReadonlyMap<string, string>;
}

/** The models of tables, one for each. A referenced model comes before those that reference it. */
export function deriveModels(
  tables: readonly CatalogTable[],
  { modelNames = new Map() }: DeriveOptions = {},
): DerivedTable[] {
  const nameOf = ({ sqlName, asked, name }: CatalogTable): string =>
    modelNames.get(sqlName) ?? modelNames.get(asked) ?? modelNameOf(name);
  const taken = new Map<string, string>();
  const judged = tables.map((table) => {
    const name = nameOf(table);
    const problem = tableProblem(table) ?? nameProblem(name, taken) ?? columnProblem(table, name);
    if (problem === undefined) taken.set(name.toLowerCase(), table.sqlName);
    return { table, modelName: name, problem };
  });
  const attachable = judged.filter(({ problem }) => problem === undefined);
  /** The model whose ids a column has. */
  const referenced = (table: CatalogTable, { name }: CatalogColumn): string | undefined => {
    const keys = table.foreignKeys.filter(({ column }) => column === name);
    return attachable.find((other) =>
      keys.some((key) => key.table === other.table.sqlName && key.otherColumn === keyOf(other.table)),
    )?.modelName;
  };
  return referencedFirst(
    judged.map(({ table, modelName, problem }) =>
      problem === undefined
        ? { table, modelName, ...modelOf(table, modelName, (column) => referenced(table, column)) }
        : { table, problem },
    ),
  );
}

/** A schema with a reference to no model is refused, so tables are attached in this order. */
function referencedFirst(all: readonly DerivedTable[]): DerivedTable[] {
  const seen = new Set<DerivedTable>();
  const ordered: DerivedTable[] = [];
  const add = (one: DerivedTable) => {
    if (seen.has(one)) return;
    seen.add(one);
    const references = "model" in one ? Object.values(one.model.fields).map((field) => field.references) : [];
    for (const other of all) if ("model" in other && references.includes(other.modelName)) add(other);
    ordered.push(one);
  };
  for (const one of all) add(one);
  return ordered;
}

const keyOf = ({ primaryKey }: CatalogTable): string => primaryKey[0] ?? "";

/** A record's id is its key. Another column called id is there under another name. */
function fieldNameOf({ name }: CatalogColumn, modelName: string): string {
  const field = camelCase(name);
  return field === "id" ? `${modelName}Id` : field;
}

function modelOf(table: CatalogTable, modelName: string, referenced: (column: CatalogColumn) => string | undefined) {
  const key = keyOf(table);
  const fields: Record<string, Field> = {};
  const renamed: Record<string, string> = {};
  const columns: FieldColumn[] = [];
  const notes = tableNotes(table);
  const byNumber: string[] = [];
  const archived = usualArchivedColumn(table.columns.filter(({ name }) => name !== key));
  for (const column of table.columns) {
    if (column.name === key || column === archived) continue;
    const read = columnField(column, table.checks);
    if ("leftOut" in read) {
      notes.push(read.leftOut);
      continue;
    }
    const name = fieldNameOf(column, modelName);
    if (name !== camelCase(column.name))
      notes.push(`${column.name}: its field is "${name}", because a record's id is the key (${key}).`);
    const other = referenced(column);
    const references = read.field.type === "string" ? other : undefined;
    fields[name] = references === undefined ? read.field : { ...read.field, references };
    if (other !== undefined && references === undefined) byNumber.push(name);
    if (snakeCase(name) !== column.name) renamed[name] = column.name;
    columns.push({ field: name, name: column.name, declared: read.field.type });
    notes.push(...read.notes);
  }
  if (byNumber.length > 0)
    notes.push(
      `${byNumber.join(", ")}: numbers that reference other models. Ids are strings: use get(String(${byNumber[0]})).`,
    );
  if (archived) {
    columns.push(archivedColumn(archived.name));
    notes.push(
      `A record is archived while ${archived.name} is not null. To have it as a field instead, push the schema with the field, and without "archived".`,
    );
  }
  const model: Model = {
    fields,
    table: {
      ...{ name: table.sqlName, key },
      ...(Object.keys(renamed).length > 0 && { columns: renamed }),
      ...(archived && { archived: archived.name }),
    },
  };
  return { model, columns, keyColumn: key, notes };
}

function tableNotes(table: CatalogTable): string[] {
  const notes: string[] = [];
  const key = table.columns.find(({ name }) => name === keyOf(table));
  if (key?.type === "int8")
    notes.push(
      `${key.name} is int8: ids beyond ±${Number.MAX_SAFE_INTEGER} are not exact, and two of them may become equal.`,
    );
  if (key?.identity || key?.default?.startsWith("nextval("))
    notes.push(`The database makes the ids (${key.name}): create records in SQL. Clients can update and delete them.`);
  return notes;
}

function nameProblem(name: string, taken: ReadonlyMap<string, string>): string | undefined {
  if (!isSchemaName(name))
    return `"${name}" cannot be the name of its model, which is a letter, then up to 62 letters, digits or _: choose another name for the model.`;
  const other = taken.get(name.toLowerCase());
  return other && `The model of ${other} is called "${name}" too: choose another name for one of the models.`;
}

/** Of the columns that become fields. */
function columnProblem(table: CatalogTable, modelName: string): string | undefined {
  const archived = usualArchivedColumn(table.columns.filter(({ name }) => name !== keyOf(table)));
  const byField = new Map<string, string>();
  for (const column of table.columns) {
    if (column === archived || column.name === keyOf(table) || "leftOut" in columnField(column, table.checks)) continue;
    const field = fieldNameOf(column, modelName);
    if (!isSchemaName(field))
      return `Its column ${column.name} would be the field "${field}", but a field's name is a letter, then up to 62 letters, digits or _: rename the column.`;
    const other = byField.get(field);
    if (other !== undefined)
      return `Its columns ${other} and ${column.name} would both be the field "${field}": rename one of them.`;
    byField.set(field, column.name);
  }
  return undefined;
}
