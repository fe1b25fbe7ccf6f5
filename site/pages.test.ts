import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../scripts/root.mjs";
import { descriptionOf } from "./descriptions.ts";
import { sidebar } from "./navigation.ts";
import { addresses, otherMarkdown } from "./pages.ts";

const names = (folder: string) => readdirSync(join(root, folder)).filter((name) => name.endsWith(".md"));
const linksIn = (items: ReturnType<typeof sidebar>): string[] =>
  items.flatMap(({ link, items: inner = [] }) => [...(link === undefined ? [] : [link]), ...linksIn(inner)]);

test("[DP12] every page of docs/ has an address, and no two pages have the same one", () => {
  for (const name of names("docs")) expect([...addresses.keys()]).toContain(`docs/${name}`);
  for (const name of names("docs/decisions")) expect([...addresses.keys()]).toContain(`docs/decisions/${name}`);
  expect(new Set(addresses.values()).size).toBe(addresses.size);
  expect(otherMarkdown().filter((pattern) => addresses.has(pattern))).toEqual([]);
});

test("[DP12] every page of docs/ is in the sidebar, under a section of its README, the decisions as a group", () => {
  const links = linksIn(sidebar());
  expect(sidebar().map(({ text }) => text)).toContain("Guides");
  for (const name of names("docs")) if (name !== "README.md") expect(links).toContain(`/${name.replace(/\.md$/, "")}`);
  for (const name of names("docs/decisions"))
    if (name !== "README.md") expect(links).toContain(`/decisions/${name.replace(/\.md$/, "")}`);
  expect(links).toContain("/decisions/");
  expect(new Set(links).size).toBe(links.length);
});

test("[DP12] a page that llms.txt lists is described in its words, and another in those of its first paragraph", () => {
  expect(descriptionOf("docs/limits.md")).toBe("Every limit with its number.");
  expect(descriptionOf("docs/releasing.md")).toMatch(/^All packages in packages\/ are published together/);
});
