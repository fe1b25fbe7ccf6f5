import { expect, test } from "vitest";
import { readArgs } from "./args.ts";

const SUITES = ["conformance", "commits", "claims", "deliveries", "tables", "simulate"];

test("the program accepts suites, words of a name and whole numbers, and explains what it rejects", () => {
  expect(readArgs([])).toEqual({ suites: SUITES, only: "", seed: 1, jobs: undefined, list: false });
  expect(
    readArgs(["--suite", "claims", "--suite", "simulate", "--only", "a fence", "--seed", "0", "--jobs", "2"]),
  ).toEqual({ suites: ["claims", "simulate"], only: "a fence", seed: 0, jobs: 2, list: false });
  expect(readArgs(["--list"])).toMatchObject({ list: true });
  expect(readArgs(["--seed", "1", "--help"])).toBe("");
  const wrong = [["--jobs", "0"], ["--jobs", "65"], ["--seed", "-1"], ["--seed"], ["--suite", "x"], ["--only"], ["on"]];
  for (const args of wrong)
    expect(readArgs(args)).toMatch(/takes a (whole number|value)|takes some of|is not an option/);
});
