import { expect, test } from "vitest";
import { usageOf } from "./program.ts";
import { readArgs } from "./read-args.ts";

const table = {
  seeds: { says: "runs", count: [1, 100], default: 20 },
  seed: { says: "of the first one", count: [0, 9] },
  suite: { says: "some of a, b, c", someOf: ["a", "b", "c"] },
  list: { says: "prints the names", flag: true },
} as const;
const read = (...args: string[]) => readArgs(table, args);

test("missing options have their defaults", () => {
  expect(read()).toEqual({ seeds: 20, seed: undefined, suite: ["a", "b", "c"], list: false });
});

test("values may follow a space or an equals sign; the last one counts", () => {
  expect(read("--seeds", "3", "--seed=0", "--seeds", "4", "--list")).toMatchObject({
    seeds: 4,
    seed: 0,
    list: true,
  });
});

test("names may be repeated, or have commas between them", () => {
  expect(read("--suite", "c,a")).toMatchObject({ suite: ["c", "a"] });
  expect(read("--suite", "c", "--suite", "b")).toMatchObject({ suite: ["c", "b"] });
});

test("--help works at any position, even beside invalid arguments", () => {
  expect(read("--nothing", "--help")).toBe("");
});

test.each([
  [["--nothing"], '"--nothing" is not an option.'],
  [["--toString"], '"--toString" is not an option.'],
  [["seeds"], '"seeds" is not an option.'],
  [["-s", "1"], '"-s" is not an option.'],
  [["--seeds"], "--seeds takes a whole number from 1 to 100."],
  [["--seeds", "101"], "--seeds takes a whole number from 1 to 100."],
  [["--seeds", "1.5"], "--seeds takes a whole number from 1 to 100."],
  [["--seed", "-1"], "--seed takes a whole number from 0 to 9."],
  [["--suite", "a,x"], "--suite takes some of a, b, c."],
  [["--list=yes"], "--list takes no value."],
])("%j: %s", (args, sentence) => {
  expect(read(...args)).toBe(sentence);
});

test("the usage says each option, with its default", () => {
  expect(
    usageOf({ name: "judge", says: "Judges.", options: table }),
  ).toBe(`Usage: npm run judge [-- [--seeds N] [--seed N] [--suite NAMES] [--list]]

Judges.

  --seeds N      runs: 20
  --seed N       of the first one
  --suite NAMES  some of a, b, c
  --list         prints the names
`);
});
