import { webhookLimits } from "@holdfast/sdk/protocol";
import { readTenantsWithWebhooks } from "../db/webhooks/deliveries.ts";
import { createDelivery } from "../flows/webhooks/deliver.ts";
import { createLoadMeter, createPace } from "../flows/webhooks/delivery-pace.ts";
import { createDeliveryStore } from "../flows/webhooks/delivery-store.ts";
import { testWebhook } from "../flows/webhooks/test-webhook.ts";
import { webhookEndpointFlows } from "../flows/webhooks/webhook-endpoint-flows.ts";
import { webhookEvents } from "../flows/webhooks/webhook-events.ts";
import { reencryptSecrets, webhookSecrets } from "../flows/webhooks/webhook-secrets.ts";
import { webhookRoutes } from "../http/routes/webhooks.ts";
import { createUrlCheck } from "../outbound/endpoint-url.ts";
import { createWebhookSender } from "../outbound/send-webhook.ts";
import type { WebhookOptions } from "../server-options.ts";
import { startDeliverer } from "../workers/deliverer.ts";
import type { PlaneContext } from "./context.ts";
import type { Part } from "./part.ts";

const WEBHOOKS: WebhookOptions = {
  allowPrivate: false,
  schedule: webhookLimits.schedule,
  rotationMs: webhookLimits.rotationMs,
  connectMs: webhookLimits.connectMs,
  requestMs: webhookLimits.requestMs,
  leaseMs: webhookLimits.requestMs + 5_000,
};
/** Above about 1 000 committed changes per second, only this many deliveries start in each window. */
const BUSY = { most: 100, windowMs: 100 };
const DELIVERY_WINDOW = { most: 4, windowMs: 20 };

/** Webhooks: their endpoints, and the delivery of log entries to them. */
export interface Deliveries extends Part {
  readonly routes: ReturnType<typeof webhookRoutes>;
  /** A tenant's log has grown in this process by this many entries. */
  committed(tenant: number, entries: number): void;
}

export async function openDeliveries(ctx: PlaneContext): Promise<Deliveries> {
  const { options, encryption, pool, schemas, cursors, usage, wake, logger, report } = ctx;
  const webhooks = { ...WEBHOOKS, ...options.webhooks };
  const monotonic = () => performance.now();
  const load = createLoadMeter({ ...BUSY, monotonic });
  const unreadable = await reencryptSecrets(pool, encryption);
  if (unreadable > 0)
    logger.warn(
      { event: "secrets_unreadable", unreadable },
      "Webhook secrets are encrypted with a master key that is not configured.",
    );
  const secrets = webhookSecrets(encryption);
  const sender = createWebhookSender(webhooks);
  const toEndpoints = {
    db: pool,
    deliveryStore: createDeliveryStore(pool),
    secrets,
    send: sender.send,
    times: webhooks,
    monotonic,
  };
  const events = webhookEvents(pool, schemas);
  const delivery = createDelivery({
    ...toEndpoints,
    events,
    pace: createPace({ isBusy: load.isHigh, ...DELIVERY_WINDOW, monotonic }),
    random: Math.random,
    delivered: (tenant) => usage.add(tenant, "webhook_deliveries"),
  });
  const deliverer = startDeliverer({
    endpointCounts: () => readTenantsWithWebhooks(pool),
    ...delivery,
    failed: report("delivery_failed"),
  });
  const changed = (tenant: number) => deliverer.wake(tenant, true);
  wake.subscribe({ log: (tenant) => deliverer.wake(tenant) });
  return {
    routes: webhookRoutes(
      webhookEndpointFlows({
        ...{ db: pool, schemas, cursors, secrets, rotationMs: webhooks.rotationMs },
        checkUrl: createUrlCheck({ allowPrivate: webhooks.allowPrivate, param: "url" }),
        changed,
      }),
      testWebhook({ ...toEndpoints, endLost: delivery.endLost, changed }),
    ),
    committed(tenant, entries) {
      load.add(entries);
      deliverer.wake(tenant);
    },
    forget: events.forget,
    stop: deliverer.stop,
    close: sender.close,
  };
}
