import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../scripts/testing/temporary-folder.ts";
import { nextSteps } from "./next-steps.ts";
import { readOptions } from "./options.ts";
import { packageManager } from "./package-manager.ts";
import { packageNameFor } from "./target-folder.ts";
import { templateNames } from "./templates.ts";
import { writeTemplate } from "./write-template.ts";

const newFolder = () => temporaryFolder("create", onTestFinished);
const options = (args: string[], env: NodeJS.ProcessEnv = {}) => readOptions(args, env);

test.each([
  ["nothing", [], {}, { folder: undefined, template: undefined, yes: false, install: false }],
  ["a folder", ["app"], {}, { folder: "app", template: undefined }],
  ["an option", ["app", "--template", "next"], {}, { folder: "app", template: "next" }],
  ["an option with an equals sign", ["--template=next", "app"], {}, { folder: "app", template: "next" }],
  ["a word after the folder", ["app", "next"], {}, { folder: "app", template: "next" }],
  ["a folder with the name of a template", ["next"], {}, { folder: "next", template: undefined }],
  ["an option that npm took", ["app"], { npm_config_template: "next" }, { folder: "app", template: "next" }],
  [
    "an option that npm cut in two",
    ["app", "next"],
    { npm_config_template: "true" },
    { folder: "app", template: "next" },
  ],
  ["the same without a folder", ["next"], { npm_config_template: "true" }, { folder: undefined, template: "next" }],
  ["flags", ["--yes", "--install"], {}, { yes: true, install: true }],
  ["flags that npm took", [], { npm_config_yes: "true", npm_config_install: "true" }, { yes: true, install: true }],
])("[CR3] %s is understood", (_, args, env, expected) => {
  expect(options(args, env)).toMatchObject({ kind: "create", ...expected });
});

test("[CR4] an unknown template, an unknown option and a word too many are refused with sentences", () => {
  expect(() => options(["app", "--template", "vue"])).toThrow(
    'There is no template "vue". The templates are react, next, node-agent, existing-postgres.',
  );
  expect(() => options(["app"], { npm_config_template: "vue" })).toThrow('There is no template "vue".');
  expect(() => options(["app", "--colour"])).toThrow(/^Unknown option '--colour'\. See --help\.$/);
  expect(() => options(["app", "vue"])).toThrow(
    /^"vue" is one argument too many: name one folder, and one of the templates react,/,
  );
});

test("[CR2] a folder with files is refused and stays as it is; a new repository is not", () => {
  const folder = newFolder();
  mkdirSync(join(folder, ".git"));
  mkdirSync(join(folder, "used"));
  const used = join(folder, "used");
  writeFileSync(join(used, "notes.txt"), "mine");
  writeFileSync(join(used, "todo.txt"), "mine");
  expect(() => writeTemplate(used, "react", "1.0.0")).toThrow(
    `The folder ${used} is not empty: it has notes.txt and 1 more. Name another folder, or empty it.`,
  );
  expect(readdirSync(used)).toEqual(["notes.txt", "todo.txt"]);
  expect(() => writeTemplate(join(used, "todo.txt"), "react", "1.0.0")).toThrow(
    /todo\.txt is a file\. Name a folder\.$/,
  );
  const repository = newFolder();
  mkdirSync(join(repository, ".git"));
  expect(writeTemplate(repository, "react", "1.0.0")).toContain("package.json");
});

test.each(templateNames)("[CR5] the template %s is written completely, in the version of the release", (template) => {
  const folder = join(newFolder(), "deep", "My App");
  const written = writeTemplate(folder, template, "1.2.3").map((file) => file.replaceAll("\\", "/"));
  expect(written).toEqual(
    expect.arrayContaining([".gitignore", "README.md", "dev.mjs", "package.json", "start.mjs", "tsconfig.json"]),
  );
  expect(written.filter((file) => /(^|\/)_|node_modules/.test(file))).toEqual([]);
  expect(written.filter((file) => /^test\/.*\.test\.tsx?$/.test(file))).toHaveLength(1);
  const manifest = readFileSync(join(folder, "package.json"), "utf8");
  expect(JSON.parse(manifest).name).toBe("my-app");
  expect(JSON.parse(manifest).scripts).toMatchObject({ dev: "node dev.mjs", test: expect.any(String) });
  const { dependencies, devDependencies } = JSON.parse(manifest);
  const ours = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) =>
    name.startsWith("@holdfast/"),
  );
  expect(new Set(ours.map(([, range]) => range))).toEqual(new Set(["^1.2.3"]));
  expect(ours.map(([name]) => name)).toContain("@holdfast/server");
  const ignored = readFileSync(join(folder, ".gitignore"), "utf8").split("\n");
  expect(ignored).toEqual(expect.arrayContaining(["node_modules/", ".holdfast/"]));
  // The README names only files that are there, or that the program of the server writes.
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  const named = [...readme.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, file = ""]) => file.replace(/\/$/, ""));
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((file) => !written.some((each) => each === file || each.startsWith(`${file}/`)))).toEqual([]);
});

test.each([
  ["my-app", "my-app"],
  ["My App", "my-app"],
  [".hidden", "hidden"],
  ["Größe 2", "gro-e-2"],
  ["@me", "me"],
  ["日本", "holdfast-app"],
  ["node_modules", "node_modules-app"],
])("[CR5] the folder %s gives a package a name that npm allows", (folder, expected) => {
  expect(packageNameFor(join("deep", folder))).toBe(expected);
});

test("[CR6] the next commands are those of the package manager that runs it", () => {
  expect(packageManager({ npm_config_user_agent: "pnpm/10.0.0 npm/? node/v20.19.0 linux x64" })).toBe("pnpm");
  expect(packageManager({})).toBe("npm");
  const written = { path: join("/w", "my app"), from: "/w", template: "react", files: 20, manager: "pnpm" } as const;
  const text = nextSteps({ ...written, isInstalled: false });
  expect(text).toContain('Next:\n  cd "my app"\n  pnpm install\n  pnpm run dev\n');
  expect(nextSteps({ ...written, isInstalled: true })).not.toContain("pnpm install");
  expect(nextSteps({ ...written, from: written.path, isInstalled: false })).not.toContain("cd ");
});
