import { expect, test } from "vitest";
import { readArgs } from "./args.ts";

test("the program accepts whole numbers and explains what it rejects", () => {
  const usual = { claimants: 60, operations: 20_000, records: 12, minutes: 15, seed: undefined, attached: false };
  expect(readArgs([])).toEqual(usual);
  expect(readArgs(["--claimants", "12", "--seed", "0"])).toEqual({ ...usual, claimants: 12, seed: 0 });
  expect(readArgs(["--seed", "1", "--help"])).toBe("");
  for (const args of [["--claimants"], ["--claimants", "1"], ["--minutes", "1.5"], ["--seed", "-1"], ["toString"]])
    expect(readArgs(args)).toMatch(/takes a whole number|is not an option/);
});
