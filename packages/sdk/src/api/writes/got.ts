import type { Json } from "../../protocol/json.ts";

/** A value, for people. */
export const got = (value: Json): string =>
  value === null || typeof value === "string"
    ? JSON.stringify(value)?.slice(0, 40)
    : Array.isArray(value)
      ? "an array"
      : typeof value;
