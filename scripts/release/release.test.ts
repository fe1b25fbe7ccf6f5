import { expect, test } from "vitest";
import { billOfMaterials } from "./bill-of-materials.ts";
import { judgeManifest, type Manifest } from "./judge-manifest.ts";
import { notesOf } from "./notes.ts";

const FILES = ["README.md", "LICENSE", "CHANGELOG.md", "package.json"];
const GOOD: Manifest = {
  ...{ name: "@a/b", version: "1.2.3", license: "MIT", description: "What it is" },
  publishConfig: { access: "public", provenance: true },
  dependencies: { "@a/c": "1.2.3" },
};

test("the notes of a version are what the changelog says of it, and no other", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n- **sdk:** New.\n\n### More\n\n## 1.2.30\n\n- Old.\n";
  expect(notesOf(changelog, "1.2.3")).toBe("- **sdk:** New.\n\n### More\n");
  expect(() => notesOf(changelog, "1.2.4")).toThrow("no entry for 1.2.4");
});

test("a package that is complete has no problem", () => {
  expect(judgeManifest(GOOD, "1.2.3", FILES)).toEqual([]);
});

test.each<[string, Partial<Manifest>, readonly string[], string]>([
  ["another version", { version: "1.2.2" }, FILES, "has the version 1.2.2"],
  ["a dependency in the workspace", { dependencies: { "@a/c": "workspace:*" } }, FILES, "as workspace:*"],
  ["no provenance", { publishConfig: { access: "public" } }, FILES, "provenance"],
  ["no changelog", {}, ["README.md", "LICENSE"], "lacks CHANGELOG.md"],
])("a package with %s is not ready", (_, change, files, problem) => {
  expect(judgeManifest({ ...GOOD, ...change }, "1.2.3", files)).toEqual([expect.stringContaining(problem)]);
});

test("the bill of materials has each package once, with what it needs", () => {
  const shared = { version: "2.0.0", dependencies: { deep: { version: "3.0.0" } } };
  const bill = JSON.parse(
    billOfMaterials("1.2.3", [
      { name: "@a/b", version: "1.2.3", dependencies: { "@a/c": { version: "link:../c" }, shared } },
      { name: "@a/c", version: "1.2.3", dependencies: { shared } },
    ]),
  ) as { components: { "bom-ref": string; purl: string }[]; dependencies: { ref: string; dependsOn?: string[] }[] };
  expect(bill.components.map((one) => one["bom-ref"]).sort()).toEqual([
    "@a/b@1.2.3",
    "@a/c@1.2.3",
    "deep@3.0.0",
    "shared@2.0.0",
  ]);
  expect(bill.components.map(({ purl }) => purl)).toContain("pkg:npm/%40a/b@1.2.3");
  expect(bill.dependencies.find(({ ref }) => ref === "@a/b@1.2.3")?.dependsOn).toEqual(["@a/c@1.2.3", "shared@2.0.0"]);
});
