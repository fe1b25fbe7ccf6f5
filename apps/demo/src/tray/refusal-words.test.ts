import { expect, test } from "vitest";
import { refusalWords } from "./refusal-words.ts";

test.each([
  ["already_exists", "It is still there, or there again."],
  ["capability_scope_denied", "You may not do that."],
  ["storage_full", "The server has no room left."],
  ["schema_incompatible", "As the server says it."],
] as const)("%s is said as: %s", (code, says) => {
  expect(refusalWords({ code, message: "As the server says it." })).toBe(says);
});
