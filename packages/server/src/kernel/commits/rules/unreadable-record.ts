/**
 * A record with more bytes of JSON than this is unreadable. A message of the database may have 64 MiB: three images
 * of a row, as a captured change may have, and what a list is sorted by beside a row.
 */
export const READABLE_BYTES = 16 * 1024 * 1024;

/** Nor one with more JSON values: what is made of them takes memory by their number. The SQL has it too. */
const READABLE_VALUES = 500_000;

/**
 * What a reader is told in place of the values of a record. Undefined bytes: Postgres could not even make the JSON. Below
 * zero: the number of JSON values.
 */
export function tooLargeToRead(bytes: number | undefined): string {
  const [has, most] =
    bytes === undefined
      ? ["more JSON than Postgres can make", READABLE_BYTES]
      : bytes < 0
        ? [`${-bytes} JSON values`, READABLE_VALUES]
        : [`${bytes} bytes of JSON`, READABLE_BYTES];
  return `The record has ${has} (up to ${most} can be read). Make its row smaller, or keep the large value elsewhere.`;
}
