import { expect, test } from "vitest";
import { sentence } from "./error-sentence.ts";

test.each([
  ["clears the screen", "\u001b[2Jall is well", "\\u001b[2Jall is well."],
  ["goes back in the line", "no\rbroken", "no\\u000dbroken."],
  ["has 8-bit controls", "\u009b2J", "\\u009b2J."],
  ["turns the direction of text", "a\u202eb", "a\\u202eb."],
  ["has letters of other languages", "Schéma «größe» 不存在", "Schéma «größe» 不存在."],
])("[DS68] a database's message that %s is shown without effect", (_, message, shown) => {
  expect(sentence(new Error(message))).toBe(shown);
});
