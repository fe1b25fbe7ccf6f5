import type { ImportJob } from "../schema.ts";
import { useQuery } from "../sync.ts";

/** How far the agent has come with reading the document of this deck. */
export function ImportProgress({ deckId }: { deckId: string }) {
  const job = useQuery("ingestionjob", { where: { attachmentId: deckId } }, (jobs) => jobs.at(-1));
  if (!job) return null;
  const total = job.totalChunks ?? 0;
  const done = job.processedChunks ?? 0;
  return (
    <div className="import-progress">
      <p>{importWords(job.status ?? "", done, total, job.error)}</p>
      {isRunning(job) && <progress value={done} max={Math.max(total, 1)} aria-label="Passages read" />}
    </div>
  );
}

const isRunning = (job: ImportJob) => job.status === "pending" || job.status === "processing";

function importWords(status: string, done: number, total: number, error: string | undefined): string {
  switch (status) {
    case "pending":
      return "The agent is about to begin.";
    case "processing":
      return `The agent is reading: ${done} of ${total} passages.`;
    case "completed":
      return `The agent has read all ${total} passages.`;
    case "failed":
      return `The agent stopped after ${done} of ${total} passages. ${error ?? ""}`.trim();
    default:
      return `${status}: ${done} of ${total} passages.`;
  }
}
