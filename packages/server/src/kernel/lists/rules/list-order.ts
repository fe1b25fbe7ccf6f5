import { limits, type Model } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import { type SortColumn, sortColumn } from "./list-column.ts";

/** What a list is sorted by, and which way. Missing values come last in both directions. */
export interface SortKey {
  readonly column: Exclude<SortColumn, { readonly kind: "id" }>;
  readonly descending: boolean;
}

/** A total order of records: by these keys, then by the id. */
export interface ListOrder {
  readonly keys: readonly SortKey[];
  readonly idDescending: boolean;
}

interface AskedKey {
  readonly column: SortColumn;
  readonly descending: boolean;
}

/** Ids break ties in the direction of the first key. No two records have one id, so nothing counts behind it. */
export function listOrder(asked: readonly AskedKey[], descending: boolean): ListOrder {
  const keys: SortKey[] = [];
  for (const { column, descending: own } of asked) {
    if (column.kind === "id") return { keys, idDescending: own };
    keys.push({ column, descending: own });
  }
  return { keys, idDescending: keys[0]?.descending ?? descending };
}

const DIRECTION = /:(asc|desc)$/;

/** Parses `order_by`: keys separated by commas, each `<column>`, `<column>:desc` or `<field>:values:asc`. */
export function readOrder(spelled: string, order: "asc" | "desc", model: Model): ListOrder | Refusal {
  const parts = spelled.split(",");
  if (parts.length > limits.sortKeys) return tooManyKeys("order_by");
  const keys: AskedKey[] = [];
  for (const part of parts) {
    const [, direction = order] = DIRECTION.exec(part) ?? [];
    const column = sortColumn(part.replace(DIRECTION, ""), model);
    if (!column) return refuse("unknown_column", { param: "order_by" });
    keys.push({ column, descending: direction === "desc" });
  }
  return listOrder(keys, order === "desc");
}

export const tooManyKeys = (param: string): Refusal =>
  refuse("invalid_value", { param, message: `A list can be sorted by up to ${limits.sortKeys} keys.` });
