import { reading } from "../../connection/reading-table.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { withinBytes } from "../../log/db/within-bytes.ts";
import type { ListOrder } from "../rules/list-order.ts";
import type { ColumnSql } from "./record-relation.ts";
import { columnOf, conditionsOf, type Param, type WantedRecords } from "./wanted-records.ts";

export interface ListQuestion extends WantedRecords {
  readonly order: ListOrder;
  /** The end of the previous page: the sort values in Postgres's text form (null: no value) and the id. */
  readonly after: PageEnd | undefined;
  /** The same of the next page: the nearest records before it. At most one of both is there. */
  readonly before?: PageEnd | undefined;
  readonly limit: number;
  /** Most bytes of all records together. A single larger record still fits. */
  readonly bytes: number;
}

export interface PageEnd {
  readonly values: readonly SortValue[];
  readonly id: string;
  /** A record at this very place belongs to the page. */
  readonly isIncluded?: boolean;
}

/** In Postgres's text form; null: no value. */
export type SortValue = string | null | LongText;

/**
 * A text that a column holds, of which only this much is read: with others beside the record it could be too much for one
 * message. The place of such a record is where it is while the next page is read.
 */
export interface LongText {
  readonly begins: string;
  readonly bytes: number;
}

/** Shorter ones are read whole. */
const LONG_BYTES = 4_096;
const BEGINS = 100;

export interface ListedRecord {
  readonly id: string;
  readonly data: string;
  readonly archivedAt: string | null;
  readonly values: readonly SortValue[];
}

export interface Listed {
  readonly records: readonly ListedRecord[];
  /** Whether there are more behind the page, or before it if it was read backwards. */
  readonly hasMore: boolean;
}

/** One page in a total order: by the sort values, records without one last, then by id. */
export async function listRecords(db: Transaction, question: ListQuestion): Promise<Listed> {
  const { rows } = await reading(question.relation, () => db.query<ListedRow>(listQuery(question)));
  const records = rows
    .filter(({ fits }) => fits)
    .slice(0, question.limit)
    .map(({ id, data, archivedAt, values, lengths }): ListedRecord => {
      const sorted = values.map((value, i) => {
        const length = lengths[i] ?? null;
        return value === null || length === null ? value : { begins: value, bytes: Number(length) };
      });
      return { id, data, archivedAt, values: sorted };
    });
  return { records: question.before ? records.reverse() : records, hasMore: rows.length > records.length };
}

interface ListedRow extends Omit<ListedRecord, "values"> {
  readonly fits: boolean;
  readonly values: readonly (string | null)[];
  /** The bytes of long texts, which are cut in `values`. */
  readonly lengths: readonly (string | null)[];
}

/**
 * The statement has no name, so that Postgres plans it with its values; only then can it use a field's index. Records
 * with a first sort value and records without one are read by two scans, each in index order from the cursor on. A
 * single condition for both would read all previous pages. The second scan runs only once the first is exhausted.
 * Records with equal first values are sorted by the others as they are read.
 *
 * A page before a place is read backwards: in the opposite order, in which records without a value come first.
 */
export function listQuery(question: ListQuestion): { readonly text: string; readonly values: unknown[] } {
  const { order, after, before, limit, bytes, relation } = question;
  const { idOrder } = relation;
  const isBackward = before !== undefined;
  const values: unknown[] = [];
  const param: Param = (value) => `$${values.push(value)}`;
  const keys = order.keys.map(({ column, descending }): KeySql => {
    return { ...columnOf(relation, column, param), descending: descending !== isBackward };
  });
  const id: KeySql = { ...idOrder, descending: order.idDescending !== isBackward };
  const nulls = isBackward ? "first" : "last";
  const [first, ...later] = keys;
  const most = `${param(limit + 1)}::int`;
  const where = conditionsOf(question, param).join(" and ");
  // Each scan meets only nulls or none of the first key, so the nulls order does not matter. This form allows a
  // backward index scan.
  const sorting = (column: (key: KeySql, i: number) => string) => [
    ...(first ? [`${column(first, 0)} ${directionOf(first)}`] : []),
    ...later.map((key, i) => `${column(key, i + 1)} ${directionOf(key)} nulls ${nulls}`),
  ];
  const ids = directionOf(id);
  const scanOf = (own: readonly KeySql[], more: readonly string[]) => {
    const columns = own.map(({ expression }, i) => `, ${expression} as value_${i}`).join("");
    const inScan = [...sorting((_, i) => (own[i] as KeySql).expression), `${id.expression} ${ids}`].join(", ");
    return `select id, data, archived_at${columns}, ${id.expression} as place from ${relation.from} r
      where ${[where, ...more].join(" and ")} order by ${inScan} limit ${most}`;
  };
  const scan = (...more: readonly string[]) => scanOf(keys, more);
  // Of the records with a first value, in the order of the stored column, which an index has.
  const present = first?.stored ? [{ ...first, expression: first.stored.expression }, ...later] : keys;
  const isValue = first?.stored ? [first.stored.isValue] : [];
  const scanPresent = (...more: readonly string[]) => scanOf(present, [...more, ...isValue]);
  // Records beyond the byte limit are omitted; the result only reports that there are more.
  const answer = (rows: string) => {
    const inPage = ["part", ...sorting((_, i) => `value_${i}`), `place ${ids}`].join(", ");
    const sized = withinBytes({ rows, order: inPage, json: ["data"], rest: "1", bytes: `${param(bytes)}::bigint` });
    const each = (sql: (value: string, isLong: string | undefined) => string) =>
      keys.map(({ whole }, i) => sql(`value_${i}`, whole && `octet_length(value_${i}) > ${LONG_BYTES}`)).join(", ");
    const sorted = each((value, isLong) =>
      isLong ? `case when ${isLong} then left(${value}, ${BEGINS}) else ${value} end` : `${value}::text`,
    );
    const lengths = each((value, isLong) => (isLong ? `case when ${isLong} then octet_length(${value}) end` : "null"));
    const text = `select id, case when fits then data end as data, archived_at as "archivedAt", fits,
      array[${sorted}]::text[] as values, array[${lengths}]::text[] as lengths
      from (${sized}) page order by ${inPage}`;
    return { text, values };
  };

  const end = before ?? after;
  const isAtValue = end !== undefined && (end.values[0] ?? null) !== null;
  // Detached from its row, so that it is read once and not for each comparison.
  const valueAt = (id: string, { expression }: KeySql) =>
    `(select ${expression} || '' from ${relation.from} r where ${conditionsOf({ ...question, ...ONE, ids: [id] }, param).join(" and ")})`;
  const isBeyond = end && beyond(isAtValue ? present : keys, id, end, isBackward, param, valueAt);
  const one = (page: string) => answer(`select 1 as part, page.* from (${page}) page`);
  if (!first || isNeverMissing(order)) return one(isBeyond === undefined ? scan() : scan(isBeyond));
  const isPresent = `${present[0]?.expression} is not null`;
  const isAbsent = `${first.expression} is null`;
  const isInLastPart = end && (end.values[0] === null) !== isBackward;
  const scanAtEnd = isAtValue ? scanPresent : scan;
  if (isInLastPart) return one(scanAtEnd(isBeyond as string));
  const near = isBeyond === undefined ? scanPresent(isPresent) : scanAtEnd(isBeyond);
  const far = isBackward ? scanPresent(isPresent) : scan(isAbsent);
  return answer(`with near as materialized (${near}),
      far as (select * from (${far}) rest limit greatest(${most} - (select count(*) from near), 0))
      select 1 as part, * from near union all select 2, * from far`);
}

/** Of one record, whatever else was wanted of it. */
const ONE = { state: "all", filters: [], groups: undefined } as const;

interface KeySql extends ColumnSql {
  readonly descending: boolean;
}

const directionOf = ({ descending }: KeySql): string => (descending ? "desc" : "asc");

/** Of such a column one scan is enough. */
function isNeverMissing({ keys: [first] }: ListOrder): boolean {
  const kind = first?.column.kind;
  return kind !== "field" && kind !== "rank" && kind !== "archivedAt";
}

/**
 * What comes beyond a place in the order of reading, among the records with a first value if the place has one. An index
 * serves the condition on the first key, which is written so that Postgres sees a range of it.
 */
function beyond(
  keys: readonly KeySql[],
  id: KeySql,
  end: PageEnd,
  isBackward: boolean,
  param: Param,
  valueAt: (id: string, key: KeySql) => string,
): string {
  const sign = ({ descending }: KeySql) => (descending ? "<" : ">");
  const orEqual = end.isIncluded ? "=" : "";
  const place = `${param(end.id)}::text::${id.type}`;
  const idsBeyond = `${id.expression} ${sign(id)}${orEqual} ${place}`;
  const [first] = keys;
  const value = end.values[0] ?? null;
  if (!first) return idsBeyond;
  const bound = (key: KeySql, value: string | LongText) =>
    typeof value === "string" ? `${param(value)}::text::${key.type}` : valueAt(end.id, key);
  const behind = (i: number): string => {
    const key = keys[i];
    if (!key) return idsBeyond;
    const own = end.values[i] ?? null;
    const rest = behind(i + 1);
    const isAbsent = `${key.expression} is null`;
    if (own === null)
      return isBackward ? `(${key.expression} is not null or ${isAbsent} and ${rest})` : `(${isAbsent} and ${rest})`;
    const at = bound(key, own);
    const isFurther = `${key.expression} ${sign(key)} ${at}${isBackward ? "" : ` or ${isAbsent}`}`;
    return `(${isFurther} or ${key.expression} = ${at} and ${rest})`;
  };
  if (value === null) return `${first.expression} is null and ${behind(1)}`;
  const at = bound(first, value);
  if (keys.length === 1 && first.descending === id.descending)
    return `(${first.expression}, ${id.expression}) ${sign(first)}${orEqual} (${at}, ${place})`;
  return `${first.expression} ${sign(first)}= ${at} and (${first.expression} ${sign(first)} ${at} or ${behind(1)})`;
}
