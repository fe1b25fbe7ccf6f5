import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { WebhookEvent } from "../protocol/webhooks/webhook-event.ts";
import { type Answer, answerTo, busy, failed, refusal, wrongMethod } from "./answer.ts";
import { type ApplyOutcome, applyEvents } from "./apply-events.ts";
import type { PositionStore } from "./position-store.ts";
import { isRawBody, type RawBody } from "./raw-body.ts";
import type { ReceivedHeaders } from "./received-headers.ts";
import type { Secrets } from "./secret.ts";
import { type TimeLimit, timeLimit } from "./time-limit.ts";
import { turns } from "./turns.ts";
import { WebhookVerificationError } from "./verification-error.ts";
import { verifyWebhook } from "./verify-webhook.ts";

/** The delivery in which an error occurred, as far as it is known. */
export interface FailedDelivery {
  readonly webhookId?: string;
  /** The event that was being applied. */
  readonly syncId?: number;
}

/** The delivery of an event. */
export interface Handed {
  readonly webhookId: string;
  /** The log of `syncId`. Store both: after a restore, the log is another one. */
  readonly logId: string;
}

export interface ReceiverSettings {
  readonly secret: Secrets;
  readonly schema: ModelSchema | undefined;
  readonly toleranceMs: number;
  readonly timeLimitMs: number;
  readonly store: PositionStore;
  now(): number;
  onEvent(event: WebhookEvent, delivery: Handed): unknown;
  onError(error: unknown, delivery: FailedDelivery): unknown;
}

export interface Arrived {
  readonly method: string | undefined;
  readonly headers: ReceivedHeaders;
  /** The body, or the answer if it cannot be read. */
  readBody(): Promise<RawBody | Answer>;
}

interface Delivered extends Handed {
  readonly events: readonly WebhookEvent[];
}

/** Handles requests from either kind of server. Never rejects. */
export function receiver(settings: ReceiverSettings): (arrived: Arrived) => Promise<Answer> {
  const inTurn = turns();

  const report = (error: unknown, delivery: FailedDelivery) => {
    // Ignore errors of `onError` itself: the answer reports the failure anyway.
    (async () => settings.onError(error, delivery))().catch(() => {});
  };

  /** Waits until earlier deliveries are done, at most until the time limit; then the service delivers again. */
  async function applyInTurn({ events, webhookId, logId }: Delivered, limit: TimeLimit): Promise<Answer> {
    let hasBegun = false;
    const turn = inTurn(async (): Promise<ApplyOutcome | undefined> => {
      // The request was answered already, so there is nothing to do.
      if (limit.isOver()) return undefined;
      hasBegun = true;
      const apply = (event: WebhookEvent) => settings.onEvent(event, { webhookId, logId });
      return await applyEvents(events, { store: settings.store, logId, apply, isOver: limit.isOver });
    });
    const outcome = await Promise.race([turn, limit.over.then(() => (hasBegun ? turn : undefined))]);
    if (outcome?.name === "failed")
      report(outcome.error, { webhookId, ...(outcome.at !== undefined && { syncId: outcome.at }) });
    return outcome ? answerTo(outcome) : busy;
  }

  return async ({ method, headers, readBody }) => {
    if (method !== "POST") return wrongMethod;
    const limit = timeLimit(settings.timeLimitMs);
    try {
      const body = await readBody();
      if (!isRawBody(body)) return body;
      const { secret, schema, toleranceMs } = settings;
      const { id, events, logId } = await verifyWebhook({
        secret,
        headers,
        body,
        toleranceMs,
        now: settings.now(),
        ...(schema && { schema }),
      });
      return await applyInTurn({ events, webhookId: id, logId }, limit);
    } catch (error) {
      const answer = error instanceof WebhookVerificationError ? refusal(error) : failed;
      if (answer.status >= 500) report(error, {});
      return answer;
    } finally {
      limit.end();
    }
  };
}
