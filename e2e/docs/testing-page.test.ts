import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { filesOf } from "./fences.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");

test("[DP1] the React test on the testing page is one that runs in CI", () => {
  const shown = filesOf(read("docs/testing.md")).get("task-title.test.tsx");
  expect(shown).toBe(read("packages/react/src/testing-page.test.tsx"));
});
