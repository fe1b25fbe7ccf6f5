import { Type } from "typebox";
import { limits } from "./limits.ts";

export const model = { description: "Model name; may be repeated.", repeatable: true } as const;
export const group = {
  description: "Sync group `<kind>:<id>`; may be repeated.",
  repeatable: true,
  schema: Type.String({ pattern: "^[a-z][a-z0-9_]*:[^\\s]{1,200}$" }),
} as const;
export const wholeNumber = (minimum: number, maximum: number, absent: number) =>
  Type.Integer({ minimum, maximum, default: absent });

export const tokenPage = {
  limit: { description: "1 to 100, default 20.", schema: wholeNumber(1, limits.listMax, limits.listDefault) },
  starting_after: { description: "`next_cursor` of the previous page." },
} as const;
