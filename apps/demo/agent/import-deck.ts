import type { SyncClient } from "@holdfast/sdk/node";
import type { Schema } from "../src/schema.ts";
import type { ImportPlan, Passage } from "./plan-import.ts";

export interface ImportOptions {
  /** Waited between passages, so that people can watch. */
  readonly paceMs: number;
  /** Called when `done` passages are on the server. */
  at(done: number): void;
}

export type ImportOutcome = "imported" | "resumed" | "already-there";

/**
 * Writes a planned import, passage by passage; the job's record shows its progress. Existing records are not changed:
 * people may have edited them since.
 */
export async function importDeck(
  client: SyncClient<Schema>,
  plan: ImportPlan,
  options: ImportOptions,
): Promise<ImportOutcome> {
  const { document, jobId, passages } = plan;
  const { models } = client;
  const before = models.ingestionjob.get(jobId);
  if (before?.status === "completed") return "already-there";

  if (!before) {
    const { id, ...data } = document;
    const job = {
      attachmentId: id,
      status: "pending",
      totalChunks: passages.length,
      processedChunks: 0,
      startedAt: now(),
    };
    // Together or not at all: a deck without its job would look finished.
    await client.commit([
      { action: "create", model: "document", id, data },
      { action: "create", model: "ingestionjob", id: jobId, data: job },
    ]).receipt;
  }
  try {
    for (const passage of passages) {
      await writePassage(client, plan, passage);
      options.at(passage.index + 1);
      await new Promise((resolve) => setTimeout(resolve, options.paceMs));
    }
    await models.ingestionjob.update(jobId, { status: "completed", completedAt: now() }).receipt;
  } catch (error) {
    // The job's record shows the reason. If that cannot be written either, the caller still gets the error.
    const message = error instanceof Error ? error.message : String(error);
    await models.ingestionjob.update(jobId, { status: "failed", error: message }).receipt.catch(() => {});
    throw error;
  }
  return before ? "resumed" : "imported";
}

/** The passage, its section's slide if it is the first one, and the progress: one commit, so they never disagree. */
async function writePassage(client: SyncClient<Schema>, plan: ImportPlan, passage: Passage): Promise<void> {
  const { models } = client;
  if (models.documentchunk.get(passage.id)) return;
  const { id, index, slide, ...text } = passage;
  const attachmentId = plan.document.id;
  await client.commit([
    { action: "create", model: "documentchunk", id, data: { attachmentId, chunkIndex: index, ...text } },
    ...newSlide(client, attachmentId, slide),
    {
      action: "update",
      model: "ingestionjob",
      id: plan.jobId,
      data: { status: "processing", processedChunks: index + 1 },
    },
  ]).receipt;
}

function newSlide(client: SyncClient<Schema>, deckId: string, slide: Passage["slide"]) {
  if (!slide || client.models.slide.get(slide.id)) return [];
  const { id, ...data } = slide;
  return [{ action: "create", model: "slide", id, data: { deckId, ...data } }] as const;
}

const now = () => new Date().toISOString();
