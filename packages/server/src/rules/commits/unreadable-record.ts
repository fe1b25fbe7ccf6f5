/**
 * A record with more bytes of JSON than this is unreadable. A message of the database may have 64 MiB, and texts take up
 * to twice their bytes once they are quoted, so a row of this size can always be read.
 */
export const READABLE_BYTES = 32 * 1024 * 1024;

/** What a reader is told in place of the values of a record. Undefined bytes: Postgres could not even make the JSON. */
export const tooLargeToRead = (bytes: number | undefined): string =>
  `The record has ${bytes === undefined ? "more JSON than Postgres can make" : `${bytes} bytes of JSON`} (up to ${READABLE_BYTES} can be read). Make its row smaller, or keep the large value elsewhere.`;
