/**
 * Columns of many rows, each as one parameter: arrays as Postgres itself writes them (its binary format). Neither side
 * has to escape or to parse them, so they cost both much less than the same rows as JSON.
 */
export const texts = (items: readonly (string | null)[]): Buffer => arrayOf(TEXT, items, Buffer.byteLength, writeText);

export const jsons = (items: readonly (string | null)[]): Buffer =>
  arrayOf(JSON_TEXT, items, Buffer.byteLength, writeText);

/** Whole numbers, as bigint. */
export const numbers = (items: readonly (number | null)[]): Buffer => arrayOf(BIGINT, items, () => 8, writeNumber);

export const booleans = (items: readonly boolean[]): Buffer => arrayOf(BOOLEAN, items, () => 1, writeBoolean);

/** A list within a column of lists, which may be of any length: as text, to be cast to `text[]`. */
export const listText = (items: readonly string[]): string =>
  `{${items.map((item) => `"${item.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;

const BOOLEAN = 16;
const BIGINT = 20;
const TEXT = 25;
const JSON_TEXT = 114;

/** Dimensions (one), whether there may be nulls, type, length, first index (1). */
const HEAD = 20;
const LENGTH = 4;

function arrayOf<T>(
  type: number,
  items: readonly (T | null)[],
  lengthOf: (item: T) => number,
  write: (bytes: Buffer, item: T, at: number) => number,
): Buffer {
  let length = HEAD;
  for (const item of items) length += LENGTH + (item === null ? 0 : lengthOf(item));
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const word of [1, 1, type, items.length, 1]) at = bytes.writeInt32BE(word, at);
  for (const item of items) {
    const written = item === null ? 0 : write(bytes, item, at + LENGTH);
    at = bytes.writeInt32BE(item === null ? -1 : written, at) + written;
  }
  return bytes;
}

const writeText = (bytes: Buffer, text: string, at: number): number => bytes.write(text, at);

function writeNumber(bytes: Buffer, number: number, at: number): number {
  bytes.writeInt32BE(Math.floor(number / 2 ** 32), at);
  bytes.writeUInt32BE(number >>> 0, at + 4);
  return 8;
}

const writeBoolean = (bytes: Buffer, is: boolean, at: number): number => bytes.writeUInt8(is ? 1 : 0, at) - at;
