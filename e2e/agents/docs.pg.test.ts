import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { startPeople } from "../clients/people.ts";
import { filesOf } from "../docs/fences.ts";
import { openPageFolder } from "../docs/page-folder.ts";

/** The exact text that people copy. */
const page = readFileSync(new URL("../../docs/agents.md", import.meta.url), "utf8");
const program = filesOf(page).get("titles.ts") ?? "";
const heart = /^```ts\n(async function workOn.*?)^```$/ms.exec(page)?.[1] ?? "";
const config = JSON.parse(/^```json\n(.*?)^```$/ms.exec(page)?.[1] ?? "");

const people = await startPeople();
const folder = openPageFolder();
afterAll(() => folder.remove());

const SCRIPTED_MODEL = `
import { MockLanguageModelV3 } from "ai/test";
const s1 = { model: "slide", id: "s1" };
const calls: [string, object][] = [
  ["claim_record", s1],
  ["update_record", { ...s1, data: { title: "Mended" } }],
  ["release_record", s1],
];
let step = 0;
export const model = new MockLanguageModelV3({
  doGenerate: async () => {
    const call = calls[step++];
    return {
      content: call
        ? [{ type: "tool-call", toolCallId: \`call_\${step}\`, toolName: call[0], input: JSON.stringify(call[1]) }]
        : [{ type: "text", text: "One title was mended." }],
      finishReason: { unified: call ? "tool-calls" : "stop", raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    };
  },
});
`;

test("[AG11] the page's program compiles, and runs with any model in place of the page's", async () => {
  await people.request("POST", "/v1/models/slide", { id: "s1", data: { deckId: "d1", title: "Base" } });
  const body = { participantId: "mender", operations: ["slide.*"], syncGroups: ["deck:d1"] };
  const { token } = await people.request("POST", "/v1/capabilities", body);
  folder.write("titles.ts", program);
  folder.write("model.ts", SCRIPTED_MODEL);
  expect(await folder.compile()).toMatchObject({ code: 0, output: "" });
  const env = { HOLDFAST_URL: people.url, HOLDFAST_TOKEN: String(token) };
  const ran = await folder.run("titles.ts", env);
  expect(ran, ran.output).toMatchObject({ code: 0, stdout: "One title was mended.\n" });
  expect((await people.request("GET", "/v1/models/slide/s1")).data).toMatchObject({ title: "Mended" });
});

test("[AG11] the page shows the example's worker word for word", () => {
  expect(heart).toContain("await using lease");
  expect(readFileSync(join(root, "examples", "agent", "src", "work.ts"), "utf8")).toContain(heart);
});

test("[AG11] the page's host configuration starts the program of the package", () => {
  const { args, env } = config.mcpServers.holdfast;
  const manifest = JSON.parse(readFileSync(join(root, "packages", "agent", "package.json"), "utf8"));
  expect(args).toContain(`--package=${manifest.name}`);
  expect(Object.keys(manifest.publishConfig.bin)).toEqual([args[2]]);
  expect(Object.keys(env)).toEqual(["HOLDFAST_URL", "HOLDFAST_TOKEN"]);
});
