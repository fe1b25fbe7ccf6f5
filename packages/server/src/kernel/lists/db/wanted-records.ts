import type { ListColumn, SortColumn } from "../rules/list-column.ts";
import type { Comparison, FilterValue, JsonFilter, ListCondition, ListFilter } from "../rules/list-filter.ts";
import type { SearchFilter } from "../rules/search.ts";
import { TEXT_KEPT } from "./record-column.ts";
import type { ColumnSql, EqualitySql, RecordRelation } from "./record-relation.ts";

/** Which records are wanted. */
export interface WantedRecords {
  readonly tenant: number;
  readonly model: string;
  readonly relation: RecordRelation;
  readonly state: "live" | "archived" | "all";
  readonly ids: readonly string[] | undefined;
  readonly filters: readonly ListCondition[];
  /** Only records in one of these groups. Undefined: all. */
  readonly groups: readonly string[] | undefined;
}

/** Adds a parameter and returns its place: `$9`. */
export type Param = (value: unknown) => string;

/** The SQL of a column; the names and values in it are parameters. */
export const columnOf = (relation: RecordRelation, column: SortColumn, param: Param): ColumnSql =>
  relation.column(column, (text) => `${param(text)}::text`);

/** Conditions that all hold of the wanted records. */
export function conditionsOf(
  { tenant, model, relation, state, ids, groups, filters }: WantedRecords,
  param: Param,
): string[] {
  return [
    `tenant = ${param(tenant)}::int and model = ${param(model)}::text`,
    ...(state === "all" ? [] : [`archived_at is ${state === "live" ? "" : "not "}null`]),
    ...(ids ? [idsCondition(relation, ids, param)] : []),
    ...(groups ? [`groups && ${param(groups)}::text[]`] : []),
    ...filters.map((filter) => filterSql(relation, filter, param)),
  ];
}

/** Different ids can be the same key, as a type compares it. */
function idsCondition(
  { table, idOrder: { expression, type }, takesId }: RecordRelation,
  ids: readonly string[],
  param: Param,
) {
  const wanted = `${param(ids.filter(takesId))}::text[]`;
  const among = `${expression} = any(${wanted}::${type}[])`;
  return table === undefined ? among : `${among} and id = any(${wanted})`;
}

const OPERATORS = { eq: "=", gt: ">", gte: ">=", lt: "<", lte: "<=" } as const satisfies Record<Comparison, string>;

/** A filter as a condition on a row of records. */
export function filterSql(relation: RecordRelation, filter: ListCondition, param: Param): string {
  switch (filter.operator) {
    case "search":
      return searching(relation, filter, param);
    case "and":
    case "or": {
      const each = filter.conditions.map((one) => `(${filterSql(relation, one, param)})`);
      if (each.length === 0) return String(filter.operator === "and");
      return `(${each.join(` ${filter.operator} `)})`;
    }
    case "jsonIn":
    case "jsonNotIn":
      return `${filter.operator === "jsonIn" ? "" : "not "}${amongJson(filter, param)}`;
    case "null":
      return `${columnOf(relation, filter.column, param).expression} is ${filter.value ? "" : "not "}null`;
    case "not":
      return without(compared(relation, filter.column, "eq", filter.value, param));
    case "in":
      return oneOf(relation, filter.column, filter.values, param);
    case "notIn":
      return without(oneOf(relation, filter.column, filter.values, param));
    case "contains":
      return containing(relation, filter, param);
    case "startsWith":
      return startingWith(relation, filter.column, filter.value, param);
    case "eq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return compared(relation, filter.column, filter.operator, filter.value, param);
  }
}

/** A condition for each word, which an index of the parts of words has. */
function searching(relation: RecordRelation, { columns, words }: SearchFilter, param: Param): string {
  const each = words.map((word) => {
    const pattern = `${param(`%${word.replace(/[\\%_]/g, "\\$&")}%`)}::text`;
    return `(${columns.map((column) => `${relation.searched(column, (text) => `${param(text)}::text`)} like ${pattern}`).join(" or ")})`;
  });
  return each.length === 0 ? "true" : each.join(" and ");
}

/** True as well where the condition says nothing, because the record has no value. */
const without = (condition: string): string => `not coalesce(${condition}, false)`;

/** An index serves one comparison with all values, which the planner also estimates better than one for each. */
function oneOf(
  relation: RecordRelation,
  column: ListColumn,
  values: readonly (FilterValue | null)[],
  param: Param,
): string {
  const given = values.filter((value) => value !== null);
  const isLong = longIn(relation, column);
  const each = [
    ...(given.length < values.length ? [filterSql(relation, { column, operator: "null", value: true }, param)] : []),
    ...given.filter(isLong).map((value) => compared(relation, column, "eq", value, param)),
    ...equalToAny(
      relation,
      column,
      given.filter((value) => !isLong(value)),
      param,
    ),
  ];
  return each.length === 0 ? "false" : `(${each.join(" or ")})`;
}

function equalToAny(
  relation: RecordRelation,
  column: ListColumn,
  values: readonly FilterValue[],
  param: Param,
): readonly string[] {
  const [value] = values;
  if (value === undefined) return [];
  if (values.length === 1) return [compared(relation, column, "eq", value, param)];
  const equality = typeof value === "string" ? relation.equality(column) : undefined;
  if (equality) {
    const { expression, type, exact, takes } = equality;
    const wanted = `${param(values.map(String).filter(takes))}::text[]`;
    const equal = `${expression} = any(${wanted}::${type}[])`;
    return [exact === undefined ? equal : `${equal} and ${exact} = any(${wanted})`];
  }
  const { expression: own, type, stored } = columnOf(relation, column, param);
  const expression = stored?.expression ?? own;
  if (type === "int8") return [`${expression} = any(${param(values.filter(isWhole))}::int8[])`];
  if (type !== "timestamptz") return [`${expression} = any(${param(values)}::${type}[])`];
  const instants = values.map((one) => `holdfast.instant(${param(one)}::text)`);
  return [`${expression} = any(array[${instants.join(", ")}])`];
}

/** Whether the field is one of these JSON values. An absent one is null. */
function amongJson({ column, values }: JsonFilter, param: Param): string {
  if (column.kind !== "field") throw new Error(`"${column.kind}" has no JSON.`);
  const own = `data->${param(column.name)}::text`;
  // Another value of an array's field counts as none.
  const typed = column.type === "array" ? `case when json_typeof(${own}) = 'array' then ${own} end` : own;
  return `(coalesce(${typed}, 'null')::jsonb = any(${param(values)}::jsonb[]))`;
}

type Containing = Extract<ListFilter, { readonly operator: "contains" }>;

/** A part of a text, as it is written, or an item of an array. */
function containing(relation: RecordRelation, { column, value, json }: Containing, param: Param): string {
  const part = () =>
    typeof value === "string"
      ? `position(${param(value)}::text in ${wholeText(relation, column, param)}) > 0`
      : "false";
  if (column.kind !== "field" || relation.text(column) !== undefined) return part();
  const own = `data->${param(column.name)}::text`;
  const ofText = () => `(json_typeof(${own}) = 'string' and ${part()})`;
  const ofItems = () =>
    `exists (select from json_array_elements(case when json_typeof(${own}) = 'array' then ${own} else '[]' end) item
      where item.value::jsonb = any(${param(json)}::jsonb[]))`;
  if (column.type === "array") {
    const narrow = relation.someItem(column, json, param);
    return narrow === undefined ? ofItems() : `(${narrow} and ${ofItems()})`;
  }
  return column.type === "json" ? `(${ofItems()} or ${ofText()})` : ofText();
}

/** What begins with a text lies between it and the next one in the order of code points: a range that an index has. */
function startingWith(relation: RecordRelation, column: ListColumn, value: string, param: Param): string {
  const { expression, whole = false } = columnOf(relation, column, param);
  const kept = column.kind === "field" && !whole ? [...value].slice(0, TEXT_KEPT).join("") : value;
  const end = behind(kept);
  return [
    `${expression} >= ${param(kept)}::text`,
    ...(end === undefined ? [] : [`${expression} < ${param(end)}::text`]),
    ...(kept === value && end !== undefined
      ? []
      : [`starts_with(${wholeText(relation, column, param)}, ${param(value)}::text)`]),
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

/** Not every collation has parts of texts. */
function wholeText(relation: RecordRelation, column: ListColumn, param: Param): string {
  const own = relation.text(column);
  const text = own ?? (column.kind === "field" ? `data->>${param(column.name)}::text` : undefined);
  return text === undefined ? columnOf(relation, column, param).expression : `((${text}) collate "C")`;
}

function compared(
  relation: RecordRelation,
  column: ListColumn,
  operator: Comparison,
  value: FilterValue,
  param: Param,
): string {
  const equality = operator === "eq" && typeof value === "string" ? relation.equality(column) : undefined;
  if (equality) return equalTo(equality, String(value), param);
  const { expression: own, type, stored } = columnOf(relation, column, param);
  const expression = stored?.expression ?? own;
  const isValue = stored ? ` and ${stored.isValue}` : "";
  if (type === "int8" && typeof value === "number") return comparedWhole(expression, operator, value, param);
  if (type === "timestamptz")
    return `(${expression} ${OPERATORS[operator]} holdfast.instant(${param(value)}::text)${isValue})`;
  if (column.kind === "field" && typeof value === "string" && longIn(relation, column)(value))
    return longTextCondition(column.name, operator, value, expression, param);
  return `(${expression} ${OPERATORS[operator]} ${param(value)}::${type}${isValue})`;
}

/** Beyond it, no field of the type integer has a value. */
const MOST_WHOLE = 2 ** 53;

/** A bound may lie between two whole numbers, and anywhere beyond those that a bigint has. */
function comparedWhole(expression: string, operator: Comparison, value: number, param: Param): string {
  if (operator === "eq" && !isWhole(value)) return "false";
  const bound = Math.min(Math.max(Math.floor(value), -MOST_WHOLE), MOST_WHOLE);
  const ofFraction = { eq: "=", gt: ">", gte: ">", lt: "<=", lte: "<=" }[operator];
  const sign = Number.isInteger(value) ? OPERATORS[operator] : ofFraction;
  return `${expression} ${sign} ${param(bound)}::int8`;
}

/** Whether a field of the type integer can have the value. */
const isWhole = (value: FilterValue): boolean => Number.isInteger(value) && Math.abs(value as number) <= MOST_WHOLE;

/** Whether a value is longer than what the column's expression has of a text. */
function longIn(relation: RecordRelation, column: ListColumn): (value: FilterValue) => boolean {
  const { whole = false } = relation.column(column, () => "''");
  return (value) => column.kind === "field" && !whole && typeof value === "string" && [...value].length >= TEXT_KEPT;
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
