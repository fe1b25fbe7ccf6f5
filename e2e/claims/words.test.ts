import { expect, test } from "vitest";
import { readWords } from "./words.ts";

test("the program takes whole numbers, and says what it does not take", () => {
  const usual = { claimants: 60, operations: 20_000, records: 12, minutes: 15, seed: undefined };
  expect(readWords([])).toEqual(usual);
  expect(readWords(["--claimants", "12", "--seed", "0"])).toEqual({ ...usual, claimants: 12, seed: 0 });
  expect(readWords(["--seed", "1", "--help"])).toBe("");
  for (const words of [["--claimants"], ["--claimants", "1"], ["--minutes", "1.5"], ["--seed", "-1"], ["toString"]])
    expect(readWords(words)).toMatch(/takes a whole number|is not an option/);
});
