import { createTools } from "@holdfast/agent";
import { generateText, stepCountIs, type ToolSet } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { schema, startPeople } from "../clients/people.ts";

const people = await startPeople();

type Call = readonly [tool: string, input: object];
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A scripted model: each step calls these tools, and the last one ends the conversation. */
function scripted(...steps: readonly (readonly Call[])[]) {
  const model: MockLanguageModelV3 = new MockLanguageModelV3({
    doGenerate: async () => {
      const at = model.doGenerateCalls.length - 1;
      const calls = steps[at];
      return {
        content: calls
          ? calls.map(([toolName, input], i) => ({
              type: "tool-call" as const,
              toolCallId: `call_${at}_${i}`,
              toolName,
              input: JSON.stringify(input),
            }))
          : [{ type: "text" as const, text: "Done." }],
        finishReason: { unified: calls ? ("tool-calls" as const) : ("stop" as const), raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
  return model;
}

test("[AG6] the tools work in the AI SDK unchanged: its loop describes them, calls them, and gives the model their results", async () => {
  const { client } = await people.agent("writer");
  await people.request("POST", "/v1/models/slide", { id: "s1", data: { deckId: "d1", title: "Base" } });
  await until(() => expect(client.models.slide.get("s1")).toBeDefined());
  const kit = createTools({ client, schema });
  const tools: ToolSet = kit.tools;
  const record = { model: "slide", id: "s1" };
  const model = scripted(
    [["list_records", { model: "slide", where: { deckId: "d1" } }]],
    [["claim_record", { ...record, reason: "Better title" }]],
    [["update_record", { ...record, data: { title: "Better" } }]],
    // Several calls at once, as models make them; one of them is invalid.
    [
      ["release_record", record],
      ["read_record", { model: "slide", id: "nowhere" }],
    ],
  );
  const { text, steps } = await generateText({
    model,
    tools,
    prompt: "Better titles, please.",
    stopWhen: stepCountIs(9),
  });

  expect(text).toBe("Done.");
  const answers = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
  expect(answers).toMatchObject([
    { ok: true, records: [{ id: "s1", title: "Base" }] },
    { ok: true, record: { title: "Base" } },
    { ok: true, status: "confirmed", record: { title: "Better" } },
    { ok: true, released: true },
    { ok: false, code: "record_not_found" },
  ]);
  expect((await people.request("GET", "/v1/models/slide/s1")).data).toMatchObject({ title: "Better" });

  const described = model.doGenerateCalls[0]?.tools ?? [];
  expect(described.map(({ name }) => name).sort()).toEqual(Object.keys(kit.tools).sort());
  const update = described.find(({ name }) => name === "update_record");
  expect(update).toMatchObject({
    type: "function",
    description: expect.stringContaining("slide { deckId: string, title: string, order: number }"),
    inputSchema: {
      type: "object",
      properties: { model: { enum: ["slide"] }, id: { type: "string" }, data: { type: "object" } },
      required: ["model", "id", "data"],
    },
  });
  // Some providers do not support recursive schemas.
  expect(JSON.stringify(described)).not.toContain("$ref");
  // After the last step, the model's input contains the refusal with advice.
  expect(JSON.stringify(model.doGenerateCalls.at(-1)?.prompt)).toContain("List the records to find the right id");
});
