import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./root.mjs";

const release = (...words: string[]) =>
  spawnSync("npm", ["run", "--silent", "release", "--", ...words], { cwd: root, encoding: "utf8" });

test("without --dry it says what it makes, and does nothing", () => {
  const { status, stdout } = release();
  expect(stdout).toContain("publishes nothing");
  expect(status).toBe(2);
  expect(release("--help").status).toBe(0);
});

test("a dry release has every package, their notes and a bill of materials, and no package lacks anything", () => {
  const { status, stderr } = release("--dry", "--no-image");
  expect(stderr).toContain("Nothing was published");
  expect(status).toBe(0);
  const folder = join(root, "dist/release");
  const packs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const packages = readdirSync(join(root, "packages")).filter((name) =>
    existsSync(join(root, "packages", name, "package.json")),
  );
  expect(packs).toHaveLength(packages.length);
  expect(readFileSync(join(folder, "NOTES.md"), "utf8")).toContain("the client for browsers and Node");
  const bill = JSON.parse(readFileSync(join(folder, "sbom.cdx.json"), "utf8")) as { components: { name: string }[] };
  expect(bill.components.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["sdk", "server", "fastify", "dexie"]),
  );
}, 240_000);
