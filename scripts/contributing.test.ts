import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./root.mjs";
import { sourceFiles } from "./source-files.ts";
import { verifySteps } from "./verify.mjs";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const page = read("CONTRIBUTING.md");
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

test("CONTRIBUTING.md lists the steps of `npm test` in their order", () => {
  const section = page.split("## What `npm test` checks")[1]?.split("\n## ")[0] ?? "";
  expect([...section.matchAll(/^\| `([\w-]+)` /gm)].map(([, name]) => name)).toEqual(Object.keys(verifySteps));
});

test.each(["CONTRIBUTING.md", "SECURITY.md", "deploy/README.md"])(
  "%s names files and scripts that are there",
  (name) => {
    const text = read(name);
    const folder = join(root, name, "..");
    const links = [...text.matchAll(/\]\((?!\w+:)([^)#\s]+)/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([]);
    const paths = [...text.matchAll(/`((?:packages|e2e|scripts|docs|apps|deploy)\/[\w./-]*)`/g)].map(
      ([, path = ""]) => path,
    );
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const named = [...text.matchAll(/npm run ([a-z][a-z0-9:]*)/g)].map(([, script = ""]) => script);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  },
);

test.each([
  "readUsage",
  "usagePeriod",
  "usageRoutes",
  "FIELD_TYPES",
  "fits",
  "ValueOf",
  "expectedValue",
  "isScalar",
  "comparable",
])("the name %s that CONTRIBUTING.md sends its reader to is in the sources", (name) => {
  expect(page).toContain(name);
  const declared = new RegExp(`(function|const|type) ${name}\\b`);
  expect(sourceFiles(["packages"]).some((file) => declared.test(read(file)))).toBe(true);
});
