import { expect, test } from "vitest";
import { PARTS, readWords } from "./words.ts";

test("the program takes whole numbers and parts, and says what it does not take", () => {
  const usual = { seconds: 120, endpoints: 8, writers: 6, servers: 2, events: 100_000, seed: undefined, only: PARTS };
  expect(readWords([])).toEqual(usual);
  expect(readWords(["--only", "run,poison", "--seed", "0"])).toEqual({ ...usual, only: ["run", "poison"], seed: 0 });
  expect(readWords(["--seed", "1", "--help"])).toBe("");
  for (const words of [["--seconds"], ["--endpoints", "0"], ["--writers", "1.5"], ["--seed", "-1"]])
    expect(readWords(words)).toMatch(/takes a whole number/);
  expect(readWords(["--only", "run,walk"])).toMatch(/takes some of/);
  for (const word of ["toString", "--toString", "seconds"]) expect(readWords([word, "1"])).toMatch(/is not an option/);
});
