import type { DeliveryOutcome } from "../rules/delivery.ts";
import { outcomeOf, type ReceiverAnswer } from "../rules/delivery-outcome.ts";
import { type WebhookBatch, webhookIdOf } from "../rules/webhook-batch.ts";
import { bodyOf, type LocalEvent } from "./batches.ts";

/** One request that was made, and what came of it. */
export interface ForwardedBatch {
  readonly webhookId: string;
  readonly outcome: DeliveryOutcome;
  /** The beginning of the answer's body; null: there was no answer. */
  readonly response: string | null;
  readonly startedAt: string;
  readonly durationMs: number;
}

export interface Sending {
  readonly url: string;
  readonly secret: string;
  readonly signal: AbortSignal;
  send(
    webhook: { url: string; id: string; timestamp: number; body: Buffer; secrets: readonly string[] },
    signal: AbortSignal,
  ): Promise<ReceiverAnswer>;
}

/** The same name and body each time; the time and the signature are the request's own. Rejects when it is interrupted. */
export async function sendBatch(
  batch: WebhookBatch<LocalEvent>,
  { url, secret, signal, send }: Sending,
): Promise<ForwardedBatch> {
  const [startedAt, begun] = [Date.now(), performance.now()];
  const webhookId = webhookIdOf("local", 1, batch);
  const timestamp = Math.floor(startedAt / 1_000);
  const body = bodyOf(batch);
  const answer = await send({ url, id: webhookId, timestamp, body, secrets: [secret] }, signal);
  signal.throwIfAborted();
  return {
    webhookId,
    outcome: outcomeOf(answer, Date.now()),
    response: answer.kind === "answered" ? answer.body : null,
    startedAt: new Date(startedAt).toISOString(),
    durationMs: Math.round(performance.now() - begun),
  };
}
