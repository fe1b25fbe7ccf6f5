import { writeFileSync } from "node:fs";
import { loadChapters, type NamedChapter } from "./load-chapters.ts";
import { CannotBegin, openPlace } from "./place.ts";
import { reportOf, reportText } from "./report.ts";
import { type Result, runSuite } from "./suite.ts";
import { readWords, USAGE, type Words } from "./words.ts";

/** The words → the chapters and cases that they ask for → one run → one report. */
async function run(words: Words): Promise<number> {
  const chapters = chosen(await loadChapters(), words);
  if (words.list) return list(chapters);
  const startedAt = new Date();
  const { url, key, testKey: otherKey, adminToken } = words;
  const place = await openPlace({ url, key, otherKey, adminToken });
  try {
    const results = await runSuite(place, chapters, { jobs: words.jobs, heard: progress(chapters) });
    const kept = words.clean ? await place.removeModels() : undefined;
    if (kept !== undefined) say(`the suite's models stay in the schema: ${kept}`);
    const seconds = (Date.now() - startedAt.getTime()) / 1_000;
    const secrets = [key, otherKey, adminToken].filter((secret) => secret !== undefined);
    const report = reportOf(results, { url, startedAt: startedAt.toISOString(), seconds }, secrets);
    const json = `${JSON.stringify(report, null, 2)}\n`;
    if (words.json === "-") process.stdout.write(json);
    else process.stdout.write(reportText(report));
    if (words.json !== undefined && words.json !== "-") writeFileSync(words.json, json);
    return report.failed > 0 ? 1 : 0;
  } finally {
    place.close();
  }
}

function chosen(chapters: readonly NamedChapter[], { groups, only }: Words): readonly NamedChapter[] {
  const unknown = groups.find((name) => !chapters.some((chapter) => chapter.name === name));
  if (unknown !== undefined)
    throw new CannotBegin(`There is no chapter "${unknown}": ${chapters.map(({ name }) => name).join(", ")}.`);
  const found = chapters
    .filter(({ name }) => groups.length === 0 || groups.includes(name))
    .map((chapter) => ({
      ...chapter,
      cases: chapter.cases.filter(({ says }) => says.toLowerCase().includes((only ?? "").toLowerCase())),
    }))
    .filter(({ cases }) => cases.length > 0);
  if (found.length === 0) throw new CannotBegin(`No case has the words "${only}".`);
  return found;
}

function list(chapters: readonly NamedChapter[]): number {
  for (const { title, name, cases } of chapters)
    process.stdout.write(`${title} (${name})\n${cases.map(({ says }) => `  ${says}\n`).join("")}\n`);
  process.stdout.write(`${chapters.length} chapters, ${chapters.flatMap(({ cases }) => cases).length} cases\n`);
  return 0;
}

/** One line for each chapter that is done, and one for each failure at once. */
function progress(chapters: readonly NamedChapter[]): (result: Result) => void {
  const left = new Map(chapters.map(({ name, cases }) => [name, cases.length]));
  const total = chapters.reduce((sum, { cases }) => sum + cases.length, 0);
  let done = 0;
  return ({ chapter, outcome, says }) => {
    done += 1;
    left.set(chapter, (left.get(chapter) ?? 1) - 1);
    if (outcome === "failed") say(`${done}/${total} failed: ${chapter}: ${says}`);
    if (left.get(chapter) === 0) say(`${done}/${total} ${chapter} is done`);
  };
}

const say = (line: string): void => void process.stderr.write(`conformance: ${line}\n`);

const words = readWords(process.argv.slice(2), process.env);
if (typeof words === "string") {
  (words === "" ? process.stdout : process.stderr).write(words === "" ? USAGE : `${words}\n\n${USAGE}`);
  process.exitCode = words === "" ? 0 : 2;
} else
  process.exitCode = await run(words).catch((error: unknown) => {
    if (!(error instanceof CannotBegin)) throw error;
    say(error.message);
    return 2;
  });
