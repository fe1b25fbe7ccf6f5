import { parse } from "lossless-json";
import type { ParsedRow } from "../../rules/tables/row-image.ts";
import type { Transaction } from "../connection/transaction.ts";

/** Reads a row as Postgres writes it in JSON. Numbers that JavaScript would round keep their digits. */
export const parseRow = (text: string): ParsedRow =>
  parse(cutDeep(text), undefined, {
    parseNumber: (digits) => (String(Number(digits)) === digits ? Number(digits) : () => digits),
    onDuplicateKey: ({ newValue }) => newValue,
  }) as ParsedRow;

/** Deeper than a person or program writes it on purpose, and not deep enough to exhaust our stack. */
const DEEPEST = 500;

/** JSON with null for what is nested deeper than `DEEPEST` levels: Postgres stores values of any depth. */
export function cutDeep(text: string): string {
  if (text.length <= 2 * DEEPEST) return text;
  let kept = "";
  let from = 0;
  let depth = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (isInText) {
      if (char === "\\") i += 1;
      else if (char === '"') isInText = false;
    } else if (char === '"') isInText = true;
    else if (char === "[" || char === "{") {
      depth += 1;
      if (depth === DEEPEST + 1) kept += `${text.slice(from, i)}null`;
    } else if (char === "]" || char === "}") {
      if (depth === DEEPEST + 1) from = i + 1;
      depth -= 1;
    }
  }
  return kept + text.slice(from);
}

/** The text of rows must not depend on settings of the database: see `holdfast.capture_change`. */
export const pinText = (tx: Transaction) =>
  tx.query(`set local search_path = pg_catalog, pg_temp; set local datestyle = 'ISO, MDY';
    set local intervalstyle = 'iso_8601'; set local extra_float_digits = 1; set local bytea_output = 'hex';
    set local lc_monetary = 'C'`);

export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
