import { expect, test } from "vitest";
import { readArgs } from "./args.ts";

test("the program accepts whole numbers, and explains what it rejects", () => {
  expect(readArgs([])).toEqual({ minutes: 2, writers: 8, seed: undefined });
  expect(readArgs(["--minutes", "10", "--writers", "4", "--seed", "0"])).toEqual({ minutes: 10, writers: 4, seed: 0 });
  expect(readArgs(["--help"])).toBe("");
  for (const args of [["--minutes", "0"], ["--writers", "101"], ["--seed", "-1"], ["--minutes"], ["10"]])
    expect(readArgs(args)).toMatch(/takes a whole number|is not an option/);
});
