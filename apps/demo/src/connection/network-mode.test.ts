import { expect, test } from "vitest";
import { breaksSocket, fateOf, NETWORK_MODES, networkModeOf } from "./network-mode.ts";

const rolls = Array.from({ length: 300 }, (_, at) => at / 300);

test("of three requests over a lossy network one is lost, one loses its answer, and one arrives", () => {
  const fates = rolls.map((roll) => fateOf("lossy", roll));
  for (const fate of ["is-lost", "loses-its-answer", "arrives"])
    expect(fates.filter((one) => one === fate)).toHaveLength(100);
  expect(rolls.filter((roll) => breaksSocket("lossy", roll))).toHaveLength(30);
});

test.each(NETWORK_MODES.filter((mode) => mode !== "lossy"))("no request is lost in the mode %s", (mode) => {
  for (const roll of rolls) expect([fateOf(mode, roll), breaksSocket(mode, roll)]).toEqual(["arrives", false]);
});

test("an unknown stored mode counts as online", () => {
  expect(["slow", "offline", "purple", "", null].map(networkModeOf)).toEqual([
    "slow",
    "offline",
    "online",
    "online",
    "online",
  ]);
});
