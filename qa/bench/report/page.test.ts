import { expect, test } from "vitest";
import { benchmarkPage } from "./page.ts";

test("new results replace their sections, in the page's order; other sections stay", () => {
  const first = benchmarkPage(
    "",
    new Map([
      ["stream", "stream 1"],
      ["commits", "commits 1\n\n| a | b |"],
    ]),
  );
  expect(first.match(/^## .*/gm)).toEqual(["## Commits over HTTP", "## The stream"]);
  const second = benchmarkPage(
    first,
    new Map([
      ["stream", "stream 2"],
      ["memory", "memory 1"],
    ]),
  );
  expect(second.match(/^## .*/gm)).toEqual(["## Commits over HTTP", "## The stream", "## Memory"]);
  expect(second).toContain("## Commits over HTTP\n\ncommits 1\n\n| a | b |\n\n## The stream\n\nstream 2\n");
  expect(second).not.toContain("stream 1");
  expect(benchmarkPage(second, new Map())).toBe(second);
});
