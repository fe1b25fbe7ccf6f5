import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../root.mjs";
import { isLater, moveUnreleased, unreleasedEntries } from "./move-unreleased.ts";

const packages = { sdk: "# Changelog\n\n## 0.1.0\n\nFirst.\n", server: "# Changelog\n\n## 0.1.0\n\nFirst.\n" };
const changelog = (unreleased: string) =>
  `# Changelog\n\nIntro.\n\n## Unreleased\n${unreleased}\n## 0.1.0\n\n- **sdk:** Old.\n`;

test("what is unreleased gets the version, and each package the entries that name it", () => {
  const repository = changelog("\n- **sdk, server:** Both.\n- **server:** One.\n");
  const moved = moveUnreleased({ repository, packages }, "0.2.0");
  expect(moved.repository).toBe(
    "# Changelog\n\nIntro.\n\n## Unreleased\n\n## 0.2.0\n\n- **sdk, server:** Both.\n- **server:** One.\n\n## 0.1.0\n\n- **sdk:** Old.\n",
  );
  expect(moved.packages.sdk).toBe("# Changelog\n\n## 0.2.0\n\n- Both.\n\n## 0.1.0\n\nFirst.\n");
  expect(moved.packages.server).toBe("# Changelog\n\n## 0.2.0\n\n- Both.\n- One.\n\n## 0.1.0\n\nFirst.\n");
});

test("a package without an entry says so", () => {
  const moved = moveUnreleased({ repository: changelog("\n- **sdk:** One.\n"), packages }, "0.2.0");
  expect(moved.packages.server).toContain("## 0.2.0\n\nNothing changes in this package.");
});

test.each([
  ["no entry", "", /no entry/],
  ["an entry that names no package", "\n- Something.\n", /begins with its packages/],
  ["an entry that names another one", "\n- **sdk, demo:** Something.\n", /begins with its packages/],
])("%s is refused", (_, unreleased, reason) => {
  expect(() => moveUnreleased({ repository: changelog(unreleased), packages }, "0.2.0")).toThrow(reason);
});

test("a changelog without the heading is refused", () => {
  expect(() => unreleasedEntries("# Changelog\n", ["sdk"])).toThrow(/no heading/);
});

test.each([
  ["0.2.0", "0.1.9", true],
  ["0.10.0", "0.9.0", true],
  ["1.0.0", "0.9.9", true],
  ["0.1.0", "0.1.0", false],
  ["0.1.9", "0.2.0", false],
])("%s is later than %s: %s", (version, before, later) => {
  expect(isLater(version, before)).toBe(later);
});

test("a version with a word in it is refused", () => {
  expect(() => isLater("0.2.0-beta", "0.1.0")).toThrow(/three numbers/);
});

test("the entries of CHANGELOG.md name the packages that they change", () => {
  const names = readdirSync(join(root, "packages"));
  expect(() => unreleasedEntries(readFileSync(join(root, "CHANGELOG.md"), "utf8"), names)).not.toThrow();
});
