import { booleans, bytes, jsons, lists, numbers, texts, times } from "../../connection/columns.ts";

interface Values {
  readonly text: string | null;
  readonly "text[]": readonly string[] | null;
  readonly json: string | null;
  readonly bigint: number | null;
  readonly boolean: boolean;
  /** In base64. */
  readonly bytea: string;
  /** ISO 8601, UTC. */
  readonly timestamptz: string | null;
}

const WRITE: { readonly [Type in keyof Values]: (items: readonly Values[Type][]) => Buffer } = {
  text: texts,
  "text[]": lists,
  json: jsons,
  bigint: numbers,
  boolean: booleans,
  bytea: bytes,
  timestamptz: times,
};

/** A column's name and type in a statement, and how to get its value from a row. */
export type RowColumn<Row> = {
  readonly [Type in keyof Values]: readonly [name: string, type: Type, from: (row: Row) => Values[Type]];
}[keyof Values];

/** Many rows as parameters of a statement, one array per column. */
export interface RowColumns<Row> {
  /**
   * The select list that yields the rows: `unnest($3::text[]) as id, unnest($4::json[]) as data`. In a select list, the
   * arrays advance together row by row; in a from clause, Postgres would materialize each one first.
   */
  readonly rows: string;
  /** A column as an array: `$3::text[]`. */
  array(name: string): string;
  values(rows: readonly Row[]): Buffer[];
  /** The number of the next parameter. */
  readonly next: number;
}

/** `first`: the number of the first column's parameter. */
export function rowColumns<Row>(first: number, columns: readonly RowColumn<Row>[]): RowColumns<Row> {
  const arrays = new Map(
    columns.map(([name, type], i) => [name, `$${first + i}::${type === LIST ? "text[]" : `${type}[]`}`]),
  );
  return {
    rows: columns
      .map(([name, type]) => `unnest(${arrays.get(name)})${type === LIST ? "::text[]" : ""} as ${name}`)
      .join(", "),
    array: (name) => {
      const array = arrays.get(name);
      if (array === undefined) throw new Error(`There is no column ${name}.`);
      return array;
    },
    values: (rows) => columns.map((column) => valuesOf(column, rows)),
    next: first + columns.length,
  };
}

const LIST = "text[]";

function valuesOf<Row>([, type, from]: RowColumn<Row>, rows: readonly Row[]): Buffer {
  const write = WRITE[type] as (items: readonly unknown[]) => Buffer;
  return write(rows.map((row) => from(row)));
}
