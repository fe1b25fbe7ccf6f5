import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { describe, expect, inject, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import type {} from "./global-setup.ts";
import { importsOf, readPacked } from "./packed-files.ts";
import { ending, runIn } from "./run-command.ts";

const packs = inject("packs");
/** A program without an import: npm finds it by this name. */
const CREATE = "create-holdfast";
/** `holdfast-sdk-0.1.0.tgz` is `@holdfast/sdk`; the one without a scope is named as its file. */
const nameOf = (tarball: string) =>
  (/([a-z-]+)-\d[^/\\]*$/.exec(tarball)?.[1] ?? "").replace(/^holdfast-/, "@holdfast/");
const released = packs.map((tarball) => {
  const packed = readPacked(join(inject("newcomer"), "node_modules", nameOf(tarball)));
  return { name: packed.manifest.name, tarball, packed };
});

test("every package of the workspace is packed", () => {
  const names = readdirSync(join(root, "packages")).map((folder) =>
    folder === CREATE ? CREATE : `@holdfast/${folder}`,
  );
  expect(released.map(({ name }) => name).sort()).toEqual(names.sort());
});

describe.each(released)("$name", ({ tarball, packed }) => {
  const { manifest, files, folder } = packed;

  test("[PK1] publint finds no problems", async () => {
    const bytes = readFileSync(tarball);
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const { messages } = await publint({ pack: { tarball: buffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, manifest, { color: false }))).toEqual([]);
  });

  test.skipIf(manifest.name === CREATE)(
    "[PK1] importers of ES modules find its types, which match the code",
    async () => {
      const attw = join(root, "node_modules", ".bin", "attw");
      const { code, output } = await ending(runIn(root, attw, [tarball, "--profile", "esm-only", "--no-emoji"]));
      expect(code, output).toBe(0);
    },
  );

  test("[PK1] it declares every package that it imports", () => {
    const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
    const imported = [...importsOf(packed)];
    expect(imported.length > 0).toBe(manifest.name !== CREATE);
    expect(imported.filter(([name]) => !(name in declared))).toEqual([]);
  });

  test("[PK2] it has its licence, changelog and README, and names its requirements", () => {
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "CHANGELOG.md", "README.md"]));
    expect(readFileSync(join(folder, "CHANGELOG.md"), "utf8")).toContain(`## ${manifest.version}`);
    expect(manifest).toMatchObject({
      license: "MIT",
      type: "module",
      engines: { node: ">=20.19" },
      publishConfig: { access: "public", provenance: true },
    });
    expect(manifest.sideEffects).toBeDefined();
  });

  test("[PK2] it contains no tests, no test helpers, and nothing private to this workspace", () => {
    // The apps that it writes have tests of their own.
    const own = files.filter((file) => !file.startsWith("templates/"));
    expect(own.filter((file) => /\.test\.|tsbuildinfo|\.tgz$|RULES\.md$/.test(file))).toEqual([]);
    const testing = files.filter((file) => /(^|\/)testing\//.test(file));
    const exported = "./testing" in (manifest.exports ?? {}) ? /^(dist|src)\/testing\// : /^$/;
    expect(testing.filter((file) => !exported.test(file))).toEqual([]);
    expect(JSON.stringify(manifest)).not.toMatch(/workspace:|holdfast-source|https?:\/\/|"\.\/src\//);
  });

  test("[PK2] built files come with their sources, for debuggers", () => {
    const built = files.filter((file) => /^dist\/.*\.js$/.test(file));
    expect(built.length).toBeGreaterThanOrEqual(3);
    const stray = built.filter((file) => !files.some((each) => each.replace(/\.tsx?$/, "") === sourceOf(file)));
    expect(stray).toEqual([]);
    expect(built.filter((file) => !files.includes(`${file}.map`))).toEqual([]);
  });
});

test("[PK1] the optional peer is not installed with them", () => {
  expect(() => readPacked(join(inject("newcomer"), "node_modules", "libsql"))).toThrow(/ENOENT/);
});

const sourceOf = (built: string) => built.replace(/^dist\//, "src/").replace(/\.js$/, "");
