import { parse } from "lossless-json";
import type { ParsedRow } from "../../rules/tables/row-image.ts";
import type { Transaction } from "../connection/transaction.ts";

/** Reads a row as Postgres writes it in JSON. Numbers that JavaScript would round keep their digits. */
export const parseRow = (text: string): ParsedRow =>
  parse(text, undefined, {
    parseNumber: (digits) => (String(Number(digits)) === digits ? Number(digits) : () => digits),
    onDuplicateKey: ({ newValue }) => newValue,
  }) as ParsedRow;

/** The text of rows must not depend on settings of the database: see migration 20. */
export const pinText = (tx: Transaction) =>
  tx.query("set local intervalstyle = 'iso_8601'; set local extra_float_digits = 1");

export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
