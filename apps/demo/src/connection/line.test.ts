import { expect, test } from "vitest";
import { breaksSocket, fateOf, LINES, lineOf } from "./line.ts";

const rolls = Array.from({ length: 300 }, (_, at) => at / 300);

test("of three requests on a lossy line one is lost, one loses its answer, and one arrives", () => {
  const fates = rolls.map((roll) => fateOf("lossy", roll));
  for (const fate of ["is-lost", "loses-its-answer", "arrives"])
    expect(fates.filter((one) => one === fate)).toHaveLength(100);
  expect(rolls.filter((roll) => breaksSocket("lossy", roll))).toHaveLength(30);
});

test.each(LINES.filter((line) => line !== "lossy"))("nothing is lost on a line that is %s", (line) => {
  for (const roll of rolls) expect([fateOf(line, roll), breaksSocket(line, roll)]).toEqual(["arrives", false]);
});

test("what is remembered is a line, or online", () => {
  expect(["slow", "offline", "purple", "", null].map(lineOf)).toEqual([
    "slow",
    "offline",
    "online",
    "online",
    "online",
  ]);
});
