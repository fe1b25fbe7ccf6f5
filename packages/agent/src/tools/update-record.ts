import type { CommitReceipt, JsonObject, Write } from "@holdfast/sdk";
import { z } from "zod";
import { type Answer, notFound, type Refusal, refusalOf, refuse } from "../answer.ts";
import { describeModels } from "../describe-models.ts";
import { changesBetween } from "../read-set.ts";
import { type AgentTool, defineTool, inputs } from "../tool.ts";
import { rowOf, type ToolContext, until, within, withoutToken } from "../tool-context.ts";

const DESCRIPTION = `Changes fields of a record: pass only those that change. Answers { status: "confirmed", record, readAt } when it is committed.
The update is based on your last read of the record. If someone else has changed the same fields since, nothing is written and the code is stale_context, with what changed: decide again, then update again. If someone else has claimed the record, the code is claim_conflict.
With status "proposed" nothing is changed yet: a person decides, and read_proposal tells how.
With status "queued" the server could not be reached; the write is stored and sent later, so do not repeat it.
The models and their fields:`;

export interface UpdateInput {
  model: string;
  id: string;
  data: Record<string, unknown>;
  reason?: string | undefined;
}

const PROPOSED =
  "Nothing is changed yet: it waits for a person. Go on with something else; read_proposal tells how it was decided.";

type Outcome = { readonly receipt: CommitReceipt } | { readonly error: unknown };

/** How long the entries that made a write stale may take to arrive here. */
const NEWS_MS = 2_000;

export function updateRecord(context: ToolContext): AgentTool<UpdateInput> {
  const { model, id } = inputs(context);
  const inputSchema = z.object({
    model,
    id,
    data: z.looseObject({}).describe('The fields that change, for example {"title":"New"}.'),
    reason: z.string().min(1).max(1_000).optional().describe("Why, in a sentence for the people who see the change."),
  });
  const description = `${DESCRIPTION}\n${describeModels(context.schema)}`;
  return defineTool<UpdateInput>(context, description, inputSchema, async (asked): Promise<Answer> => {
    const loss = context.leases.lossOf(asked.model, asked.id);
    if (loss)
      return { ...refusalOf(loss), next: "Read the record, or claim it again, and decide again. Nothing was written." };
    if (!rowOf(context, asked.model, asked.id)) return notFound(asked);
    const readAt = context.readSet.last(asked.model, asked.id)?.readAt;
    if (readAt === undefined) return refuse("not_read", `You have not read ${asked.model} ${asked.id}.`);
    const write = writeOf(context, asked, readAt);
    const outcome = write.receipt.then(
      (receipt): Outcome => ({ receipt }),
      (error: unknown): Outcome => ({ error }),
    );
    const inTime = await within(outcome, context.answerMs);
    if (inTime && "receipt" in inTime) return confirmed(context, asked, inTime.receipt);
    if (inTime) return (await refused(context, asked, write, inTime.error))();
    // If the write fails later, the next answer reports it.
    void outcome
      .then(async (late) => {
        if ("error" in late) context.late.push(await refused(context, asked, write, late.error));
      })
      .catch((error: unknown) => context.late.push(() => refusalOf(error)));
    const refusal = withoutToken(context);
    if (refusal)
      return { ...refusal, pending: true, next: `${refusal.next} The write is stored, and sent with the next token.` };
    return { ok: true, status: "queued", record: rowOf(context, asked.model, asked.id) ?? null };
  });
}

function writeOf(
  { client, leases, worksFor, propose }: ToolContext,
  { model, id, data, reason }: UpdateInput,
  readAt: number,
): Write {
  const claim = leases.covering(model, id, Object.keys(data));
  const api = client.models[model];
  if (!api) throw new Error(`The client's schema has no model "${model}".`);
  return api.update(id, data as JsonObject, {
    readAt,
    onStale: "reject",
    ...worksFor,
    ...(propose && { propose }),
    reason,
    ...(claim && { claim }),
  });
}

function confirmed(
  context: ToolContext,
  { model, id }: UpdateInput,
  { lastSyncId, status, proposal }: CommitReceipt,
): Answer {
  if (status === "proposed") return { ok: true, status, proposal, next: PROPOSED };
  const reading = context.readSet.take(model, id);
  return { ok: true, status: "confirmed", committedAt: lastSyncId, ...(reading ?? { record: null }) };
}

/**
 * Discards a refused write completely: the model decides again, based on the present values. They count as read when
 * the returned function is called, which reports them.
 */
async function refused(context: ToolContext, asked: UpdateInput, write: Write, error: unknown): Promise<() => Refusal> {
  const { client, readSet } = context;
  const { model, id, data } = asked;
  for (const item of client.attention()) if (item.clientTxId === write.clientTxId) item.discard();
  for (const conflict of client.conflicts()) if (conflict.clientTxId === write.clientTxId) conflict.takeTheirs();
  const answer = { ...refusalOf(error), model, id, yours: data };
  if (answer.code !== "stale_context") return () => answer;
  const seen = readSet.last(model, id)?.record;
  if (seen) await until(client, () => hasMoved(context, model, id, seen), NEWS_MS);
  return () => {
    const now = readSet.take(model, id);
    return {
      ...answer,
      message: `Someone else ${now ? "changed the same" : "deleted it"} since you read it.`,
      next: "Nothing was written. Look at what changed, decide again, and update again: the record counts as read now.",
      ...(now ? { ...now, ...(seen && { changed: changesBetween(seen, now.record) }) } : { record: null }),
    };
  };
}

/** Whether the rows here differ from the record that the agent has seen. */
const hasMoved = (context: ToolContext, model: string, id: string, seen: JsonObject): boolean => {
  const now = rowOf(context, model, id);
  return now === undefined || Object.keys(changesBetween(seen, now)).length > 0;
};
