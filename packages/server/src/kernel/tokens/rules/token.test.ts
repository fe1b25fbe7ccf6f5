import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hasValidChecksum, looksLikeToken, tokenOf } from "./token.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const random30 = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 30, maxLength: 30 });

test("[H3] the published example: thirty zeros end in 1yMVfD", () => {
  expect(tokenOf("sk_live_", "0".repeat(30))).toBe(`sk_live_${"0".repeat(30)}1yMVfD`);
});

test.runIf(crc32 !== undefined)("[H3] the checksum is the CRC-32 of zlib, in base62, padded", () => {
  fc.assert(
    fc.property(random30, fc.constantFrom("sk_live_", "sk_test_", "rk_", "ek_"), (random, prefix) => {
      let rest = crc32(prefix + random);
      let digits = "";
      for (let i = 0; i < 6; i++, rest = Math.floor(rest / 62)) digits = `${ALPHABET[rest % 62]}${digits}`;
      expect(tokenOf(prefix, random)).toBe(prefix + random + digits);
    }),
    { seed: 20_260_131 },
  );
});

test("[H3] one changed character is always noticed", () => {
  fc.assert(
    fc.property(random30, fc.nat(43), fc.constantFrom(...ALPHABET), (random, place, character) => {
      const token = tokenOf("sk_live_", random);
      expect(hasValidChecksum(token)).toBe(true);
      const at = 8 + (place % 36);
      if (token[at] !== character)
        expect(hasValidChecksum(token.slice(0, at) + character + token.slice(at + 1))).toBe(false);
    }),
    { seed: 20_260_131 },
  );
});

test.each([
  "",
  "sk_live_",
  `sk_prod_${"0".repeat(36)}`,
  `sk_live_${"0".repeat(35)}`,
  `sk_live_${"0".repeat(37)}`,
  `sk_live_${"-".repeat(36)}`,
])("[H3] %j does not look like a token", (text) => {
  expect(looksLikeToken(text)).toBe(false);
  expect(hasValidChecksum(text)).toBe(false);
});
