// Under `exactOptionalPropertyTypes`, every option that may be left out accepts undefined.
import { createTools } from "@holdfast/agent";
import { preventUnsavedChanges } from "@holdfast/react";
import { dehydrate } from "@holdfast/react/server";
import { createClient, defineSchema } from "@holdfast/sdk";
import { createBackend } from "@holdfast/sdk/backend";
import { openDraft } from "@holdfast/sdk/draft";
import { createClient as createAgent } from "@holdfast/sdk/node";
import { createClientOn, type Storage } from "@holdfast/sdk/platform";
import { createWebhookHandler } from "@holdfast/sdk/webhooks";
import type { ServerOptions } from "@holdfast/server";

/** As an app passes on what it was not given. */
const none = undefined;
const schema = defineSchema({ models: { slide: { fields: { title: { type: "string" } } } } });
const base = { schema, url: "http://127.0.0.1:8787", getToken: () => "token" };
const options = {
  ...base,
  ...{ store: none, user: none, owner: none, clientId: none, paused: none, requestTimeoutMs: none },
  ...{ stream: none, follow: none, persist: none, upcast: none },
};

export const client = createClient(options);
export const agent = createAgent({ ...options, storage: none });
export const elsewhere = (storage: Storage) =>
  createClientOn(
    { storage: async () => storage, tabs: none, signals: none, fetch: none, clock: none, merging: none, collab: none },
    options,
  );

export async function use(): Promise<void> {
  const { slide } = client.models;
  slide.list({ where: none, orderBy: none, order: none, limit: none, from: none, before: none, include: none });
  slide.list({ orderBy: [{ field: "title", order: none }], archived: none, locale: none, search: none, staleOk: none });
  slide.create({ title: "a" }, { id: none, onStale: none, readAt: none, clientTxId: none, claim: none });
  slide.update("s1", { title: "b" }, { base: none, readAt: none });
  const claimed = { field: none, ttl: none, queue: none, onPosition: none, signal: none, meta: none, preempt: none };
  await slide.claim("s1", { ...claimed, description: none, action: none });
  client.commit([], { reads: [{ model: "slide", id: "s1", fields: none, readAt: none, onStale: none }] });
  client.follow({ models: none, groups: none, where: none });
  client.load("slide", { title: "a" }, { keep: none });
  await client.ready({ rows: none });
  await client.drain({ timeoutMs: none });
  preventUnsavedChanges(client, { until: none });
  await dehydrate(client, [], { timeoutMs: none });
  openDraft(client, { model: "slide", id: "s1", field: "title" }, { pauseMs: none, onWrite: none, get: none });
  createTools({ client, schema, answerMs: none, claimIdleMs: none });
  const backend = createBackend({ url: base.url, key: "sk", timeoutMs: none, fetch: none });
  await backend.tokenFor("ann", { syncGroups: none, wholeOrganization: none, operations: none, ttlSeconds: none });
  await backend.commit([], { clientTxId: none, reads: none });
  const times = { timeLimitMs: none, bodyLimit: none, toleranceMs: none, now: none };
  createWebhookHandler({ secret: "whsec_", schema, onEvent: () => {}, store: none, onError: none, ...times });
}

export const server: ServerOptions = {
  ...{ databaseUrl: "", adminToken: "", masterKeys: [], host: none, port: none, beforeListening: none, origins: none },
  ...{ trustProxy: none, pruneEveryMs: none, presenceTimes: none, limits: none, metricsLoopback: none, logger: none },
};
