import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { ending, runIn } from "../packages/run-command.ts";

/** The expected output of each command without options. Commands that need an option name it. */
const started: Readonly<Record<string, RegExp>> = {
  start: /http:\/\/(localhost|127\.0\.0\.1):\d+/,
  server: /"msg":"listening"|listening/i,
  faults: /\d+ (acknowledged|kills)|kill/i,
  claims: /claims: seed \d+/,
  deliveries: /deliveries: seed \d+/,
  tables: /tables: seed \d+/,
  simulate: /simulate: \d+ of 20000 schedules, 0 violations/,
  converge: /converge: \d+ runs of \d+ steps/,
  fuzz: /fuzz: \d+ requests over 16 connections/,
  planted: /planted: \d+ bugs, each in a copy/,
  api: /api: (wrote api\/agent\.api\.txt|api\/agent\.api\.txt is up to date)/,
  bench: /bench: \w+ …/,
  conformance: /Name the server to test/,
  holdfast: /Usage: holdfast/,
  "demo:proofread": /No demo is running|npm start/,
  "demo:sql": /Give one statement/,
  "demo:import": /One file, please/,
};

/** Run by `npm test` itself, or by the tests of packages and examples. */
const elsewhere = new Set(["test", "verify", "pack", "examples", "containers", "e2e"]);

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };
const jobs = Object.entries(scripts).flatMap(([name, script]) =>
  script.startsWith("node scripts/run.mjs") ? [name] : [],
);

const pages = ["README.md", "ARCHITECTURE.md", "llms.txt", "packages", "examples", "docs"].flatMap(textsIn).join("\n");
const named = [...pages.matchAll(/`npm run ([a-z][a-z:]+)|^npm run ([a-z][a-z:]+)/gm)].map(([, a, b]) => a ?? b ?? "");

function textsIn(path: string): string[] {
  if (/\.(md|txt)$/.test(path)) return [readFileSync(join(root, path), "utf8")];
  const entries = readdirSync(join(root, path), { withFileTypes: true });
  return entries.flatMap((entry) => {
    if (entry.name === "node_modules" || entry.name === "dist") return [];
    if (entry.isDirectory()) return path.includes("/") ? [] : textsIn(`${path}/${entry.name}`);
    return entry.name.endsWith(".md") && entry.name !== "CHANGELOG.md" ? textsIn(`${path}/${entry.name}`) : [];
  });
}

test("[DP7] every command on the pages is a script of the workspace, and each script is run here or in another test", () => {
  expect(named.length).toBeGreaterThan(20);
  for (const name of new Set(named)) expect([...Object.keys(scripts), ...exampleScripts()]).toContain(name);
  expect(jobs.filter((name) => !started[name] && !elsewhere.has(name))).toEqual([]);
});

/** Scripts of the examples' own packages. */
function exampleScripts(): string[] {
  return ["agent", "next", "tracker"].flatMap((name) => {
    const { scripts: own = {} } = JSON.parse(readFileSync(join(root, "examples", name, "package.json"), "utf8")) as {
      scripts?: Record<string, string>;
    };
    return Object.keys(own);
  });
}

// `start` and `server` are started and used by the end-to-end tests and those of the packages.
const tried = Object.entries(started).filter(([name]) => name !== "start" && name !== "server");

test.each(tried)("[DP7] npm run %s works without options", async (name, sign) => {
  // A separate process group, so that the signal reaches child processes too, like Ctrl-C.
  const child = spawn(process.execPath, ["scripts/run.mjs", name], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const code = await new Promise<number | null>((resolve) => {
    const onData = (chunk: Buffer) => {
      output += chunk.toString();
      if (sign.test(output)) resolve(null);
    };
    child.stdout.on("data", onData);
    child.stderr.on("data", onData);
    child.once("close", resolve);
  });
  if (code === null) {
    const closed = new Promise((resolve) => child.once("close", resolve));
    process.kill(-(child.pid as number), "SIGINT");
    const late = setTimeout(() => process.kill(-(child.pid as number), "SIGKILL"), 20_000);
    await closed;
    clearTimeout(late);
  }
  expect(output).toMatch(sign);
  expect(output).not.toMatch(/ReferenceError|TypeError|SyntaxError|before initialization/);
});

test.concurrent.each(Object.keys(started))("[DP7] npm run %s -- --help ends with 0", async (name) => {
  const { code, output } = await ending(runIn(root, process.execPath, ["scripts/run.mjs", name, "--help"]));
  expect(code, String(name)).toBe(0);
  expect(output).toMatch(/Usage|npm (run|start)/);
});
