import { type FieldType, type Json, type JsonObject, ownValue } from "@holdfast/sdk/protocol";
import { tooLargeToRead } from "../../../kernel/commits/rules/unreadable-record.ts";
import { storableText } from "../../../kernel/json/storable-text.ts";
import { ARCHIVED } from "./archived-column.ts";
import type { AttachedColumn, AttachedTable, ValueForm } from "./attached-table.ts";
import { formOf } from "./sql-type.ts";

/** A JSON value in which numbers that JavaScript would round are kept as digits. */
export type RowValue =
  | string
  | number
  | boolean
  | null
  | Digits
  | readonly RowValue[]
  | { readonly [name: string]: RowValue };

/** Returns the number as it is written. A function, because no JSON value is one. */
export type Digits = () => string;

/** A row's values by column. */
export type ParsedRow = Readonly<Record<string, RowValue>>;

/** In place of a row that is too large to be read: the bytes of its JSON (null: Postgres cannot make it), and its key. */
export type UnreadRow = readonly [bytes: number | null, key: string];

/** A row as it was captured. */
export type CapturedImage = ParsedRow | UnreadRow;

export const isUnread = (image: CapturedImage): image is UnreadRow => Array.isArray(image);

/** The key of a row; undefined if its column is gone. */
export const keyOf = (image: CapturedImage, { keyColumn }: Pick<AttachedTable, "keyColumn">): RowValue | undefined =>
  isUnread(image) ? image[1] : ownValue(image, keyColumn);

/** A row, read with its table's columns. */
export interface RowImage {
  /** The record's id; undefined if the key column is gone. */
  readonly id: string | undefined;
  /** The values by field. */
  readonly data: JsonObject;
  /** Columns that the row does not have any more. */
  readonly missing: readonly string[];
  /** Columns whose values are not of their fields' types. */
  readonly mistyped: readonly string[];
  /** Why it has no values, if it is too large to be read. */
  readonly unreadable?: string;
}

/** How to read the rows of a table. */
export interface RowForm extends Pick<AttachedTable, "keyColumn"> {
  readonly keyType?: string | null;
  readonly columns: readonly Omit<AttachedColumn, "sqlType">[];
}

/** Postgres does not count the blanks at the end of char(n). */
const idOf = (key: string, type: string | null | undefined): string =>
  type?.startsWith("character(") ? key.replace(/ +$/, "") : key;

export function readRowImage(row: CapturedImage, { keyColumn, keyType, columns }: RowForm): RowImage {
  const key = keyOf(row, { keyColumn }) ?? null;
  const id = key === null ? undefined : idOf(String(textOf(key)), keyType);
  if (isUnread(row))
    return { id, data: {}, missing: [], mistyped: [], unreadable: tooLargeToRead(row[0] ?? undefined) };
  const data = Object.fromEntries(
    columns.map(({ field, name, declared, type }) => [
      field,
      // `archiveTime` reads any moment.
      FORMS[field === ARCHIVED ? "json" : formOf(declared, type)](ownValue(row, name) ?? null),
    ]),
  );
  const missing = columns.filter(({ name }) => !Object.hasOwn(row, name)).map(({ name }) => name);
  const mistyped = columns
    .filter(({ field, declared, type }) => !isOf(declared, type, data[field] ?? null))
    .map(({ name }) => name);
  return { id, data, missing, mistyped };
}

/** Whether a value came from a column of a type that the field takes. As JSON, NaN and the infinite numbers are texts. */
function isOf(declared: FieldType, type: string, value: Json): boolean {
  if (value === null || declared === "json" || type.startsWith("json")) return true;
  if (declared === "array") return Array.isArray(value);
  if (declared === "integer" || declared === "number") return typeof value === "number" || NO_NUMBERS.has(value);
  return typeof value === (declared === "boolean" ? "boolean" : "string");
}

const NO_NUMBERS: ReadonlySet<Json> = new Set(["NaN", "Infinity", "-Infinity"]);

const FORMS: Readonly<Record<ValueForm, (value: RowValue) => Json>> = {
  json: storable,
  text: textOf,
  number: (value) => (typeof value === "string" && NO_NUMBERS.has(value) ? null : storable(value)),
  time: timeOf,
};

/**
 * `2026-01-02T03:04:05.6+00:00` → `2026-01-02T03:04:05.600Z`. Postgres can have up to six digits: they all stay. What no
 * date-time can be (`infinity`, years before 1 and after 9999) is null.
 */
function timeOf(value: RowValue): Json {
  const [, start, fraction = ""] = (typeof value === "string" && TIME.exec(value)) || [];
  return start === undefined ? null : `${start}.${fraction.padEnd(3, "0")}Z`;
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?\+00:00$/;

/** A number, or those of an array, as it is written, with all its digits. */
function textOf(value: RowValue): Json {
  if (Array.isArray(value)) return value.map(textOf);
  if (typeof value === "number") return String(value);
  return typeof value === "function" ? value() : storable(value);
}

/**
 * The value as a record keeps it. NUL and halves of characters become U+FFFD: Postgres keeps them in a json column, but
 * could not read a field of a record that has one.
 */
function storable(value: RowValue): Json {
  if (typeof value === "string") return storableText(value);
  // JSON knows no number that a double cannot hold.
  if (typeof value === "function") return Number.isFinite(Number(value())) ? Number(value()) : null;
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(storable);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storable(name) as string, storable(member)]),
  );
}
