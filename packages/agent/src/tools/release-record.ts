import { z } from "zod";
import { type AgentTool, defineTool, inputs } from "../tool.ts";
import { type ToolContext, within } from "../tool-context.ts";

const DESCRIPTION = `Releases a claim that you hold, so that others can write there. Your writes under the claim are sent first. Releasing a claim that you do not hold does nothing.`;

export interface ReleaseInput {
  model: string;
  id: string;
  field?: string | undefined;
}

export function releaseRecord(context: ToolContext): AgentTool<ReleaseInput> {
  const { model, id } = inputs(context);
  const field = z
    .string()
    .min(1)
    .optional()
    .describe("The claimed field, if the claim is on a field and not on the whole record.");
  return defineTool<ReleaseInput>(context, DESCRIPTION, z.object({ model, id, field }), async (asked) => {
    const releasing = context.leases.release(asked);
    context.leases.forgetLoss(asked.model, asked.id);
    // Without a connection, the claim is released as soon as there is one. The model need not do anything.
    if (releasing) await within(releasing, context.answerMs);
    return { ok: true, released: releasing !== undefined };
  });
}
