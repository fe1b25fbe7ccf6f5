import { expect, test } from "vitest";
import { readArgs } from "./args.ts";

test("the program accepts whole numbers and explains what it rejects", () => {
  expect(readArgs([])).toEqual({ schedules: 20_000, seed: undefined, processes: undefined });
  expect(readArgs(["--schedules", "1", "--seed", "0", "--processes", "2"])).toEqual({
    schedules: 1,
    seed: 0,
    processes: 2,
  });
  expect(readArgs(["--seed", "1", "--help"])).toBe("");
  for (const args of [["--schedules"], ["--schedules", "0"], ["--seed", "-1"], ["--processes", "65"], ["toString"]])
    expect(readArgs(args)).toMatch(/takes a whole number|is not an option/);
});
