import { z } from "zod";
import { type Answer, notFound } from "../answer.ts";
import { type AgentTool, defineTool, inputs } from "../tool.ts";
import { connectionOf, type Desk } from "../tool-context.ts";

const DESCRIPTION = `Reads one record by its id. Answers { record, readAt }: what it holds now, and the position in the log up to which that is known.
Read a record before you update it. When somebody else changes the same fields after your reading, your update is refused and you are told what changed, so nobody's work is overwritten.`;

export function readRecord(desk: Desk): AgentTool<{ model: string; id: string }> {
  const { model, id } = inputs(desk);
  return defineTool(desk, DESCRIPTION, z.object({ model, id }), async (asked): Promise<Answer> => {
    desk.holdings.forgetLoss(asked.model, asked.id);
    const reading = desk.readings.take(asked.model, asked.id);
    return reading ? { ok: true, ...reading, ...connectionOf(desk) } : notFound(asked);
  });
}
