/**
 * A record with more bytes of JSON than this is unreadable. A message of the database may have 64 MiB: three images
 * of a row, as a captured change may have, and what a list is sorted by beside a row.
 */
export const READABLE_BYTES = 16 * 1024 * 1024;

/** What a reader is told in place of the values of a record. Undefined bytes: Postgres could not even make the JSON. */
export const tooLargeToRead = (bytes: number | undefined): string =>
  `The record has ${bytes === undefined ? "more JSON than Postgres can make" : `${bytes} bytes of JSON`} (up to ${READABLE_BYTES} can be read). Make its row smaller, or keep the large value elsewhere.`;
