import { jsonEqual } from "@holdfast/sdk/protocol";

/** What Postgres' catalog says of a table that decides its values, or whether its changes are captured. */
export interface CatalogFacts {
  /** By name: the columns that are used. Null: none is there. */
  readonly columns: Readonly<Record<string, ColumnFacts>> | null;
  /** By number in the catalog: the table and its partitions. */
  readonly tables: Readonly<Record<string, TableFacts>>;
}

interface ColumnFacts {
  /** Another column of the same name has another one. */
  readonly number: number;
  /** Changes when the column is altered. */
  readonly altered: string;
  /** What generates its values. */
  readonly expression: string | null;
  /** Of an enum, by number: its values. */
  readonly labels: Readonly<Record<string, string>> | null;
  /** Of a composite type. */
  readonly members: readonly string[] | null;
}

interface TableFacts {
  readonly name: string;
  /** Changes when all its rows are written anew. */
  readonly file: number;
  /** By name: what changes when the trigger is disabled or enabled. */
  readonly triggers: Readonly<Record<string, string>>;
}

/** What a change of the catalog may have done besides writing rows. */
export interface CatalogChange {
  /** Rows may have other values, be there or be gone: clients have to read them again. */
  readonly values: boolean;
  /** Why rows may have been written without being captured. */
  readonly missed: string | undefined;
}

export function catalogChange(name: string, before: CatalogFacts, now: CatalogFacts): CatalogChange {
  const tables = Object.entries(now.tables).flatMap(([oid, table]) => {
    const old = before.tables[oid];
    return old ? [{ old, table }] : [];
  });
  const gone = Object.entries(before.tables).flatMap(([oid, table]) => (now.tables[oid] ? [] : table.name));
  const came = Object.keys(now.tables).some((oid) => !before.tables[oid]);
  const isRewritten = tables.some(({ old, table }) => old.file !== table.file);
  const columns = Object.entries(now.columns ?? {});
  const switched = tables
    .filter(({ old, table }) => !jsonEqual(old.triggers, table.triggers))
    .map((one) => one.table.name);
  return {
    values:
      gone.length > 0 ||
      came ||
      switched.length > 0 ||
      columns.some(([column, facts]) => isOther(before.columns?.[column], facts, isRewritten)),
    missed:
      switched.length > 0
        ? `The triggers of ${switched.join(", ")} that capture changes were disabled, enabled or created again: the log lacks what SQL wrote during that time. Run "holdfast tables verify --repair".`
        : gone.length > 0
          ? `${gone.join(", ")} ${gone.length === 1 ? "is not a partition" : "are not partitions"} of ${name} any more, and rows left the table without a write: run "holdfast tables verify --repair".`
          : undefined,
  };
}

/** A label that comes to an enum changes no value. */
function isOther(old: ColumnFacts | undefined, now: ColumnFacts, isRewritten: boolean): boolean {
  if (!old) return true;
  const labels = Object.entries(now.labels ?? {});
  return (
    old.number !== now.number ||
    old.expression !== now.expression ||
    !jsonEqual(old.members, now.members) ||
    labels.some(([oid, label]) => (old.labels?.[oid] ?? label) !== label) ||
    (isRewritten && old.altered !== now.altered)
  );
}

/** What is known from now on. A column that is gone is remembered: it may come back as it was. */
export const rememberedFacts = (before: CatalogFacts | null, now: CatalogFacts): CatalogFacts => ({
  ...now,
  columns: { ...before?.columns, ...now.columns },
});
