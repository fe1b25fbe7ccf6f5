import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { root } from "./root.mjs";

interface Workflow {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, { readonly "timeout-minutes"?: number; readonly steps: readonly Step[] }>>;
}
interface Step {
  readonly uses?: string;
  readonly run?: string;
}

const read = (path: string) => readFileSync(join(root, path), "utf8");
const files = readdirSync(join(root, ".github"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".yml"))
  .map((name) => join(".github", name).replaceAll("\\", "/"));
const workflows = files.filter((path) => path.includes("workflows/"));
const workflowOf = (path: string) => parseDocument(read(path)).toJS() as Workflow;
const { scripts, packageManager } = JSON.parse(read("package.json")) as {
  scripts: Record<string, string>;
  packageManager: string;
};

test("there are workflows, forms for issues, and a file for Dependabot", () => {
  expect(workflows).toHaveLength(2);
  expect(files).toEqual(expect.arrayContaining([".github/dependabot.yml", ".github/ISSUE_TEMPLATE/bug.yml"]));
});

test.each(files)("%s is YAML, without a key that stands twice", (path) => {
  const { errors, warnings } = parseDocument(read(path), { uniqueKeys: true });
  expect([...errors, ...warnings]).toEqual([]);
});

test.each(workflows)(
  "%s has a limit of time for each job, few permissions, and actions of one major version",
  (path) => {
    const { jobs, permissions } = workflowOf(path);
    expect(permissions).toEqual({ contents: "read" });
    for (const [name, job] of Object.entries(jobs)) {
      expect(job["timeout-minutes"], name).toBeGreaterThan(0);
      for (const { uses } of job.steps) if (uses) expect(uses).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
    }
  },
);

test.each(workflows)("%s runs scripts that there are, with our version of pnpm", (path) => {
  const text = read(path);
  const named = [...text.matchAll(/npm run ([a-z][a-z0-9:]*)/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  for (const [version] of text.matchAll(/pnpm@[\d.]+/g)) expect(version).toBe(packageManager);
});

test.each(["bug", "feature"])("the form for a %s has what GitHub asks of a form", (name) => {
  const form = parseDocument(read(`.github/ISSUE_TEMPLATE/${name}.yml`)).toJS() as {
    name: string;
    description: string;
    body: { type: string; id?: string; attributes: { label?: string; value?: string } }[];
  };
  expect([form.name, form.description].every((text) => text.length > 0)).toBe(true);
  for (const { type, id, attributes } of form.body) {
    expect(["markdown", "textarea", "input", "dropdown", "checkboxes"]).toContain(type);
    if (type === "markdown") expect(attributes.value).toBeTruthy();
    else expect([id, attributes.label]).not.toContain(undefined);
  }
  const ids = form.body.flatMap(({ id }) => id ?? []);
  expect(new Set(ids).size).toBe(ids.length);
});

test("the configurations of the editor start programs that are there", () => {
  const { configurations } = JSON.parse(read(".vscode/launch.json")) as { configurations: { program: string }[] };
  for (const { program } of configurations)
    expect(existsSync(program.replace(/^\$\{workspaceFolder\}/, root)), program).toBe(true);
});

test("the lockfile has the binaries of every system that the project is developed on", () => {
  const lockfile = read("pnpm-lock.yaml");
  for (const name of [
    "@biomejs/cli",
    "@oxc-parser/binding",
    "@esbuild/",
    "@rolldown/binding",
    "@typescript/typescript",
  ])
    for (const system of ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64", "win32-x64"])
      expect(lockfile).toMatch(new RegExp(`${name.replace(/\/$/, "")}[-/]${system}`));
});
