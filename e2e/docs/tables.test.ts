import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as react from "@holdfast/react";
import { Field } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";

/** The names in the first column of a README's tables. */
function namesIn(readme: string): Set<string> {
  const rows = readFileSync(join(root, readme), "utf8").matchAll(/^\| (`.*?)\|/gm);
  const names = [...rows].flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)/g)]);
  return new Set(names.map(([, name = ""]) => name));
}

test("[DP11] the README of the React package has each hook in its table", () => {
  const hooks = Object.keys(react).filter((name) => name.startsWith("use"));
  const named = namesIn("packages/react/README.md");
  expect([...hooks, "useInfiniteQuery"].filter((hook) => !named.has(hook))).toEqual([]);
});

test("[DP11] the README of the SDK has each option of a field in its table", () => {
  const named = namesIn("packages/sdk/README.md");
  expect(Object.keys(Field.properties).filter((option) => !named.has(option))).toEqual([]);
});
