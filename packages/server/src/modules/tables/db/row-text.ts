import { parse } from "lossless-json";
import { cutDeep, endOfText } from "../../../kernel/connection/cut-deep.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { CapturedImage, ParsedRow, UnreadRow } from "../rules/row-image.ts";

/** Reads a captured image. An array is in place of a row that is too large to be read. */
export const imageOf = (text: string): CapturedImage =>
  text.startsWith("[") ? (JSON.parse(text) as UnreadRow) : parseRow(text);

/**
 * Something that may be a number which JavaScript would write otherwise: -0, a zero at the end of a fraction, an exponent,
 * many digits, or a fraction so small that it gets an exponent.
 */
const UNUSUAL_NUMBER = /-0|\.\d*0(?!\d)|\d[eE]|[\d.]{16}|\.0{6}/;

/**
 * Reads a row as Postgres writes it in JSON. Numbers that JavaScript would round keep their digits. Long texts, and rows in
 * which no number may need that, are read by JavaScript itself, which takes a fiftieth and an eighth of the time.
 */
export function parseRow(text: string): ParsedRow {
  const { short, long, mark } = withoutLongTexts(cutDeep(text));
  const restored = (_: string, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? long[Number(value.slice(mark.length))] : value;
  const reviver = long.length > 0 ? restored : undefined;
  if (!UNUSUAL_NUMBER.test(short)) return JSON.parse(short, reviver) as ParsedRow;
  return parse(short, reviver, {
    parseNumber: (digits) => (String(Number(digits)) === digits ? Number(digits) : () => digits),
    onDuplicateKey: ({ newValue }) => newValue,
  }) as ParsedRow;
}

const LONG = 1_000;

/** JSON without its long texts: in the place of each stands a text of `mark` and its place in `long`. */
function withoutLongTexts(text: string): {
  readonly short: string;
  readonly long: readonly string[];
  readonly mark: string;
} {
  let mark = "~";
  if (text.length <= LONG) return { short: text, long: [], mark };
  while (text.includes(`"${mark}`)) mark += "~";
  const long: string[] = [];
  let short = "";
  let from = 0;
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfText(text, start);
    if (end - start > LONG && !isName(text, end)) {
      short += `${text.slice(from, start)}"${mark}${long.length}"`;
      long.push(JSON.parse(text.slice(start, end + 1)) as string);
      from = end + 1;
    }
    start = text.indexOf('"', end + 1);
  }
  return { short: short + text.slice(from), long, mark };
}

/** Whether the text that ends here is a member's name. */
function isName(text: string, end: number): boolean {
  let next = end + 1;
  while (/\s/.test(text[next] ?? "")) next += 1;
  return text[next] === ":";
}

/** The text of rows must not depend on settings of the database: see `holdfast.capture_change`. */
export const pinText = (tx: Transaction) =>
  tx.query(`set local search_path = pg_catalog, pg_temp; set local datestyle = 'ISO, MDY';
    set local intervalstyle = 'iso_8601'; set local extra_float_digits = 1; set local bytea_output = 'hex';
    set local lc_monetary = 'C'`);

export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
