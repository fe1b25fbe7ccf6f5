import { randomInt } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Random base62 text. */
export const base62 = (length: number): string =>
  Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");

/** The last six characters of a token: the CRC-32 of the characters before them, in base62. */
export function checksum(body: string): string {
  let rest = crc32(Buffer.from(body, "latin1"));
  let digits = "";
  for (let i = 0; i < 6; i++) {
    digits = ALPHABET[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A well-formed token that does not exist. */
export const inventedToken = (prefix: string): string => {
  const body = prefix + base62(30);
  return body + checksum(body);
};

/** The CRC-32 of IEEE 802.3, as in zlib. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
