import { expect, test } from "vitest";
import { readWords } from "./words.ts";

test("the program takes whole numbers, and says what it does not take", () => {
  expect(readWords([])).toEqual({ requests: 50_000, seed: undefined, connections: 16 });
  expect(readWords(["--requests", "10", "--seed", "0", "--connections", "1"])).toEqual({
    requests: 10,
    seed: 0,
    connections: 1,
  });
  expect(readWords(["--seed", "1", "--help"])).toBe("");
  for (const words of [["--requests"], ["--requests", "0"], ["--seed", "-1"], ["--connections", "1e3"], ["toString"]])
    expect(readWords(words)).toMatch(/takes a whole number|is not an option/);
});
