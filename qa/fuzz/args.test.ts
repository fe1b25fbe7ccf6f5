import { expect, test } from "vitest";
import { readArgs } from "./args.ts";

test("the program accepts whole numbers and explains what it rejects", () => {
  expect(readArgs([])).toEqual({ requests: 50_000, seed: undefined, connections: 16 });
  expect(readArgs(["--requests", "10", "--seed", "0", "--connections", "1"])).toEqual({
    requests: 10,
    seed: 0,
    connections: 1,
  });
  expect(readArgs(["--seed", "1", "--help"])).toBe("");
  for (const args of [["--requests"], ["--requests", "0"], ["--seed", "-1"], ["--connections", "1e3"], ["toString"]])
    expect(readArgs(args)).toMatch(/takes a whole number|is not an option/);
});
