import { isSyncError, type Proposal } from "@holdfast/sdk";
import { z } from "zod";
import { type Answer, refusalOf } from "../answer.ts";
import { type AgentTool, defineTool } from "../tool.ts";
import { type ToolContext, within } from "../tool-context.ts";

const DESCRIPTION = `Tells what became of an update that was answered with status "proposed": open, accepted, rejected, withdrawn or expired, by whom, and their word to you.
An open proposal waits for a person: work on something else, and ask again later. With wait, the answer comes when it is decided, or after a moment.`;

export interface ProposalInput {
  proposal: string;
  wait?: boolean | undefined;
}

export function readProposal(context: ToolContext): AgentTool<ProposalInput> {
  const inputSchema = z.object({
    proposal: z.string().min(1).max(255).describe("The id of the proposal."),
    wait: z.boolean().optional().describe("Whether to wait for a decision; default: no."),
  });
  return defineTool<ProposalInput>(context, DESCRIPTION, inputSchema, async ({ proposal: id, wait }, signal) => {
    const { proposals } = context.client;
    try {
      const now = await proposals.get(id);
      if (now.status !== "open" || wait !== true) return answerOf(now);
      return answerOf((await decided(context, now, signal)) ?? (await proposals.get(id)));
    } catch (error) {
      if (!isSyncError(error)) throw error;
      return refusalOf(error);
    }
  });
}

/** Undefined: it was not decided in time. */
async function decided(
  { client, answerMs }: ToolContext,
  { id, author, operations: [first] }: Proposal,
  signal: AbortSignal | undefined,
): Promise<Proposal | undefined> {
  let off = () => {};
  const seen = new Promise<Proposal | undefined>((resolve) => {
    signal?.addEventListener("abort", () => resolve(undefined), { once: true });
    const query = { status: "all", author, ...(first && { model: first.model, id: first.id }) } as const;
    off = client.proposals.subscribe(query, (found) => {
      const one = found.find((each) => each.id === id);
      if (one && one.status !== "open") resolve(one);
    });
  });
  return await within(seen, answerMs).finally(off);
}

const answerOf = ({ id, status, decision }: Proposal): Answer => ({
  ok: true,
  ...{ proposal: id, status },
  ...(decision && { by: decision.by, ...(decision.reason !== undefined && { reason: decision.reason }) }),
  ...(decision?.take && { accepted: decision.take }),
  ...(decision?.edited && { edited: true }),
  next: NEXT[status],
});

const NEXT: Readonly<Record<Proposal["status"], string>> = {
  open: "A person has not decided yet. Work on something else, and ask again later.",
  accepted: "The change is made. Read the record before you go on: a part of it may have been left out or corrected.",
  rejected: "Nothing was changed. Do not propose the same again.",
  withdrawn: "Nothing was changed.",
  expired: "Nothing was changed: it was not decided in time.",
};
