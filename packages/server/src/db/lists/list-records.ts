import type { ListColumn, SortColumn } from "../../rules/lists/list-column.ts";
import type { Comparison, FilterValue, ListCondition } from "../../rules/lists/list-filter.ts";
import type { SearchFilter } from "../../rules/lists/search.ts";
import { reading } from "../connection/reading-table.ts";
import type { Transaction } from "../connection/transaction.ts";
import { withinBytes } from "../log/within-bytes.ts";
import { TEXT_KEPT } from "./record-column.ts";
import type { ColumnSql, EqualitySql, RecordSource } from "./record-source.ts";

export interface ListQuestion {
  readonly tenant: number;
  readonly model: string;
  readonly source: RecordSource;
  readonly state: "live" | "archived" | "all";
  readonly ids: readonly string[] | undefined;
  readonly filters: readonly ListCondition[];
  /** Only records in one of these groups. Undefined: all. */
  readonly groups: readonly string[] | undefined;
  readonly sort: SortColumn;
  readonly descending: boolean;
  /** The end of the previous page: the sort value in Postgres's text form (null: no value) and the id. */
  readonly after: PageEnd | undefined;
  readonly limit: number;
  /** Most bytes of all records together. A single larger record still fits. */
  readonly bytes: number;
}

export interface PageEnd {
  readonly value: string | null;
  readonly id: string;
}

export interface ListedRecord {
  readonly id: string;
  readonly data: string;
  readonly archivedAt: string | null;
  readonly value: string | null;
}

export interface Listed {
  readonly records: readonly ListedRecord[];
  readonly hasMore: boolean;
}

/** One page in a total order: by sort value, records without one last, then by id. */
export async function listRecords(db: Transaction, question: ListQuestion): Promise<Listed> {
  const { rows } = await reading(question.source, () =>
    db.query<ListedRecord & { fits: boolean }>(listQuery(question)),
  );
  const records = rows.filter(({ fits }) => fits).slice(0, question.limit);
  return { records, hasMore: rows.length > records.length };
}

/**
 * The statement has no name, so that Postgres plans it with its values; only then can it use a field's index. Records
 * with a sort value and records without one are read by two scans, each in index order from the cursor on. A single
 * condition for both would read all previous pages. The second scan runs only once the first is exhausted.
 */
export function listQuery(question: ListQuestion): { readonly text: string; readonly values: unknown[] } {
  const { sort, descending, after, limit, bytes, source } = question;
  const { idOrder } = source;
  const values: unknown[] = [];
  const param: Param = (value) => `$${values.push(value)}`;
  const { expression, type } = sort.kind === "id" ? idOrder : columnOf(source, sort, param);
  const [direction, beyond] = descending ? ["desc", "<"] : ["asc", ">"];
  const isBeyond = ({ value, id }: PageEnd) => {
    const place = `${param(id)}::text::${idOrder.type}`;
    return sort.kind === "id" || value === null
      ? `${idOrder.expression} ${beyond} ${place}`
      : `(${expression}, ${idOrder.expression}) ${beyond} (${param(value)}::text::${type}, ${place})`;
  };
  const most = `${param(limit + 1)}::int`;
  const where = conditionsOf(question, param).join(" and ");
  // Each scan meets only nulls or none, so the nulls order does not matter. This form allows a backward index scan.
  const scan = (...more: readonly string[]) =>
    `select id, data, archived_at, ${expression} as value, ${idOrder.expression} as place from ${source.from} r
      where ${[where, ...more].join(" and ")} order by ${expression} ${direction}, ${idOrder.expression} ${direction} limit ${most}`;
  // Records beyond the byte limit are omitted; the result only reports that there are more.
  const answer = (rows: string) => {
    const order = `part, value ${direction}, place ${direction}`;
    const sized = withinBytes({ rows, order, json: ["data"], rest: "1", bytes: `${param(bytes)}::bigint` });
    const text = `select id, case when fits then data end as data, archived_at as "archivedAt", value::text as value, fits
      from (${sized}) page order by part, page.value ${direction}, page.place ${direction}`;
    return { text, values };
  };

  // The id and the times are never null, so one scan is enough.
  const one = (page: string) => answer(`select 1 as part, page.* from (${page}) page`);
  if (sort.kind !== "field" && sort.kind !== "rank") return one(after ? scan(isBeyond(after)) : scan());
  const isAbsent = `${expression} is null`;
  if (after?.value === null) return one(scan(isAbsent, isBeyond(after)));
  const isPresent = after ? isBeyond(after) : `${expression} is not null`;
  return answer(`with present as materialized (${scan(isPresent)}),
      absent as (select * from (${scan(isAbsent)}) rest limit greatest(${most} - (select count(*) from present), 0))
      select 1 as part, * from present union all select 2, * from absent`);
}

/** Adds a parameter and returns its place: `$9`. */
export type Param = (value: unknown) => string;

/** The SQL of a column; the names and values in it are parameters. */
const columnOf = (source: RecordSource, column: SortColumn, param: Param): ColumnSql =>
  source.column(column, (text) => `${param(text)}::text`);

function conditionsOf({ tenant, model, source, state, ids, groups, filters }: ListQuestion, param: Param): string[] {
  return [
    `tenant = ${param(tenant)}::int and model = ${param(model)}::text`,
    ...(state === "all" ? [] : [`archived_at is ${state === "live" ? "" : "not "}null`]),
    ...(ids ? [idsCondition(source, ids, param)] : []),
    ...(groups ? [`groups && ${param(groups)}::text[]`] : []),
    ...filters.map((filter) => filterSql(source, filter, param)),
  ];
}

/** Different ids can be the same key, as a type compares it. */
function idsCondition(
  { table, idOrder: { expression, type }, takesId }: RecordSource,
  ids: readonly string[],
  param: Param,
) {
  const wanted = `${param(ids.filter(takesId))}::text[]`;
  const among = `${expression} = any(${wanted}::${type}[])`;
  return table === undefined ? among : `${among} and id = any(${wanted})`;
}

const OPERATORS = { eq: "=", gt: ">", gte: ">=", lt: "<", lte: "<=" } as const satisfies Record<Comparison, string>;

/** A filter as a condition on a row of records. */
export function filterSql(source: RecordSource, filter: ListCondition, param: Param): string {
  if (filter.operator === "search") return searching(source, filter, param);
  const { column } = filter;
  switch (filter.operator) {
    case "null":
      return `${columnOf(source, column, param).expression} is ${filter.value ? "" : "not "}null`;
    case "not":
      return without(compared(source, column, "eq", filter.value, param));
    case "in":
      return oneOf(source, column, filter.values, param);
    case "notIn":
      return without(oneOf(source, column, filter.values, param));
    case "contains":
      return containing(source, column, filter.value, filter.json, param);
    case "startsWith":
      return startingWith(source, column, filter.value, param);
    default:
      return compared(source, column, filter.operator, filter.value, param);
  }
}

/** A condition for each word, which an index of the parts of words has. */
function searching(source: RecordSource, { columns, words }: SearchFilter, param: Param): string {
  const each = words.map((word) => {
    const pattern = `${param(`%${word.replace(/[\\%_]/g, "\\$&")}%`)}::text`;
    return `(${columns.map((column) => `${source.searched(column, (text) => `${param(text)}::text`)} like ${pattern}`).join(" or ")})`;
  });
  return each.length === 0 ? "true" : each.join(" and ");
}

/** True as well where the condition says nothing, because the record has no value. */
const without = (condition: string): string => `not coalesce(${condition}, false)`;

function oneOf(
  source: RecordSource,
  column: ListColumn,
  values: readonly (FilterValue | null)[],
  param: Param,
): string {
  const each = values.map((value) =>
    value === null
      ? filterSql(source, { column, operator: "null", value: true }, param)
      : compared(source, column, "eq", value, param),
  );
  return each.length === 0 ? "false" : `(${each.join(" or ")})`;
}

/** A part of a text, or an item of an array: a text as it is written, or the JSON value that it spells. */
function containing(source: RecordSource, column: ListColumn, value: string, json: string, param: Param): string {
  if (column.kind !== "field" || column.type !== "array")
    return `position(${param(value)}::text in ${wholeText(source, column, param)}) > 0`;
  const name = `${param(column.name)}::text`;
  const items = `json_array_elements(case when json_typeof(data->${name}) = 'array' then data->${name} else '[]' end)`;
  return `exists (select from ${items} item where item.value::jsonb in (to_jsonb(${param(value)}::text), ${param(json)}::jsonb))`;
}

/** What begins with a text lies between it and the next one in the order of code points: a range that an index has. */
function startingWith(source: RecordSource, column: ListColumn, value: string, param: Param): string {
  const { expression, whole = false } = columnOf(source, column, param);
  const kept = column.kind === "field" && !whole ? [...value].slice(0, TEXT_KEPT).join("") : value;
  const end = behind(kept);
  return [
    `${expression} >= ${param(kept)}::text`,
    ...(end === undefined ? [] : [`${expression} < ${param(end)}::text`]),
    ...(kept === value && end !== undefined
      ? []
      : [`starts_with(${wholeText(source, column, param)}, ${param(value)}::text)`]),
  ].join(" and ");
}

/** The first text behind all that begin with this one. Undefined: there is none. */
function behind(beginning: string): string | undefined {
  const points = Array.from(beginning, (character) => character.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === LAST_POINT) continue;
    // Half characters are no text.
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return undefined;
}

const LAST_POINT = 0x10ffff;

const wholeText = (source: RecordSource, column: ListColumn, param: Param): string =>
  source.text(column) ??
  (column.kind === "field" ? `(data->>${param(column.name)}::text)` : columnOf(source, column, param).expression);

function compared(
  source: RecordSource,
  column: ListColumn,
  operator: Comparison,
  value: FilterValue,
  param: Param,
): string {
  const equality = operator === "eq" && typeof value === "string" ? source.equality(column) : undefined;
  if (equality) return equalTo(equality, String(value), param);
  const { expression, type, whole = false } = columnOf(source, column, param);
  if (type === "timestamptz") return `${expression} ${OPERATORS[operator]} holdfast.instant(${param(value)}::text)`;
  if (column.kind === "field" && !whole && typeof value === "string" && [...value].length >= TEXT_KEPT)
    return longTextCondition(column.name, operator, value, expression, param);
  return `${expression} ${OPERATORS[operator]} ${param(value)}::${type}`;
}

function equalTo({ expression, type, exact, takes }: EqualitySql, value: string, param: Param): string {
  if (!takes(value)) return "false";
  const wanted = `${param(value)}::text`;
  // An index serves the first condition.
  const equal = `${expression} = ${wanted}::${type}`;
  return exact === undefined ? equal : `${equal} and ${exact} = ${wanted}`;
}

/** Compares the stored prefixes first, which the index has. Only equal prefixes need a comparison of the full texts. */
function longTextCondition(
  name: string,
  operator: Comparison,
  value: string,
  expression: string,
  param: Param,
): string {
  const ofBeginnings = { eq: "=", gt: ">=", gte: ">=", lt: "<=", lte: "<=" }[operator];
  const beginning = [...value].slice(0, TEXT_KEPT).join("");
  const whole = `(data->>${param(name)}::text) collate "C"`;
  return `${expression} ${ofBeginnings} ${param(beginning)}::text and ${whole} ${OPERATORS[operator]} ${param(value)}::text`;
}
