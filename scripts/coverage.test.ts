import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { coverageLines } from "./coverage.mjs";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const count = (covered: number, total: number) => ({ total, covered, skipped: 0, pct: 0 });

test("coverage is summed per package, and never rounded up", () => {
  const folder = temporaryFolder("coverage", onTestFinished);
  const file = join(folder, "coverage-summary.json");
  writeFileSync(
    file,
    JSON.stringify({
      total: { lines: count(0, 1), branches: count(0, 1) },
      "/somewhere/packages/server/src/a.ts": { lines: count(999, 1_000), branches: count(1, 2) },
      "/somewhere/packages/sdk/src/b.ts": { lines: count(1, 1), branches: count(0, 0) },
      "/somewhere/packages/server/src/c.ts": { lines: count(1_000, 1_000), branches: count(1, 2) },
    }),
  );
  expect(coverageLines(file)).toEqual([
    "coverage of sdk: 100 % of lines, 100 % of branches",
    "coverage of server: 99.9 % of lines, 50 % of branches",
  ]);
});
