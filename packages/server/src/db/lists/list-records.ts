import type { ListColumn } from "../../rules/lists/list-column.ts";
import type { Comparison, ListFilter } from "../../rules/lists/list-filter.ts";
import type { Transaction } from "../connection/transaction.ts";
import { withinBytes } from "../log/within-bytes.ts";
import { recordTable } from "../schema/rewritten-records.ts";
import { columnSql, TEXT_KEPT } from "./record-column.ts";

export interface ListQuestion {
  readonly tenant: number;
  readonly model: string;
  /** A push rewrites records of the tenant: the new form of some is beside their row. */
  readonly rewriting: boolean;
  readonly state: "live" | "archived" | "all";
  readonly ids: readonly string[] | undefined;
  readonly filters: readonly ListFilter[];
  /** Records in one of these groups; undefined: all. */
  readonly groups: readonly string[] | undefined;
  readonly sort: ListColumn;
  readonly descending: boolean;
  /** Where the page before ended: the sort value as Postgres spells it (null: none) and the id. */
  readonly after: PageEnd | undefined;
  readonly limit: number;
  /** Of all records together, unless one alone has more. */
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

/** One page in a total order: by the sort value with absent ones last, then by id. */
export async function listRecords(db: Transaction, question: ListQuestion): Promise<Listed> {
  const { rows } = await db.query<ListedRecord & { fits: boolean }>(listQuery(question));
  const records = rows.filter(({ fits }) => fits).slice(0, question.limit);
  return { records, hasMore: rows.length > records.length };
}

/**
 * Without a name, so that it is planned with its values: only then does Postgres see that a field's index serves it.
 * Records that have a sort value and those that have none are two scans, each of which an index gives in order and from
 * the cursor on; one condition that says both would read all pages before. The second runs when the first has run out.
 */
export function listQuery(question: ListQuestion): { readonly text: string; readonly values: unknown[] } {
  const { sort, descending, after, limit, bytes, rewriting } = question;
  const values: unknown[] = [];
  const param: Param = (value) => `$${values.push(value)}`;
  const { expression, type } = columnSql(sort, (name) => `${param(name)}::text`);
  const [direction, beyond] = descending ? ["desc", "<"] : ["asc", ">"];
  const isBeyond = ({ value, id }: PageEnd) =>
    sort.kind === "id" || value === null
      ? `id ${beyond} ${param(id)}::text`
      : `(${expression}, id) ${beyond} (${param(value)}::text::${type}, ${param(id)}::text)`;
  const most = `${param(limit + 1)}::int`;
  const where = conditionsOf(question, param).join(" and ");
  // Where nulls go is nothing to a scan that meets only nulls, or none; said like this an index can be read backwards.
  const scan = (...more: readonly string[]) =>
    `select id, data, archived_at, ${expression} as value from ${recordTable(rewriting)}
      where ${[where, ...more].join(" and ")} order by ${expression} ${direction}, id ${direction} limit ${most}`;
  // What does not fit is left out, and only that there is more is told.
  const answer = (rows: string) => {
    const order = `part, value ${direction}, id ${direction}`;
    const sized = withinBytes({ rows, order, json: ["data"], rest: "1", bytes: `${param(bytes)}::bigint` });
    const text = `select id, case when fits then data end as data, archived_at as "archivedAt", value::text as value, fits
      from (${sized}) page order by part, page.value ${direction}, page.id ${direction}`;
    return { text, values };
  };

  // A record always has its id and its times.
  const one = (page: string) => answer(`select 1 as part, page.* from (${page}) page`);
  if (sort.kind !== "field") return one(after ? scan(isBeyond(after)) : scan());
  const isAbsent = `${expression} is null`;
  if (after?.value === null) return one(scan(isAbsent, isBeyond(after)));
  const isPresent = after ? isBeyond(after) : `${expression} is not null`;
  return answer(`with present as materialized (${scan(isPresent)}),
      absent as (select * from (${scan(isAbsent)}) rest limit greatest(${most} - (select count(*) from present), 0))
      select 1 as part, * from present union all select 2, * from absent`);
}

type Param = (value: unknown) => string;

function conditionsOf({ tenant, model, state, ids, groups, filters }: ListQuestion, param: Param): string[] {
  return [
    `tenant = ${param(tenant)}::int and model = ${param(model)}::text`,
    ...(state === "all" ? [] : [`archived_at is ${state === "live" ? "" : "not "}null`]),
    ...(ids ? [`id = any(${param(ids)}::text[])`] : []),
    ...(groups ? [`groups && ${param(groups)}::text[]`] : []),
    ...filters.map((filter) => conditionOf(filter, param)),
  ];
}

const OPERATORS = { eq: "=", gt: ">", gte: ">=", lt: "<", lte: "<=" } as const satisfies Record<Comparison, string>;

function conditionOf(filter: ListFilter, param: Param): string {
  const { column, operator, value } = filter;
  const { expression, type } = columnSql(column, (name) => `${param(name)}::text`);
  if (operator === "null") return `${expression} is ${value ? "" : "not "}null`;
  if (type === "timestamptz") return `${expression} ${OPERATORS[operator]} holdfast.instant(${param(value)}::text)`;
  if (column.kind === "field" && typeof value === "string" && [...value].length >= TEXT_KEPT)
    return longTextCondition(column.name, operator, value, expression, param);
  return `${expression} ${OPERATORS[operator]} ${param(value)}::${type}`;
}

/** The kept beginnings decide between most texts, and an index knows them; the whole texts decide the rest. */
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
