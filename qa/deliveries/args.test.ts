import { expect, test } from "vitest";
import { PARTS, readArgs } from "./args.ts";

test("the program accepts whole numbers and parts, and explains what it rejects", () => {
  const usual = {
    seconds: 120,
    endpoints: 8,
    writers: 6,
    servers: 2,
    events: 100_000,
    seed: undefined,
    attached: false,
    only: PARTS,
  };
  expect(readArgs([])).toEqual(usual);
  expect(readArgs(["--only", "run,days", "--seed", "0"])).toEqual({ ...usual, only: ["run", "days"], seed: 0 });
  expect(readArgs(["--seed", "1", "--help"])).toBe("");
  for (const args of [["--seconds"], ["--endpoints", "0"], ["--writers", "1.5"], ["--seed", "-1"]])
    expect(readArgs(args)).toMatch(/takes a whole number/);
  expect(readArgs(["--only", "run,walk"])).toMatch(/takes some of/);
  for (const word of ["toString", "--toString", "seconds"]) expect(readArgs([word, "1"])).toMatch(/is not an option/);
});
