import { expect, test } from "vitest";
import { howToCatchUp, nextStep } from "./next-step.ts";

const at = (source: boolean, head: boolean, arrival = false) =>
  nextStep({ source: { head: source }, target: { head, arrival } });

test("[DS23] a move goes on from what is in the two databases", () => {
  expect(at(true, false)).toBe("copy");
  // It is from an attempt that stopped before the source was closed: writes may have followed.
  expect(at(true, false, true)).toBe("copy");
  expect(at(false, false, true)).toBe("open");
  expect(at(false, true)).toBe("finish");
  expect(() => at(true, true)).toThrow("Two databases");
  expect(() => at(false, false)).toThrow("No database");
});

test("[DS23] a copy catches up, and starts over after changes that no position tells", () => {
  const copied = { syncId: 100, schemaVersion: 2, erasedTo: 7, trimmedTo: 3, rewriting: false };
  expect(howToCatchUp(copied, copied)).toBe("last pass");
  expect(howToCatchUp(copied, { ...copied, syncId: 1_100 })).toBe("last pass");
  expect(howToCatchUp(copied, { ...copied, syncId: 1_101 })).toBe("another pass");
  for (const change of [{ schemaVersion: 3 }, { erasedTo: 101 }, { trimmedTo: 4 }, { rewriting: true }])
    expect(howToCatchUp(copied, { ...copied, ...change })).toBe("again");
  // What it copied was half rewritten, even if the rest is done by now.
  expect(howToCatchUp({ ...copied, rewriting: true }, copied)).toBe("again");
});
