import { defineSchema } from "../../protocol/schema/row-types.ts";
import type { WebhookEvent } from "../../protocol/webhooks/webhook-event.ts";

export const secret = `whsec_${btoa("a secret that is 32 bytes long.")}`;

export const schema = defineSchema({
  models: {
    Slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 } } },
    deck: { fields: { name: { type: "string", required: true } } },
  },
});

export const slideUpdated = (syncId: number): WebhookEvent => ({
  type: "slide.updated",
  model: "Slide",
  objectId: `s${syncId}`,
  data: { id: `s${syncId}`, title: `Title ${syncId}` },
  syncId,
  id: String(syncId),
  createdAt: "2026-01-31T10:00:00.000Z",
});

export const testEvent = (syncId: number): WebhookEvent => ({
  type: "webhook_endpoint.test",
  model: "webhook_endpoint",
  objectId: "we_1",
  data: { message: "This is a test." },
  syncId,
  id: String(syncId),
  createdAt: "2026-01-31T10:00:00.000Z",
});
