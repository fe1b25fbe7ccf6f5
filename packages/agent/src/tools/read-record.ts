import { z } from "zod";
import { type Answer, notFound } from "../answer.ts";
import { type AgentTool, defineTool, inputs } from "../tool.ts";
import { connectionOf, type ToolContext } from "../tool-context.ts";

const DESCRIPTION = `Reads one record by its id. Answers { record, readAt }: its current values, and the position in the log up to which they are current.
Read a record before you update it. If someone else changes the same fields after your read, your update is refused and the answer says what changed, so no one's work is overwritten.`;

export function readRecord(context: ToolContext): AgentTool<{ model: string; id: string }> {
  const { model, id } = inputs(context);
  return defineTool(context, DESCRIPTION, z.object({ model, id }), async (asked): Promise<Answer> => {
    context.leases.forgetLoss(asked.model, asked.id);
    const reading = context.readSet.take(asked.model, asked.id);
    return reading ? { ok: true, ...reading, ...connectionOf(context) } : notFound(asked);
  });
}
