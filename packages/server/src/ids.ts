import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/**
 * The largest multiple of 62 that fits into a byte. Larger bytes are dropped, so that every character is equally
 * likely.
 */
const FAIR = 248;

let pool = randomBytes(8_192);
let used = 0;

/** Unguessable random base62 characters. */
export function base62(length: number): string {
  let text = "";
  while (text.length < length) {
    if (used === pool.length) {
      pool = randomBytes(pool.length);
      used = 0;
    }
    const byte = pool[used++] as number;
    if (byte < FAIR) text += ALPHABET[byte % 62];
  }
  return text;
}

/** `<prefix>` and 24 base62 characters, such as `req_…`, `stx_…`, `log_…`. */
export const newId = (prefix: string): string => prefix + base62(24);
