#!/usr/bin/env node
import { writeFileSync } from "node:fs";
import { type Args, readArgs, USAGE } from "./args.ts";
import { DATASOURCE_USAGE, readDatasourceArgs } from "./datasource/args.ts";
import { reportDatasource } from "./datasource/run-datasource.ts";
import { CannotBegin, openTestEnvironment } from "./environment/test-environment.ts";
import { loadSections, type NamedSection } from "./run/load-sections.ts";
import { reportOf, reportText } from "./run/report.ts";
import { type Result, runSuite } from "./run/suite.ts";

/** The arguments → the sections and cases that they select → one run → one report. */
async function run(args: Args): Promise<number> {
  const sections = chosen(await loadSections(), args);
  if (args.list) return list(sections);
  const startedAt = new Date();
  const { url, key, testKey: otherKey, adminToken } = args;
  const environment = await openTestEnvironment({ url, key, otherKey, adminToken, onStream: args.stream });
  try {
    const results = await runSuite(environment, sections, { jobs: args.jobs, heard: progress(sections) });
    const kept = args.clean ? await environment.removeModels() : undefined;
    if (kept !== undefined) say(`the server did not remove the suite's models: ${kept}`);
    const seconds = (Date.now() - startedAt.getTime()) / 1_000;
    const secrets = [key, otherKey, adminToken].filter((secret) => secret !== undefined);
    const report = reportOf(results, { url, startedAt: startedAt.toISOString(), seconds }, secrets);
    const json = `${JSON.stringify(report, null, 2)}\n`;
    if (args.json === "-") process.stdout.write(json);
    else process.stdout.write(reportText(report));
    if (args.json !== undefined && args.json !== "-") writeFileSync(args.json, json);
    return report.failed > 0 ? 1 : 0;
  } finally {
    environment.close();
  }
}

function chosen(sections: readonly NamedSection[], { groups, only }: Args): readonly NamedSection[] {
  const unknown = groups.find((name) => !sections.some((section) => section.name === name));
  if (unknown !== undefined)
    throw new CannotBegin(`There is no section "${unknown}": ${sections.map(({ name }) => name).join(", ")}.`);
  const found = sections
    .filter(({ name }) => groups.length === 0 || groups.includes(name))
    .map((section) => ({
      ...section,
      cases: section.cases.filter(({ says }) => says.toLowerCase().includes((only ?? "").toLowerCase())),
    }))
    .filter(({ cases }) => cases.length > 0);
  if (found.length === 0) throw new CannotBegin(`No case has the words "${only}".`);
  return found;
}

function list(sections: readonly NamedSection[]): number {
  for (const { title, name, cases } of sections)
    process.stdout.write(`${title} (${name})\n${cases.map(({ says }) => `  ${says}\n`).join("")}\n`);
  process.stdout.write(`${sections.length} sections, ${sections.flatMap(({ cases }) => cases).length} cases\n`);
  return 0;
}

/** Writes a line for each failure, and one for each finished section. */
function progress(sections: readonly NamedSection[]): (result: Result) => void {
  const left = new Map(sections.map(({ name, cases }) => [name, cases.length]));
  const total = sections.reduce((sum, { cases }) => sum + cases.length, 0);
  let done = 0;
  return ({ section, outcome, says }) => {
    done += 1;
    left.set(section, (left.get(section) ?? 1) - 1);
    if (outcome === "failed") say(`${done}/${total} failed: ${section}: ${says}`);
    if (left.get(section) === 0) say(`${done}/${total} ${section} is done`);
  };
}

const say = (line: string): void => void process.stderr.write(`conformance: ${line}\n`);

/** What to do, or what is wrong with the arguments ("" if help was asked for), and the text of the help. */
function command(words: readonly string[]): { run: () => Promise<number> } | { wrong: string; usage: string } {
  if (words[0] === "datasource") {
    const args = readDatasourceArgs(words.slice(1), process.env);
    if (typeof args === "string") return { wrong: args, usage: DATASOURCE_USAGE };
    return { run: () => reportDatasource(args, (text) => process.stdout.write(text)) };
  }
  const args = readArgs(words, process.env);
  return typeof args === "string" ? { wrong: args, usage: USAGE } : { run: () => run(args) };
}

const asked = command(process.argv.slice(2));
if ("wrong" in asked) {
  const { wrong, usage } = asked;
  (wrong === "" ? process.stdout : process.stderr).write(wrong === "" ? usage : `${wrong}\n\n${usage}`);
  process.exitCode = wrong === "" ? 0 : 2;
} else
  process.exitCode = await asked.run().catch((error: unknown) => {
    if (!(error instanceof CannotBegin)) throw error;
    say(error.message);
    return 2;
  });
