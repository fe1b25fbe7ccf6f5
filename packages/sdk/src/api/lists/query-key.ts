import { tableOf } from "../../core/log/tables.ts";

/** The same for queries of a model that ask for the same. */
export const queryKey = (model: string, query: unknown): string => `${tableOf(model)} ${JSON.stringify(query, apart)}`;

/**
 * Marks values that JSON would drop or turn into null. Record strings cannot contain NUL, so the marker is unambiguous.
 */
const apart = (_key: string, value: unknown): unknown =>
  value === undefined || (typeof value === "number" && !Number.isFinite(value)) ? `\0${value}` : value;
