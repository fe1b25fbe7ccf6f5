import { type Model, searchedFields, searchWords } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import type { ListColumn } from "./list-column.ts";

/** A condition: each word occurs in one of the columns. The words are folded, as the database folds the columns. */
export interface SearchFilter {
  readonly operator: "search";
  readonly columns: readonly ListColumn[];
  readonly words: readonly string[];
}

/** Each word is compared with every text. */
const MOST_WORDS = 20;

/** Parses a search in all fields of a model that are indexed for it. */
export function readSearch(text: string, model: Model): SearchFilter | Refusal {
  const columns = searchedFields(model).map((name): ListColumn => ({ kind: "field", name, type: "string" }));
  if (columns.length === 0)
    return refuse("invalid_value", { param: "search", message: `No field of this model has "index": "text".` });
  return searchIn(columns, text, "search");
}

export function searchIn(columns: readonly ListColumn[], text: string, param: string): SearchFilter | Refusal {
  const words = [...new Set(searchWords(text))].filter((word) => word !== "");
  if (words.length > MOST_WORDS)
    return refuse("invalid_value", { param, message: `A search can have up to ${MOST_WORDS} words.` });
  return { operator: "search", columns, words };
}
