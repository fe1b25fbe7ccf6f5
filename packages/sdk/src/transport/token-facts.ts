import type { TokenFacts } from "../core/events.ts";

type Said = { readonly [K in keyof TokenFacts]?: unknown };

/** Whether a frame says whose the token is, and what it may read. */
export const areTokenFacts = (said: Said): said is Omit<TokenFacts, "rowsVersion" | "recordBytes" | "serverTime"> =>
  typeof said.owner === "string" && typeof said.viewHash === "string" && Array.isArray(said.models);

/** The same of what has rows, or says where they continue. */
export const areReadFacts = (said: Said): said is TokenFacts =>
  typeof said.rowsVersion === "number" &&
  typeof (said.recordBytes ?? 0) === "number" &&
  typeof (said.serverTime ?? "") === "string" &&
  areTokenFacts(said);
