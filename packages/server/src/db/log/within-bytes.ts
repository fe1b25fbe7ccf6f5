/** Expressions of SQL. */
export interface SizedRows {
  /** A query for the rows. */
  readonly rows: string;
  /** By which they are ordered: each row has a place of its own. */
  readonly order: string;
  /** Its columns of type json that count. */
  readonly json: readonly string[];
  /** The bytes of everything else. */
  readonly rest: string;
  /** How many bytes the rows may have together. */
  readonly bytes: string;
}

/**
 * The rows with a column `fits`: whether a row and all rows before it have at most so many bytes together. The first row
 * always fits. Sizes are read from the rows' headers; only a compressed value has to be unpacked to be measured, which
 * is done for as many of them as would fit if nothing were compressed: 10 000 records of 1 MiB take 10 s to unpack.
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
