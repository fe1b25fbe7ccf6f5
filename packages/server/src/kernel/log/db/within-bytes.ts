/** SQL expressions. */
export interface SizedRows {
  /** A query for the rows. */
  readonly rows: string;
  /** The order of the rows. It must be unique. */
  readonly order: string;
  /** Its json columns that count. */
  readonly json: readonly string[];
  /** The bytes of everything else. */
  readonly rest: string;
  /** Most bytes of all rows together. */
  readonly bytes: string;
}

/**
 * The rows with a column `fits`: whether a row, together with all rows before it, stays within the byte limit. The
 * first row always fits. Sizes are read from row headers. A compressed value has to be decompressed to be measured, so
 * only those rows are measured that would fit if nothing were compressed: decompressing 10 000 records of 1 MiB takes
 * 10 s.
 */
export function withinBytes({ rows, order, json, rest, bytes }: SizedRows): string {
  const sum = (measure: (column: string) => string) =>
    json.map((column) => `coalesce(${measure(column)}, 0)`).join(" + ");
  const stored = sum((column) => `pg_column_size(${column})`);
  const unpacked = sum(
    (column) =>
      `case when pg_column_compression(${column}) is null then pg_column_size(${column}) else octet_length(${column}::text) end`,
  );
  const through = `over (order by ${order} rows unbounded preceding)`;
  return `select *, bytes_through <= ${bytes} or bytes_through = bytes as fits from (
    select *, sum(bytes) ${through} as bytes_through from (
      select *, (${rest}) + case when stored_through - stored > ${bytes} then stored else ${unpacked} end as bytes from (
        select *, sum(stored) ${through} as stored_through from (
          select *, ${stored} as stored from (${rows}) counted) counted) counted) counted) counted`;
}
