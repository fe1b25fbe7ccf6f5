import type { CatalogTable } from "./catalog-table.ts";

const KEY_TYPES = ["text", "varchar", "citext", "uuid", "int2", "int4", "int8"];

/** Why a table cannot be attached as it is, and what to do. Undefined if it can be. */
export function tableProblem(table: CatalogTable): string | undefined {
  return placeProblem(table) ?? familyProblem(table) ?? keyProblem(table);
}

function placeProblem({ schema, sqlName, kind, persistence, rowSecurity }: CatalogTable): string | undefined {
  if (["holdfast", "information_schema", "pg_catalog", "pg_toast"].includes(schema))
    return `The schema ${schema} belongs to ${schema === "holdfast" ? "Holdfast" : "Postgres"} itself: attach tables of your own.`;
  if (kind === "view" || kind === "materialized view")
    return `It is a ${kind}, and only tables have the triggers that capture changes: attach the tables that it reads.`;
  if (kind === "foreign")
    return "It is a foreign table, whose changes happen in another database: attach the table in a server that uses that database.";
  if (persistence === "temporary")
    return "It is a temporary table, which ends with its session: create it as a permanent table.";
  if (persistence === "unlogged")
    return `It is an unlogged table, which is empty after a crash: run "alter table ${sqlName} set logged" first.`;
  if (rowSecurity === "forced")
    return `Row level security is forced, so Holdfast would read only some of the rows: run "alter table ${sqlName} no force row level security", and connect Holdfast as the table's owner.`;
  return undefined;
}

function familyProblem({ sqlName, partitionOf, parents, children }: CatalogTable): string | undefined {
  if (partitionOf !== null) return `It is a partition of ${partitionOf}: attach ${partitionOf} instead.`;
  const [parent] = parents;
  if (parent !== undefined)
    return `It inherits from ${parent}, and changes that are made through ${parent} would not be captured: run "alter table ${sqlName} no inherit ${parent}" first.`;
  const [child] = children;
  if (child !== undefined)
    return `${children.join(", ")} ${children.length === 1 ? "inherits" : "inherit"} from it, and the rows there would seem to be its own: run "alter table ${child} no inherit ${sqlName}" first, or make it a partitioned table.`;
  return undefined;
}

function keyProblem(table: CatalogTable): string | undefined {
  const { sqlName, kind, primaryKey, columns } = table;
  const [key, second] = primaryKey;
  const isPartitioned = kind === "partitioned";
  if (key === undefined)
    return `It has no primary key, so its rows have no ids${isPartitioned ? PARTITIONED_KEY : `: run "alter table ${sqlName} add primary key (…)" with one column.`}`;
  if (second !== undefined)
    return `Its primary key has ${primaryKey.length} columns (${primaryKey.join(", ")}), and a record has one id${isPartitioned ? PARTITIONED_KEY : `: ${oneKeyFor(table)}`}`;
  const column = columns.find(({ name }) => name === key);
  if (!column || column.isArray || column.labels || column.isObject || !KEY_TYPES.includes(column.type))
    return `Its key ${key} is of type ${column?.type}${column?.isArray ? "[]" : ""}: a key must be text, varchar, citext, uuid, smallint, integer or bigint.`;
  if (column.isLoose)
    return `Its key ${key} has a collation in which different texts are equal, but two ids must never be equal: run "alter table ${sqlName} alter column ${key} type ${column.type} collate "default"" first.`;
  return undefined;
}

function oneKeyFor({ sqlName, keyConstraint, columns }: CatalogTable): string {
  const name = ["id", "uid"].find((free) => !columns.some((column) => column.name === free));
  if (keyConstraint === null || name === undefined)
    return "make a column that is unique by itself the primary key, and keep these columns unique.";
  const steps = [
    `drop constraint ${keyConstraint.name}`,
    `add column ${name} uuid primary key default gen_random_uuid()`,
    keyConstraint.definition.replace("PRIMARY KEY", "add unique"),
  ];
  return `run "alter table ${sqlName} ${steps.join(", ")}".`;
}

/** No other column can be made the key: Postgres wants those in it by which the table is partitioned. */
const PARTITIONED_KEY =
  ". A partitioned table can have a key of one column only if it is partitioned by that column: copy its rows into a table that is, or that is not partitioned.";
