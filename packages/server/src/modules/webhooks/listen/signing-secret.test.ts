import { expect, test } from "vitest";
import { checkedSecret, newSecret } from "./signing-secret.ts";

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;

test.each([
  "whsec_",
  "whsec_c2hvcnQ=",
  secretOf(23),
  secretOf(65),
  secretOf(32).slice("whsec_".length),
  `${secretOf(32)} `,
  `whsec_${Buffer.alloc(32).toString("hex")}!`,
  "sk_live_0000",
])("[W63] %j is no secret to sign with", (secret) => {
  expect(() => checkedSecret(secret)).toThrow("--secret must be whsec_ and the base64 of 24 to 64 bytes.");
});

test("[W63] secrets of 24 to 64 bytes sign; one that is made has 32, and is another each time", () => {
  for (const bytes of [24, 32, 64]) expect(checkedSecret(secretOf(bytes))).toBe(secretOf(bytes));
  expect(checkedSecret(newSecret())).toHaveLength(secretOf(32).length);
  expect(newSecret()).not.toBe(newSecret());
});
