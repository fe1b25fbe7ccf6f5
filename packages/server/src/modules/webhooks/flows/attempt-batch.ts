import { newId } from "../../../ids.ts";
import type { Attempt } from "../db/webhook-attempts.ts";
import type { Endpoint } from "../db/webhook-endpoints.ts";
import type { DeliveryOutcome, DeliveryTimes, SentBatch } from "../rules/delivery.ts";
import { outcomeOf, type ReceiverAnswer } from "../rules/delivery-outcome.ts";
import { type WebhookBatch as BatchOf, webhookIdOf } from "../rules/webhook-batch.ts";
import { bodyOf, type WebhookEvent } from "./webhook-events.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

export type EventBatch = BatchOf<WebhookEvent>;

/** Sends one signed request to an endpoint. The signal aborts it. */
export type SendWebhook = (
  webhook: {
    readonly url: string;
    readonly id: string;
    /** Seconds since 1970. */
    readonly timestamp: number;
    readonly body: Buffer;
    readonly secrets: readonly string[];
  },
  signal: AbortSignal,
) => Promise<ReceiverAnswer>;

export interface AttemptDeps {
  readonly secrets: WebhookSecrets;
  readonly send: SendWebhook;
  readonly times: DeliveryTimes;
  /** Called when a delivery got a 2xx response. */
  readonly delivered: (tenant: number) => void;
}

/** An endpoint's state, and the current time: the database's clock, advanced by our own. */
export interface AttemptContext {
  readonly endpoint: Endpoint;
  now(): number;
}

/** A finished attempt whose result is not saved yet. */
export interface Over {
  readonly begun: AttemptContext;
  readonly sent: SentBatch;
  readonly outcome: DeliveryOutcome;
  readonly noted: Attempt;
}

/** Sends a batch whose attempt has been saved as begun, and returns the result. */
export function attemptBatch({ secrets, send, times, delivered }: AttemptDeps) {
  async function answerOf(
    { endpoint, now }: AttemptContext,
    { id, body }: { id: string; body: Buffer },
    signal: AbortSignal,
  ): Promise<ReceiverAnswer> {
    const opened = secrets.open(endpoint, now());
    if (!opened)
      return {
        kind: "unanswered",
        code: "secret_unreadable",
        message: "The signing secret is encrypted with a master key that this server does not have.",
      };
    // A process that was suspended may have lost its lease meanwhile. A request can take 15 s, longer than the rest of
    // the lease.
    const { lease } = endpoint.delivery;
    if (signal.aborted || !lease || now() + times.requestMs > lease.until) return { kind: "interrupted" };
    return await send({ url: endpoint.url, id, timestamp: Math.floor(now() / 1_000), body, secrets: opened }, signal);
  }

  return async (begun: AttemptContext, batch: EventBatch, signal: AbortSignal): Promise<Over> => {
    const { endpoint } = begun;
    const { revision, cursor, lease, attempt } = endpoint.delivery;
    const startedAt = begun.now();
    const id = webhookIdOf(endpoint.id, revision, batch);
    const answer = await answerOf(begun, { id, body: bodyOf(batch.events, endpoint.logId) }, signal);
    const endedAt = begun.now();
    const outcome = outcomeOf(answer, endedAt);
    if (outcome.kind === "succeeded") delivered(endpoint.tenant);
    return {
      begun,
      sent: { lease: lease?.token ?? "", revision, cursor, positions: positionsOf(batch) },
      outcome,
      noted: {
        ...attemptOf(outcome, batch, id, attempt),
        response: answer.kind === "answered" ? answer.body : null,
        startedAt: new Date(startedAt).toISOString(),
        durationMs: endedAt - startedAt,
      },
    };
  };
}

export const positionsOf = ({ events }: EventBatch): number[] => events.map(({ syncId }) => syncId);

/** What is recorded about an attempt, apart from its times and the response. */
export function attemptOf(
  outcome: DeliveryOutcome,
  { from, to, events }: EventBatch,
  webhookId: string,
  attempt: number,
) {
  return {
    id: newId("wha_"),
    kind: "delivery" as const,
    webhookId,
    from,
    to,
    events: events.length,
    attempt,
    ...notedOutcome(outcome),
  };
}

export const notedOutcome = (outcome: DeliveryOutcome) => ({
  outcome: outcome.kind,
  status: outcome.kind === "unknown" ? null : outcome.status,
  errorCode: outcome.kind === "succeeded" ? null : outcome.code,
  errorMessage: outcome.kind === "succeeded" ? null : outcome.message,
});
