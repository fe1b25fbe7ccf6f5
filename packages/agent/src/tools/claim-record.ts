import type { Lease } from "@holdfast/sdk";
import { z } from "zod";
import { type Answer, refusalOf, refuse } from "../answer.ts";
import { type AgentTool, defineTool, inputs } from "../tool.ts";
import { connectionOf, type ToolContext } from "../tool-context.ts";

const DESCRIPTION = `Claims a record, or one field of it, so that no one else can write there until you release it. People see that you work on it.
Claim what you will work on for longer than a moment; for a quick change, reading and updating is enough. If someone else holds it, the answer says who: work on another record, or wait in the queue with waitSeconds.
Answers { claim, record, readAt }: the current record, which counts as read. The claim is renewed automatically; release it as soon as you are done.`;

export interface ClaimInput {
  model: string;
  id: string;
  field?: string | undefined;
  reason?: string | undefined;
  waitSeconds?: number | undefined;
}

export function claimRecord(context: ToolContext): AgentTool<ClaimInput> {
  const { model, id } = inputs(context);
  const inputSchema = z.object({
    model,
    id,
    field: z.string().min(1).optional().describe("Claim this field only; others can write the other fields."),
    reason: z.string().max(1_000).optional().describe("Your plan, for the people who see the claim."),
    waitSeconds: z.number().min(0).max(600).optional().describe("How long to wait in the queue; default 0."),
  });
  return defineTool<ClaimInput>(context, DESCRIPTION, inputSchema, async (asked, signal) => {
    const held = context.leases.get(asked);
    const lease = held ?? (await take(context, asked, signal));
    if ("ok" in lease) return lease;
    if (!held) context.leases.keep(asked, lease);
    const reading = context.readSet.take(asked.model, asked.id);
    return {
      ok: true,
      claim: lease.id,
      fence: lease.fence,
      ...(reading ?? { record: null, readAt: context.client.status().syncId }),
      ...connectionOf(context),
    };
  });
}

/** Resolves with the lease, or with why there is none in time. */
async function take(
  { client, worksFor, answerMs }: ToolContext,
  { model, id, field, reason, waitSeconds = 0 }: ClaimInput,
  signal: AbortSignal | undefined,
): Promise<Lease | Answer> {
  const patience = AbortSignal.timeout(waitSeconds * 1_000 + answerMs);
  let before: number | undefined;
  // Leave the claim queue when the model's time limit is over; without any answer from the server, a little later.
  const turn = new AbortController();
  const timer = waitSeconds > 0 ? setTimeout(() => turn.abort(), waitSeconds * 1_000) : undefined;
  const left = AbortSignal.any([patience, turn.signal, ...(signal ? [signal] : [])]);
  try {
    const claimed = await client.models[model]?.claim(id, {
      queue: waitSeconds > 0,
      signal: left,
      onPosition: (position) => {
        before = position;
      },
      ...worksFor,
      ...(field !== undefined && { field }),
      ...(reason !== undefined && { description: reason }),
    });
    return claimed as Lease;
  } catch (error) {
    if (!left.aborted) return refusalOf(error);
    if (signal?.aborted) return refuse("no_answer", "The call was canceled before the claim was granted.");
    if (before === undefined) return refuse("no_answer", "The server did not answer the claim in time.");
    return {
      ok: false,
      code: "claim_conflict",
      message: `Someone else still holds the claim after ${waitSeconds} s.`,
      next: "Work on something else and claim it again later.",
      before,
    };
  } finally {
    clearTimeout(timer);
  }
}
