import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { bundles } from "./bundles.ts";

test("the sizes in the README are the limits that the build keeps", () => {
  const lines = readFileSync("README.md", "utf8").matchAll(
    /^\| `(@holdfast\/\S+)` +\| +([\d.]+) KB \| (?:(\d+) KB)?/gm,
  );
  const said = [...lines].map(([, name = "", atOnce, later]) => ({
    name,
    atOnce: Number(atOnce),
    later: Number(later ?? 0),
  }));
  expect(said.length).toBeGreaterThan(3);
  for (const { name, atOnce, later } of said) {
    expect(atOnce * 1024, name).toBe(bundles[name]?.budget.bytes);
    expect(later * 1024, `${name}, later`).toBe(bundles[name]?.budget.laterBytes ?? 0);
  }
});
