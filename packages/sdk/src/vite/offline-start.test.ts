import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, type InlineConfig } from "vite";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { offlineStart } from "./offline-start.ts";
import type { Shell } from "./worker/shell.ts";

let root = "";
beforeEach(() => {
  root = temporaryFolder("vite", onTestFinished);
  write("index.html", `<!doctype html><title>App</title><script type="module" src="/main.js"></script>`);
  write("main.js", `import "./style.css"; document.body.onclick = () => import("./part.js");`);
  write("style.css", "body { color: red }");
  write("part.js", `document.body.append("part");`);
  write("public/robots.txt", "User-agent: *");
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

async function built(config: InlineConfig = {}) {
  await build({ configFile: false, logLevel: "silent", root, plugins: [offlineStart()], ...config });
  const read = (name: string) => readFileSync(join(root, "dist", name), "utf8");
  const files = readdirSync(join(root, "dist"), { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(join(root, "dist").length + 1))
    .sort();
  return { files, read, shell: JSON.parse(read("shell.json")) as Shell, worker: read("shell-worker.js") };
}

test("[PK9] the worker is a script without imports, and lists the document and every file with a hash", async () => {
  const { files, read, shell, worker } = await built();
  expect(worker).not.toMatch(/\b(import|export)\b/);
  expect(worker).not.toContain("__HOLDFAST");
  expect(shell.document).toBe(read("index.html"));
  expect(shell.files).toEqual(files.filter((name) => name.startsWith("assets/")));
  expect(shell.files.filter((name) => /^assets\/(main|index|part)-.*\.(js|css)$/.test(name))).toHaveLength(3);
});

test("[PK9] the version of a build changes with its files, and only with them", async () => {
  const { shell: first } = await built();
  expect((await built()).shell.version).toBe(first.version);
  write("part.js", `document.body.append("another part");`);
  expect((await built()).shell.version).not.toBe(first.version);
});

test("[PK10] names are relative to the worker, so that a page below a path works like one at the root", async () => {
  const { shell, worker } = await built({ base: "/app/" });
  expect(shell.document).toContain(`src="/app/assets/`);
  for (const file of shell.files) expect(file).toMatch(/^assets\//);
  expect(worker).not.toContain("/app/");
});

test("[PK10] an app's own folder and file names are followed", async () => {
  const output = { entryFileNames: "static/entry.[hash].js" };
  const { shell, worker, files } = await built({ build: { assetsDir: "static", rolldownOptions: { output } } });
  expect(shell.files.some((name) => name.startsWith("static/entry."))).toBe(true);
  expect(files).toContain("shell-worker.js");
  expect(worker).toContain("static/");
});

test.each([
  ["spa", true],
  ["mpa", false],
] as const)("[PK10] with appType %s, the pages below the base are the page's: %s", async (appType, isRouted) => {
  const { worker } = await built({ appType });
  expect(worker.includes("startsWith") && /\/\\\.\[\^\/\]\*\$\//.test(worker)).toBe(isRouted);
});

test.each<[string, () => InlineConfig, RegExp]>([
  ["files on another origin", () => ({ base: "https://cdn.example/" }), /base on the page's own origin/],
  ["files beside the page", () => ({ build: { assetsDir: "" } }), /set build\.assetsDir/],
  ["no document", () => ({ build: { rolldownOptions: { input: join(root, "main.js") } } }), /needs an index\.html/],
])("[PK11] a build with %s fails with a sentence", async (_, config, sentence) => {
  await expect(built(config())).rejects.toThrow(sentence);
});
