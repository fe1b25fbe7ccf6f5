import { z } from "zod";
import { type Answer, notFound } from "../answer.ts";
import { type AgentTool, defineTool, inputs } from "../tool.ts";
import { connectionOf, type Desk } from "../tool-context.ts";

const DESCRIPTION = `Reads one record by its id. Answers { record, readAt }: its current values, and the position in the log up to which they are current.
Read a record before you update it. If someone else changes the same fields after your read, your update is refused and the answer says what changed, so no one's work is overwritten.`;

export function readRecord(desk: Desk): AgentTool<{ model: string; id: string }> {
  const { model, id } = inputs(desk);
  return defineTool(desk, DESCRIPTION, z.object({ model, id }), async (asked): Promise<Answer> => {
    desk.holdings.forgetLoss(asked.model, asked.id);
    const reading = desk.readings.take(asked.model, asked.id);
    return reading ? { ok: true, ...reading, ...connectionOf(desk) } : notFound(asked);
  });
}
