import { webhookLimits } from "@holdfast/sdk/protocol";
import type { Metrics } from "../../edge/metrics/prometheus.ts";
import { createUrlCheck } from "../../edge/outbound/endpoint-url.ts";
import type { Database } from "../../kernel/connection/pool.ts";
import type { Transaction } from "../../kernel/connection/transaction.ts";
import type { ModuleContext } from "../../open/context.ts";
import type { WebhookOptions } from "../../server-options.ts";
import type { DatabaseModule, Module } from "../module.ts";
import { readTenantsWithWebhooks, readWebhookBacklog } from "./db/deliveries.ts";
import { lockEndpoints, updateEndpoint } from "./db/webhook-endpoints.ts";
import { startDeliverer } from "./deliverer.ts";
import { createDelivery } from "./flows/deliver.ts";
import { createLoadMeter, createPace } from "./flows/delivery-pace.ts";
import { createDeliveryStore } from "./flows/delivery-store.ts";
import { testWebhook } from "./flows/test-webhook.ts";
import { webhookEndpointFlows } from "./flows/webhook-endpoint-flows.ts";
import { webhookEvents } from "./flows/webhook-events.ts";
import { reencryptSecrets, webhookSecrets } from "./flows/webhook-secrets.ts";
import { webhookRoutes } from "./routes.ts";
import { revise } from "./rules/delivery.ts";
import { createWebhookSender } from "./send-webhook.ts";

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

/** Endpoints of callers, and the delivery of log entries to them. */
export const webhooks = {
  name: "webhooks",
  openIn,
  schemaPushed,
  measure,
} satisfies Module;

async function openIn(ctx: ModuleContext): Promise<DatabaseModule<ReturnType<typeof webhookRoutes>>> {
  const { options, encryption, pool, schemas, cursors, usage, wake, logger, report } = ctx;
  const settings = { ...WEBHOOKS, ...options.webhooks };
  const monotonic = () => performance.now();
  const load = createLoadMeter({ ...BUSY, monotonic });
  const unreadable = await reencryptSecrets(pool, encryption);
  if (unreadable > 0)
    logger.warn(
      { event: "secrets_unreadable", unreadable },
      "Webhook secrets are encrypted with a master key that is not configured.",
    );
  const secrets = webhookSecrets(encryption);
  const sender = createWebhookSender(settings);
  const toEndpoints = {
    db: pool,
    deliveryStore: createDeliveryStore(pool),
    secrets,
    send: sender.send,
    times: settings,
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
        ...{ db: pool, schemas, cursors, secrets, rotationMs: settings.rotationMs },
        checkUrl: createUrlCheck({ allowPrivate: settings.allowPrivate, param: "url" }),
        changed,
      }),
      testWebhook({ ...toEndpoints, endLost: delivery.endLost, changed }),
    ),
    after(tenant, entries) {
      load.add(entries);
      deliverer.wake(tenant);
    },
    forget: events.forget,
    stop: deliverer.stop,
    close: sender.close,
  };
}

/** The same log positions may now produce other payloads. */
async function schemaPushed(tx: Transaction, tenant: number): Promise<void> {
  for (const endpoint of await lockEndpoints(tx, tenant))
    await updateEndpoint(tx, { ...endpoint, delivery: revise(endpoint.delivery) });
}

/** Read from the database, so these cover all processes together. */
function measure({ gauge }: Metrics, pool: Database): void {
  let asking: ReturnType<typeof readWebhookBacklog> | undefined;
  const backlog = () => {
    asking ??= readWebhookBacklog(pool).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  gauge(
    "holdfast_webhook_endpoints",
    "Webhook endpoints, by status; failing: enabled, but not accepting its next delivery.",
    async () => {
      const { enabled, failing, disabled } = await backlog();
      return Object.entries({ enabled, failing, disabled }).map(([status, count]) => [count, { status }] as const);
    },
  );
  gauge(
    "holdfast_webhook_lag_entries",
    "Log entries that the slowest endpoint is behind, without disabled endpoints.",
    async () => (await backlog()).lag,
  );
}
