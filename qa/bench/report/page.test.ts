import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { benchmarkPage, comparisonPage, figuresPage, SPEED } from "./page.ts";

test("new results replace their sections, in the page's order; other sections stay", () => {
  const first = figuresPage(
    "",
    new Map([
      ["stream", "stream 1"],
      ["commits", "commits 1\n\n| a | b |"],
    ]),
  );
  expect(first.match(/^## .*/gm)).toEqual(["## Commits over HTTP", "## The stream"]);
  const second = figuresPage(
    first,
    new Map([
      ["stream", "stream 2"],
      ["memory", "memory 1"],
    ]),
  );
  expect(second.match(/^## .*/gm)).toEqual(["## Commits over HTTP", "## The stream", "## Memory"]);
  expect(second).toContain("## Commits over HTTP\n\ncommits 1\n\n| a | b |\n\n## The stream\n\nstream 2\n");
  expect(second).not.toContain("stream 1");
  expect(figuresPage(second, new Map())).toBe(second);
});

test("the page of benchmarks has 40 rows of the figures, as they are", () => {
  const page = benchmarkPage(readFileSync(new URL("../figures.md", import.meta.url), "utf8"));
  const rows = page.split("\n").filter((line) => line.startsWith("| ") && !/^\| (what|---)/.test(line));
  expect(rows).toHaveLength(40);
  expect(readFileSync(new URL("../../../docs/benchmarks.md", import.meta.url), "utf8")).toBe(page);
});

test("the measured table of the comparison is replaced; the page above it stays", () => {
  const machine = "Machine: one core.";
  const first = comparisonPage("# Comparison\n\n| a | b |\n\n## Speed\n\nnot measured\n", { machine, table: "| 1 |" });
  expect(first).toMatch(/^# Comparison\n\n\| a \| b \|\n\n## Speed\n\n/);
  expect(first).toMatch(/\n\nMachine: one core\.\n\n\| 1 \|\n$/);
  const second = comparisonPage(first, { machine, table: "| 2 |" });
  expect(second).toBe(first.replace("| 1 |", "| 2 |"));
});

test("the comparison has a place for its measured table, at its end", () => {
  const page = readFileSync(new URL("../../../docs/comparison.md", import.meta.url), "utf8");
  expect(page.match(/^## .*/gm)?.at(-1)).toBe(SPEED);
});
