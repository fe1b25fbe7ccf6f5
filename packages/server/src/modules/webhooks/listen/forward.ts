import type { LogEntry } from "@holdfast/sdk/protocol";
import type { WebhookBatch } from "../rules/webhook-batch.ts";
import { batchesOf, type LocalEvent } from "./batches.ts";
import { retryDelayMs } from "./retry-delay.ts";
import type { ForwardedBatch } from "./send-batch.ts";

export interface Page {
  readonly entries: readonly LogEntry[];
  /** The last position that was read, whether or not its entry matched. */
  readonly examined: number;
}

/** What forwarding needs from its environment. All functions reject once the signal is aborted. */
export interface Ports {
  readonly signal: AbortSignal;
  /** Reads the log after a position. Waits for a while if there are no new entries. */
  read(after: number): Promise<Page>;
  /** Whether a failed read may succeed later. */
  isTransient(error: unknown): boolean;
  send(batch: WebhookBatch<LocalEvent>): Promise<ForwardedBatch>;
  pause(ms: number): Promise<unknown>;
  /** The server does not answer. The next attempt follows after `againMs`. */
  unread(error: unknown, againMs: number): void;
  readAgain(): void;
  /** One request was sent. If it failed, the next attempt follows after `againMs`. */
  sent(batch: WebhookBatch<LocalEvent>, sent: ForwardedBatch, attempt: number, againMs: number | undefined): void;
}

/**
 * Forwards the log from a position until the signal aborts: in order, one request at a time. A batch that failed is sent
 * again unchanged, and later entries wait. Returns the position up to which every batch was accepted.
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
      if (ports.signal.aborted || !ports.isTransient(error)) throw error;
      const againMs = retryDelayMs(failed + 1);
      ports.unread(error, againMs);
      await ports.pause(againMs);
    }
  }
}

async function sendSteadily(batch: WebhookBatch<LocalEvent>, ports: Ports): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const sent = await ports.send(batch);
    const againMs = sent.outcome.kind === "succeeded" ? undefined : retryDelayMs(attempt);
    ports.sent(batch, sent, attempt, againMs);
    if (againMs === undefined) return;
    await ports.pause(againMs);
  }
}
