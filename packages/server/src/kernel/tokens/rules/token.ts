/** The prefix shows the kind of a token. */
export const tokenPrefixes = { live: "sk_live_", test: "sk_test_", capability: "rk_", ephemeral_key: "ek_" } as const;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM = 30;
const CHECKSUM = 6;
const SHAPE = new RegExp(`^(?:sk_live_|sk_test_|rk_|ek_)[0-9A-Za-z]{${RANDOM + CHECKSUM}}$`);

/** The kind of a token, by its first letters. */
export type TokenPrefix = "sk" | "rk" | "ek";

export const prefixOf = (token: string): TokenPrefix =>
  token.startsWith("rk_") ? "rk" : token.startsWith("ek_") ? "ek" : "sk";

/** Whether a text has the form of a token, valid or not: enough to keep it out of URLs and logs. */
export const looksLikeToken = (text: string): boolean => SHAPE.test(text);

export const isSecretKey = (token: string): boolean => token.startsWith("sk_");

/** Whether the last six characters match the rest. A mistyped or invented token is refused without a database query. */
export const hasValidChecksum = (token: string): boolean =>
  looksLikeToken(token) && token.endsWith(checksum(token.slice(0, -CHECKSUM)));

/** Builds a token from its prefix and 30 random base62 characters. */
export const tokenOf = (prefix: string, random: string): string => `${prefix}${random}${checksum(prefix + random)}`;

/** CRC-32 (IEEE, as zlib's) of the ASCII text, in six base62 digits. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i) & 0xff;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let digits = "";
  for (let i = 0; i < CHECKSUM; i++) {
    digits = ALPHABET[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
