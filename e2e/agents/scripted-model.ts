/** A module like the one that the page about agents imports: its model makes these calls, and then says what it did. */
export const SCRIPTED_MODEL = `
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
