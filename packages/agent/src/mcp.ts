import { McpServer } from "@modelcontextprotocol/server";
import type { ToolKit } from "./create-tools.ts";
import type { AgentTool } from "./tool.ts";

const INSTRUCTIONS = `These tools work on shared records that people and other agents edit at the same time.
List or read before you update: an update is based on your last read, and is refused with stale_context if someone else has changed the same fields since. Then decide again, based on the current record.
Claim a record before you work on it for longer than a moment, and release it when you are done. If someone else has claimed it, work on another record, or wait in the queue.
An update may be a proposal that a person decides: then its status is proposed, and read_proposal tells how it ended.
Every answer has ok: true or ok: false; with false it has a stable code, a message, and what to do next.`;

/** What hosts show for a tool and use to decide whether to ask a person: an update replaces values. */
const HINTS: Readonly<
  Record<keyof ToolKit["tools"], { title: string; readOnlyHint: boolean; destructiveHint: boolean }>
> = {
  read_record: { title: "Read a record", readOnlyHint: true, destructiveHint: false },
  list_records: { title: "List records", readOnlyHint: true, destructiveHint: false },
  claim_record: { title: "Claim a record", readOnlyHint: false, destructiveHint: false },
  update_record: { title: "Update a record", readOnlyHint: false, destructiveHint: true },
  read_proposal: { title: "Read a proposal", readOnlyHint: true, destructiveHint: false },
  release_record: { title: "Release a claim", readOnlyHint: false, destructiveHint: false },
};

/** The tools as an MCP server for any transport. Closing it leaves the tools open. */
export function createMcpServer({ tools }: ToolKit, version: string): McpServer {
  const server = new McpServer({ name: "holdfast", version }, { instructions: INSTRUCTIONS });
  for (const [name, tool] of Object.entries(tools) as [keyof typeof HINTS, AgentTool][]) {
    const annotations = { ...HINTS[name], idempotentHint: true, openWorldHint: false };
    const inputSchema = judgedByTheTool(tool);
    server.registerTool(
      name,
      { description: tool.description, inputSchema, annotations },
      async (input, { mcpReq }) => {
        const answer = await tool.execute(input, { abortSignal: mcpReq.signal });
        return {
          content: [{ type: "text", text: JSON.stringify(answer) }],
          // The text contains everything, for every host. Repeating it here would use the model's context twice.
          structuredContent: { ok: answer.ok, ...(!answer.ok && { code: answer.code }) },
          isError: !answer.ok,
        };
      },
    );
  }
  return server;
}

/**
 * The schema informs hosts what to send, but the tool validates the input, so that a refusal has a code like all
 * others.
 */
function judgedByTheTool({ inputSchema }: AgentTool) {
  const standard = inputSchema["~standard"];
  return { "~standard": { ...standard, validate: (value: unknown) => ({ value }) } };
}
