import { expect, test } from "vitest";
import { spell } from "./spelling.ts";

test.each([
  ["Teh deck", "The deck"],
  ["they recieved it, seperately", "they received it, separately"],
  ["it is the the same", "it is the same"],
  ["The the end", "The end"],
  ["he had had that that day", "he had had that that day"],
  ["Tehran, the theatre", "Tehran, the theatre"],
  ["one the\nthe other", "one the\nthe other"],
])("%j becomes %j", (text, right) => {
  expect(spell(text)).toBe(right);
  expect(spell(right)).toBe(right);
});
