import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SCRIPTED_MODEL } from "../agents/scripted-model.ts";
import { startPeople } from "../clients/people.ts";
import { filesOf, printed, programOf } from "./fences.ts";
import { openPageFolder } from "./page-folder.ts";

const ADDRESS = "http://127.0.0.1:8787";
const docs = new URL("../../docs/", import.meta.url);
// The program in the page about agents needs a model, and has a test of its own; conformance.md quotes its suite.
const AGENTS = "agents.md";
const elsewhere = [AGENTS, "conformance.md"];
const pages = readdirSync(docs)
  .filter((name) => name.endsWith(".md") && !elsewhere.includes(name))
  .map((name) => ({ name: name.replace(".md", ""), text: readFileSync(new URL(name, docs), "utf8") }));

const people = await startPeople();
const folder = openPageFolder();
afterAll(() => folder.remove());

folder.write(".holdfast/keys.json", JSON.stringify({ live: people.key }));
const allText = pages.map(({ text }) => text).join("\n");
const files = pages.flatMap(({ name, text }) => {
  const { program, apart } = programOf(text);
  for (const [index, piece] of apart.entries()) folder.write(`${name}-${index}.tsx`, piece);
  const whole = [...filesOf(text)].map(([file, content]) => ({ file, text: content, isRun: printed(content) !== "" }));
  return program === "" ? whole : [...whole, { file: `${name}.ts`, text: program, isRun: true }];
});
for (const { file, text } of files) folder.write(file, text.replace(ADDRESS, people.url));

test("[DP1] all TypeScript on the pages compiles, as strictly as our own", async () => {
  expect(new Set(files.map(({ file }) => file)).size).toBe(files.length);
  expect(await folder.compile()).toMatchObject({ code: 0, output: "" });
});

const titles = filesOf(readFileSync(new URL(AGENTS, docs), "utf8")).get("titles.ts") ?? "";
folder.write("titles.ts", titles);
folder.write("model.ts", SCRIPTED_MODEL);

const programs = files.filter(({ isRun }) => isRun);
beforeAll(() => folder.bundle([...programs.map(({ file }) => file), "titles.ts"]));

test.each(programs)("[DP1] $file runs, and prints the output shown on its page", async ({ file, text }) => {
  expect(allText.includes(`npx tsx ${file}`), "no page says how to run it").toBe(true);
  const lines = printed(text);
  expect(lines, "says nothing of what it prints").not.toBe("");
  const ran = await folder.run(file);
  expect(ran, ran.output).toMatchObject({ code: 0, stdout: lines });
});

test("[AG11] the agents page's program runs with any model in place of the page's", async () => {
  expect(titles).toContain('from "./model.ts"');
  await people.request("POST", "/v1/models/slide", { id: "s1", data: { deckId: "d1", title: "Base" } });
  const token = await people.agentToken("mender");
  const ran = await folder.run("titles.ts", { HOLDFAST_URL: people.url, HOLDFAST_TOKEN: token });
  expect(ran, ran.output).toMatchObject({ code: 0, stdout: "One title was mended.\n" });
  expect((await people.request("GET", "/v1/models/slide/s1")).data).toMatchObject({ title: "Mended" });
});
