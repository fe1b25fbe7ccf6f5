import { type Comparable, comparable, type JsonObject } from "@holdfast/sdk/protocol";
import type { ListColumn } from "../lists/list-column.ts";
import { columnType, type ListFilter } from "../lists/list-filter.ts";
import { meetsFilters, valueIn } from "../lists/meets-filters.ts";
import type { Followed } from "./followed-records.ts";

/** Followed records of a model, prepared to judge many entries. */
export interface PartsJudge {
  isMet(id: string, data: JsonObject): boolean;
  /** The fields that the conditions name. */
  readonly fields: ReadonlySet<string>;
}

/** Most parts ask for values of one field. These are looked up together, so that an entry costs the same for many parts. */
export function partsJudge(followed: Followed): PartsJudge {
  const wanted = new Map<string, { readonly column: ListColumn; readonly values: Set<Comparable | undefined> }>();
  const others: Followed[number][] = [];
  for (const filters of followed) {
    const [filter] = filters;
    const values = filter && filters.length === 1 ? valuesOf(filter) : undefined;
    if (!filter || !values) {
      others.push(filters);
      continue;
    }
    const { column } = filter;
    const name = column.kind === "field" ? `field ${column.name}` : column.kind;
    const known = wanted.get(name) ?? { column, values: new Set() };
    wanted.set(name, known);
    for (const value of values) known.values.add(value);
  }
  const lookups = [...wanted.values()].map(({ column, values }) => {
    const type = columnType(column);
    return (id: string, data: JsonObject) => values.has(comparable(type, valueIn(column, id, data)));
  });
  const columns = followed.flatMap((filters) => filters.map(({ column }) => column));
  return {
    fields: new Set(columns.flatMap((column) => (column.kind === "field" ? [column.name] : []))),
    isMet: (id, data) =>
      lookups.some((isWanted) => isWanted(id, data)) || others.some((filters) => meetsFilters(filters, id, data)),
  };
}

/** What a filter compares with, if it asks for one of some values. Undefined among them: no value. */
function valuesOf(filter: ListFilter): readonly (Comparable | undefined)[] | undefined {
  const type = columnType(filter.column);
  if (filter.operator === "in") return filter.values.map((value) => comparable(type, value));
  return filter.operator === "eq" ? [comparable(type, filter.value)] : undefined;
}
