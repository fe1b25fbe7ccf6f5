import { isRecordId } from "@holdfast/sdk/protocol";
import { base62, newId } from "../../../ids.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import { type EndpointReading, readDelivery } from "../db/deliveries.ts";
import type { DeliveryTimes } from "../rules/delivery.ts";
import { outcomeOf, type ReceiverAnswer } from "../rules/delivery-outcome.ts";
import { testEvent } from "../rules/webhook-event.ts";
import { notedOutcome, type SendWebhook } from "./attempt-batch.ts";
import { type DeliveryFlow, TEST_LEASE } from "./deliver.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { ListedAttempt } from "./webhook-endpoint-flows.ts";
import { bodyOf, encoded } from "./webhook-events.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

export interface TestWebhookDeps {
  readonly db: Database;
  readonly deliveryStore: DeliveryStore;
  readonly secrets: WebhookSecrets;
  readonly send: SendWebhook;
  readonly endLost: DeliveryFlow["endLost"];
  readonly times: DeliveryTimes;
  readonly monotonic: () => number;
  readonly changed: (tenant: number) => void;
}

/** Sends a test event to an endpoint, even a disabled one, and reports the result. It changes nothing. */
export type TestWebhook = (
  by: Principal,
  id: string,
  signal: AbortSignal,
) => Promise<Omit<ListedAttempt, "nth"> | Refusal | undefined>;

export function testWebhook({
  db,
  deliveryStore,
  secrets,
  send,
  endLost,
  times,
  monotonic,
  changed,
}: TestWebhookDeps): TestWebhook {
  /** A test waits for the endpoint's lease like any delivery, but does not count as an attempt. */
  async function lease(tenant: number, id: string, token: string): Promise<EndpointReading | Refusal | undefined> {
    const found = await readDelivery(db, tenant, id);
    // If a process stopped during a request to a disabled endpoint, only this code ends the lost attempt.
    if (found) await endLost(found);
    const before = found?.endpoint.delivery.lease ? await readDelivery(db, tenant, id) : found;
    if (!before) return undefined;
    const { endpoint, now } = before;
    if (endpoint.delivery.lease) return refuse("endpoint_busy");
    const delivery = { ...endpoint.delivery, lease: { token, at: now, until: now + times.leaseMs } };
    return (await deliveryStore.save({ endpoint, delivery })) ?? refuse("endpoint_busy");
  }

  return async ({ tenant }, id, signal) => {
    if (!isRecordId(id)) return undefined;
    const token = newId(TEST_LEASE);
    const taken = await lease(tenant, id, token);
    if (!taken || "code" in taken) return taken;
    const { endpoint } = taken;
    const sentAt = monotonic();
    const opened = secrets.open(endpoint, taken.now);
    const webhookId = `msg_${id}_test_${base62(12)}`;
    const answer: ReceiverAnswer = opened
      ? await send(
          {
            url: endpoint.url,
            id: webhookId,
            timestamp: Math.floor(taken.now / 1_000),
            body: bodyOf([encoded(testEvent(id, endpoint.delivery.cursor, taken.now))], endpoint.logId),
            secrets: opened,
          },
          signal,
        )
      : { kind: "unanswered", code: "secret_unreadable", message: "The signing secret cannot be read: roll it." };
    const durationMs = Math.ceil(monotonic() - sentAt);
    const attempt = {
      ...{ id: newId("wha_"), kind: "test" as const, webhookId, from: null, to: null, events: 1, attempt: 0 },
      ...notedOutcome(outcomeOf(answer, taken.now + durationMs)),
      response: answer.kind === "answered" ? answer.body : null,
      startedAt: new Date(taken.now).toISOString(),
      durationMs,
    };
    for (let at: EndpointReading | undefined = taken; at?.endpoint.delivery.lease?.token === token; ) {
      const { endpoint: now }: EndpointReading = at;
      const saved = await deliveryStore.save({ endpoint: now, delivery: { ...now.delivery, lease: null }, attempt });
      at = saved ? undefined : await readDelivery(db, tenant, id);
    }
    changed(tenant);
    return attempt;
  };
}
