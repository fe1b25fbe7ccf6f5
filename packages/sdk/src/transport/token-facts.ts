import type { TokenFacts } from "../core/events.ts";

/** Whether a response says all that a client needs to know of its token. */
export const areTokenFacts = (said: { readonly [K in keyof TokenFacts]?: unknown }): said is TokenFacts =>
  typeof said.rowsVersion === "number" &&
  typeof said.owner === "string" &&
  typeof said.viewHash === "string" &&
  Array.isArray(said.models);
