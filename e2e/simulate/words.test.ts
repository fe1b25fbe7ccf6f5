import { expect, test } from "vitest";
import { readWords } from "./words.ts";

test("the program takes whole numbers, and says what it does not take", () => {
  expect(readWords([])).toEqual({ schedules: 20_000, seed: undefined, processes: undefined });
  expect(readWords(["--schedules", "1", "--seed", "0", "--processes", "2"])).toEqual({
    schedules: 1,
    seed: 0,
    processes: 2,
  });
  expect(readWords(["--seed", "1", "--help"])).toBe("");
  for (const words of [["--schedules"], ["--schedules", "0"], ["--seed", "-1"], ["--processes", "65"], ["toString"]])
    expect(readWords(words)).toMatch(/takes a whole number|is not an option/);
});
