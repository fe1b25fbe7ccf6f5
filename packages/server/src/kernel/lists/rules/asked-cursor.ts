import { type Refusal, refuse } from "../../refusal.ts";

/** From where on a page is asked for: behind a cursor, or the records right before one. */
export interface AskedCursor {
  readonly side: "starting_after" | "ending_before";
  readonly cursor: string;
}

/** Undefined: the first page. */
export function readCursor(
  given: Readonly<Partial<Record<AskedCursor["side"], unknown>>>,
): AskedCursor | undefined | Refusal {
  if (given.starting_after !== undefined && given.ending_before !== undefined)
    return refuse("invalid_value", {
      param: "ending_before",
      message: `Send either "starting_after" or "ending_before", not both.`,
    });
  const side = given.ending_before === undefined ? "starting_after" : "ending_before";
  const cursor = given[side];
  if (cursor === undefined) return undefined;
  return typeof cursor === "string" ? { side, cursor } : refuse("invalid_cursor", { param: side });
}
