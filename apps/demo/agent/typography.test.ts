import { expect, test } from "vitest";
import { polish } from "./typography.ts";

test.each([
  [`She said "go".`, "She said “go”."],
  [`"Don't," he said.`, "“Don’t,” he said."],
  [`the '90s and ("both")`, "the ‘90s and (“both”)"],
  ["one - two -- three", "one – two – three"],
  ["well-known -5", "well-known -5"],
  ["and so on...", "and so on…"],
  ["too  many   spaces  \nnext", "too many spaces\nnext"],
  ["    indented", "    indented"],
])("%j becomes %j", (text, polished) => {
  expect(polish(text)).toBe(polished);
  expect(polish(polished)).toBe(polished);
});
