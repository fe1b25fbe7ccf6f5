import { isSyncGroup, ownValue } from "@holdfast/sdk/protocol";
import type { Parameter } from "../../kernel/lists/rules/list-filter.ts";
import { type Refusal, refuse } from "../../kernel/refusal.ts";
import type { Query, QueryTable } from "./answer.ts";

/**
 * Reads the query parameters as text. Each has to be known, and may occur only once unless it is repeatable. On routes
 * that take filters, unknown parameters are passed on, because only the model knows its fields.
 */
export function readQuery(search: string, table: QueryTable | undefined, takesFilters = false): Query | Refusal {
  if (search === "") return NO_QUERY;
  const one: Record<string, string> = {};
  const many: Record<string, string[]> = {};
  const others: Parameter[] = [];
  for (const [name, value] of new URLSearchParams(search)) {
    const known = table && ownValue(table, name);
    if (!known && !takesFilters) return refuse("unknown_parameter", { param: name.slice(0, 100) });
    // No stored text contains a NUL, and Postgres rejects it.
    if (value.includes("\0"))
      return refuse(CURSORS.has(name) ? "invalid_cursor" : "invalid_value", { param: name.slice(0, 100) });
    if (!known) others.push([name, value]);
    else if (known.repeatable) many[name] = [...(many[name] ?? []), value];
    else if (Object.hasOwn(one, name))
      return refuse(name === "limit" ? "invalid_limit" : "invalid_value", {
        param: name,
        message: `"${name}" must appear only once.`,
      });
    else one[name] = value;
  }
  return { one, many, others };
}

const CURSORS: ReadonlySet<string> = new Set(["starting_after", "ending_before"]);
const NO_QUERY: Query = { one: {}, many: {}, others: [] };

/** Parses a whole number, digits only, within bounds. Never clamped. */
export function readInteger(
  text: string | undefined,
  { name, min, max, absent }: { name: string; min: number; max: number; absent: number },
): number | Refusal {
  if (text === undefined) return absent;
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  return refuse(name === "limit" ? "invalid_limit" : "invalid_value", {
    param: name,
    message: `"${name}" must be a whole number from ${min} to ${max}.`,
  });
}

/** Parses `true` or `false`; absent is false. */
export function readFlag(text: string | undefined, name: string): boolean | Refusal {
  if (text === undefined || text === "false") return false;
  return text === "true" || refuse("invalid_value", { param: name, message: `"${name}" must be true or false.` });
}

export function checkGroups(groups: readonly string[] | undefined): Refusal | undefined {
  return groups?.every(isSyncGroup) === false ? refuse("invalid_sync_group", { param: "group" }) : undefined;
}
