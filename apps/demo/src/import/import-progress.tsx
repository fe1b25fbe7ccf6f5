import type { ImportJob } from "../schema.ts";
import { useQuery } from "../sync.ts";

/** How far the agent has come with reading the document of this deck, while it reads. */
export function ImportProgress({ deckId }: { deckId: string }) {
  const job = useJob(deckId);
  if (!job || !isRunning(job)) return null;
  return (
    <section className="panel" aria-label="Import in progress">
      <p>{importWords(job)}</p>
      <progress value={job.processedChunks ?? 0} max={Math.max(job.totalChunks ?? 0, 1)} aria-label="Passages read" />
    </section>
  );
}

/** What came of it. */
export function ImportOutcome({ deckId }: { deckId: string }) {
  const job = useJob(deckId);
  return <p className="import-outcome">{job && !isRunning(job) && importWords(job)}</p>;
}

const useJob = (deckId: string): ImportJob | undefined =>
  useQuery("ingestionjob", { where: { attachmentId: deckId } }, (jobs) => jobs.at(-1));

const isRunning = (job: ImportJob) => job.status === "pending" || job.status === "processing";

function importWords({ status, processedChunks: done = 0, totalChunks: total = 0, error }: ImportJob): string {
  switch (status) {
    case "pending":
      return "The agent is about to begin.";
    case "processing":
      return `The agent is reading: ${done} of ${total} passages.`;
    case "completed":
      return total === 1 ? "The agent has read the one passage." : `The agent has read all ${total} passages.`;
    case "failed":
      return `The agent stopped after ${done} of ${total} passages. ${error ?? ""}`.trim();
    default:
      return `${status}: ${done} of ${total} passages.`;
  }
}
