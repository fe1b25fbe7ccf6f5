import type { Json } from "../../protocol/json.ts";

/** The ids in the value of a field that references: one, or those of an array, each once. */
export function idsIn(value: Json | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) return NONE;
  const ids = value.filter((item) => typeof item === "string");
  return ids.length > 1 ? [...new Set(ids)] : ids;
}

const NONE: readonly never[] = [];
