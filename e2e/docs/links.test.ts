import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";

const markdownIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
const packages = readdirSync(join(root, "packages")).map((name) => join("packages", name, "README.md"));
const pages = ["README.md", "ARCHITECTURE.md", "STYLE.md", "llms.txt", ...markdownIn("docs"), ...packages];

const read = (page: string) => readFileSync(join(root, page), "utf8");
/** The page without code, where brackets have another meaning. */
const prose = (text: string) => text.replaceAll(/^```.*?^```$/gms, "").replaceAll(/`[^`\n]*`/g, "code");

/** Anchors like GitHub's. */
const headingsOf = (page: string) =>
  [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-"),
  );

function isDead(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(root, target))) return true;
  if (heading === undefined) return false;
  // A folder is shown with its README.
  return !headingsOf(target.endsWith(".md") ? target : join(target, "README.md")).includes(heading);
}

const linksOf = (page: string) =>
  [...prose(read(page)).matchAll(/(?<!!\[[^\]]*)\]\((?!\w+:)([^)\s]+)\)/g)].map(([, link = ""]) => link);

test("[DP3] there are pages, and links in them", () => {
  expect(pages.length).toBeGreaterThan(25);
  expect(pages.flatMap(linksOf).length).toBeGreaterThan(100);
});

test.each(pages)("[DP3] every link in %s leads to something that exists", (page) => {
  expect(linksOf(page).filter((link) => isDead(page, link))).toEqual([]);
});

test("[DP3] llms.txt has a title, a summary, and sections of links, and lists every page for users", () => {
  const text = read("llms.txt");
  expect(text).toMatch(/^# \S.*\n\n> \S.*\n\n/);
  const sections = text.split(/^## .+\n\n/m).slice(1);
  expect(sections.length).toBeGreaterThan(1);
  for (const section of sections) expect(section.trim()).toMatch(/^(- \[[^\]]+\]\([^)]+\): \S.*(\n|$))+$/);
  const ours = /^docs\/(releasing|reliability|decisions\/.*)\.md$/;
  expect(
    pages.filter((page) => page.startsWith("docs/") && !ours.test(page) && !linksOf("llms.txt").includes(page)),
  ).toEqual([]);
});

test("[DP3] docs/README.md lists every page of docs/ once, the decisions as a group", () => {
  const names = (path: string) => path.replace(/^docs\//, "").replace(/^decisions\/.*/, "decisions/README.md");
  const expected = [...new Set(pages.filter((page) => page.startsWith("docs/")).map(names))];
  const listed = linksOf("docs/README.md").filter((link) => !link.startsWith("../"));
  expect(listed.sort()).toEqual(expected.filter((name) => name !== "README.md").sort());
});
