import { expect, test } from "vitest";
import { judgeOrigin } from "./origin.ts";

const HERE = "7312/00000001/16384/801";

test.each([
  ["as it was written down", HERE, HERE, "same"],
  ["a database that does not say where it is", HERE, undefined, "same"],
  ["not written down yet", null, HERE, "unknown"],
  ["written down by an earlier release", "7312/00000001", HERE, "unknown"],
  ["by an earlier release, before a failover", "7312/00000002", HERE, "replaced"],
  ["by an earlier release, on a server whose number begins alike", "73", HERE, "replaced"],
  ["a promoted standby", "7312/00000002/16384/801", HERE, "replaced"],
  ["another server", "9999/00000001/16384/801", HERE, "replaced"],
  ["a copy beside the original", "7312/00000001/16385/801", HERE, "replaced"],
  ["a dump that was loaded into the same database", "7312/00000001/16384/80", HERE, "replaced"],
] as const)("[O35] %s", (_, origin, actual, judged) => {
  expect(judgeOrigin({ origin, actual })).toBe(judged);
});
