import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jobs } from "../../scripts/jobs.mjs";
import { root } from "../../scripts/root.mjs";
import { ending, runIn } from "../packages/run-command.ts";
import { scripts, started, testedElsewhere } from "./npm-commands.ts";
import { type ProgramHelp, programHelp } from "./program-help.ts";

const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "llms.txt", "packages", "examples", "docs"]
  .flatMap(textsIn)
  .join("\n");
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

test("[DP7] every command on the pages is a script of the workspace, and each script is run by a test", () => {
  expect(named.length).toBeGreaterThan(20);
  for (const name of new Set(named)) expect([...Object.keys(scripts), ...exampleScripts()]).toContain(name);
  const ours = Object.entries(scripts).flatMap(([name, line]) => (line.includes("scripts/run.mjs") ? [name] : []));
  expect(ours.sort()).toEqual(Object.keys(jobs).sort());
  expect(ours.filter((name) => !started[name] && !testedElsewhere.has(name))).toEqual([]);
});

/** Scripts of the examples' own packages. */
function exampleScripts(): string[] {
  const examples = readdirSync(join(root, "examples")).filter((name) =>
    existsSync(join(root, "examples", name, "package.json")),
  );
  return examples.flatMap((name) => {
    const { scripts: own = {} } = JSON.parse(readFileSync(join(root, "examples", name, "package.json"), "utf8")) as {
      scripts?: Record<string, string>;
    };
    return Object.keys(own);
  });
}

test("[DP7] npm run lists every command", async () => {
  const { code, output } = await ending(runIn(root, process.execPath, ["scripts/run.mjs", "--help"]));
  expect(code).toBe(0);
  for (const [name, { says }] of Object.entries(jobs)) expect(output).toContain(`${name.padEnd(12)} ${says}`);
});

const programs = Object.keys(started).map((command) => {
  const [name = "", ...words] = command.split(" ");
  return { command, words, program: jobs[name]?.program ?? "" };
});
let help: ProgramHelp;
beforeAll(async () => {
  help = await programHelp([...new Set(programs.map(({ program }) => program))]);
});
afterAll(() => help.remove());

/** Options that the pages name, by command. */
const optionsOf = (command: string) =>
  [...pages.matchAll(/npm run ([a-z][a-z:]+) -- ([^`\n#]*)/g)]
    .flatMap(([, name, line = ""]) => {
      const chosen = `${name} ${line.split(" ")[0]}`;
      return command === (started[chosen] ? chosen : name) ? (line.match(/--[a-z][a-z-]*/g) ?? []) : [];
    })
    .filter((option) => option !== "--help");

test.each(programs)(
  "[DP7] the help of npm run $command has every option that the pages name",
  async ({ command, words, program }) => {
    const { code, output } = await help.read(program, ...words);
    expect(code, output).toBe(0);
    expect(output).toMatch(/Usage|npm (run|start)/);
    // This command has another program behind its first word.
    const more = command === "conformance" ? (await help.read(program, "datasource")).output : "";
    for (const option of new Set(optionsOf(command))) expect(output + more).toContain(option);
  },
);

test("[DP7] the pages name options of several commands", () => {
  expect(programs.filter(({ command }) => optionsOf(command).length > 0).length).toBeGreaterThan(5);
});
