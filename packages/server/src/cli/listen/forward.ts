import type { LogEntry } from "@holdfast/sdk/protocol";
import type { WebhookBatch } from "../../rules/webhooks/webhook-batch.ts";
import { batchesOf, type ToldEvent } from "./batches.ts";
import { retryDelayMs } from "./retry-delay.ts";
import type { ForwardedBatch } from "./send-batch.ts";

export interface Page {
  readonly entries: readonly LogEntry[];
  /** The last position that was looked at, shown or not. */
  readonly examined: number;
}

/** What forwarding asks of the tenant. All of it rejects once the signal is aborted. */
export interface Ports {
  readonly signal: AbortSignal;
  /** The log after a position; waits until there is news, or a while. */
  read(after: number): Promise<Page>;
  /** Whether what stopped a read may pass. */
  isPassing(error: unknown): boolean;
  send(batch: WebhookBatch<ToldEvent>): Promise<ForwardedBatch>;
  pause(ms: number): Promise<unknown>;
  /** The server does not answer; asked again after so long. */
  unread(error: unknown, againMs: number): void;
  readAgain(): void;
  /** One request was made; again after so long, where it was not taken. */
  sent(batch: WebhookBatch<ToldEvent>, sent: ForwardedBatch, attempt: number, againMs: number | undefined): void;
}

/**
 * From a position on, until the signal: the log in its order, one request at a time. A batch that was not taken comes
 * again as it is, and what is behind it waits. Answers with the position up to which all was taken.
 */
export async function forward(from: number, ports: Ports): Promise<number> {
  let position = from;
  try {
    for (;;) {
      const { entries, examined } = await readSteadily(position, ports);
      for (const batch of batchesOf(entries)) {
        await sendSteadily(batch, ports);
        position = batch.to;
      }
      position = examined;
    }
  } catch (error) {
    if (ports.signal.aborted) return position;
    throw error;
  }
}

async function readSteadily(after: number, ports: Ports): Promise<Page> {
  for (let failed = 0; ; failed++) {
    try {
      const page = await ports.read(after);
      if (failed > 0) ports.readAgain();
      return page;
    } catch (error) {
      if (ports.signal.aborted || !ports.isPassing(error)) throw error;
      const againMs = retryDelayMs(failed + 1);
      ports.unread(error, againMs);
      await ports.pause(againMs);
    }
  }
}

async function sendSteadily(batch: WebhookBatch<ToldEvent>, ports: Ports): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const sent = await ports.send(batch);
    const againMs = sent.outcome.kind === "succeeded" ? undefined : retryDelayMs(attempt);
    ports.sent(batch, sent, attempt, againMs);
    if (againMs === undefined) return;
    await ports.pause(againMs);
  }
}
