import { expect, test } from "vitest";
import { judgePlaces } from "./judge-places.ts";

test.each([
  ["where the directory says", "own", ["own"], [], false, undefined],
  ["in two databases", "own", ["own", "second"], [], false, "several"],
  ["in two databases while it moves", "own", ["own", "second"], [], true, "several"],
  ["elsewhere", "own", ["second"], [], false, "elsewhere"],
  ["elsewhere, on its way", "own", ["second"], [], true, undefined],
  ["elsewhere, and that database is away", "own", ["second"], ["own"], false, undefined],
  ["nowhere", "second", [], [], false, "none"],
  ["nowhere that answers", "second", [], ["second"], false, undefined],
] as const)("[DS61] a tenant whose log is %s", (_, expected, logs, unknown, moving, fault) => {
  expect(judgePlaces({ expected, logs, unknown, moving })).toBe(fault);
});
