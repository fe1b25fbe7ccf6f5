import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { root } from "./root.mjs";

// Follows the recipes of CONTRIBUTING.md in a copy of the project.

const copy = mkdtempSync(join(tmpdir(), "holdfast-recipes-"));
beforeAll(() => {
  const files = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], { cwd: root });
  const archive = execFileSync("tar", ["-c", "--null", "--ignore-failed-read", "-T", "-"], {
    ...{ cwd: root, input: files, maxBuffer: 2 ** 30 },
  });
  execFileSync("tar", ["-x"], { cwd: copy, input: archive });
  expect(misfits()).toEqual([]);
  return () => rmSync(copy, { recursive: true, force: true });
});

/** Installs the copy if it is new, and returns the files in which the compiler finds errors, in its order. */
function misfits(): string[] {
  try {
    execFileSync(process.execPath, ["scripts/run.mjs", "test", "types"], {
      ...{ cwd: copy, encoding: "utf8", stdio: "pipe", env: { ...process.env, CI: "true" } },
    });
    return [];
  } catch (error) {
    const { stdout } = error as { stdout: string };
    const files = [...stdout.matchAll(/^([^\s(]+)\(\d+,\d+\): error TS/gm)].map(([, file = ""]) => file);
    if (files.length === 0) throw error;
    return [...new Set(files)];
  }
}

/** Changes a file of the copy until the test has ended. */
function change(file: string, from: string, to: string): void {
  const before = readFileSync(join(copy, file), "utf8");
  expect(before).toContain(from);
  writeFileSync(join(copy, file), before.replace(from, to));
  onTestFinished(() => writeFileSync(join(copy, file), before));
}

const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
const recipe = (title: string) => page.split(`## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
const listed = (text: string) => [...text.matchAll(/^- `([^`]+\.ts)`/gm)].map(([, file = ""]) => file);
/** The files with this pattern, of those that people write and that are no tests. */
const mentioning = (pattern: string, ...paths: string[]) =>
  execFileSync("git", ["grep", "-lE", pattern, "--", ...paths, ":!*.test.ts", ":!*/testing/*"], {
    ...{ cwd: root, encoding: "utf8" },
  })
    .trim()
    .split("\n");

test("a new field type: the compiler stops where CONTRIBUTING.md says, and all other places are listed", () => {
  const text = recipe("Add a field type");
  const [found = "", others = ""] = text.split("The compiler does not find");
  change("packages/sdk/src/protocol/schema/model-schema.ts", '"datetime", ', '"datetime", "date", ');
  expect(misfits().sort()).toEqual(listed(found).sort());
  // What tells a date-time from the other types would have to tell a new type, too.
  const telling = execFileSync(
    "git",
    ["grep", "-n", '"datetime"', "--", "packages/**/*.ts", "qa/**/*.ts", ":!*.test.ts", ":!*/testing/*"],
    {
      ...{ cwd: root, encoding: "utf8" },
    },
  )
    .split("\n")
    .filter((line) => line !== "" && !/type: "datetime"[ ,}]/.test(line) && !/\.txt:/.test(line))
    .map((line) => line.replace(/:.*/, ""));
  const known = ["packages/sdk/src/protocol/schema/model-schema.ts", ...listed(found), ...listed(others)];
  expect([...new Set(telling)].filter((file) => !known.includes(file))).toEqual([]);
  expect(listed(others).filter((file) => !telling.includes(file))).toEqual([]);
});

test("a new endpoint: the compiler stops where CONTRIBUTING.md says, step by step", () => {
  const text = recipe("Add an endpoint");
  change(
    "packages/sdk/src/protocol/paths.ts",
    "  readUsage: [",
    '  readLimits: ["GET", "/v1/limits"],\n  readUsage: [',
  );
  expect(misfits()[0]).toBe("packages/sdk/src/protocol/endpoints.ts");
  change(
    "packages/sdk/src/protocol/organizations/usage-endpoints.ts",
    "  readUsage: {",
    '  readLimits: { summary: "Read the limits", audience: "secret_key", reply: { 200: ListEnvelope(Usage) } },\n  readUsage: {',
  );
  expect(misfits()).toEqual(["packages/server/src/server.ts"]);
  change(
    "packages/server/src/edge/http/routes/usage.ts",
    "  readUsage: async",
    '  readLimits: async () => ({ value: { object: "list", data: [], has_more: false, next_cursor: null } }),\n  readUsage: async',
  );
  expect(misfits()).toContain("packages/server/src/edge/http/routes/usage.ts");
  change("packages/server/src/edge/http/routes/usage.ts", '"readUsage">', '"readUsage" | "readLimits">');
  expect(misfits()).toEqual([]);
  for (const file of ["packages/sdk/src/protocol/endpoints.ts", "packages/server/src/server.ts"])
    expect(text).toContain(file);
});

test("every file that the example endpoint has is named in the recipe, or lies in a folder that it names", () => {
  const text = recipe("Add an endpoint");
  const files = mentioning("readUsage|usageRoutes|usagePeriod|usageEndpoints", "packages");
  expect(files.length).toBeGreaterThan(6);
  const layers = ["kernel/organizations", "edge/http/routes", "open"].map((layer) => `packages/server/src/${layer}/`);
  expect(files.filter((file) => !text.includes(file) && !layers.some((layer) => file.startsWith(layer)))).toEqual([]);
  for (const layer of ["`rules/`", "`db/`", "`flows/`", ...layers.map((folder) => `\`${folder}\``)])
    expect(text).toContain(layer);
});
