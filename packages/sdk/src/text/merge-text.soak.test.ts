import { expect, test } from "vitest";
import { longText as long } from "../testing/long-text.ts";
import { mergeText } from "./merge-text.ts";

// Compares two times, which depend on what else the machine does.

test("[MT3] a keystroke in a long text is merged without a diff", () => {
  const base = long(1);
  const [middle, quarter] = [base.slice(50_000), base.slice(0, 25_000)];
  const msOf = (mine: string, theirs: string) => {
    const runs = Array.from({ length: 9 }, () => {
      const began = performance.now();
      mergeText(base, mine, theirs);
      return performance.now() - began;
    });
    return runs.toSorted((a, b) => a - b)[4] as number;
  };
  // 0.5 ms, and with a diff 25, on a machine at rest.
  const withDiff = msOf(
    `Mine ${quarter} and ${base.slice(25_000)} mine`,
    `Theirs ${base.slice(0, 50_000)} and ${middle} theirs`,
  );
  expect(msOf(`Mine ${base}`, `${base} theirs`)).toBeLessThan(withDiff / 2);
});
