import { isRecordId, type WebhookEndpointBody, type WebhookEndpointPatch, webhookLimits } from "@holdfast/sdk/protocol";
import { newId } from "../../../ids.ts";
import { lockHead } from "../../../kernel/commits/db/heads.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { type Transaction, transaction } from "../../../kernel/connection/transaction.ts";
import type { PageCursors } from "../../../kernel/lists/flows/page-cursor.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import { liveSchema } from "../../../kernel/schema/flows/live-schema.ts";
import type { SchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import { type ListedAttempt, listAttempts, noteAttempt } from "../db/webhook-attempts.ts";
import {
  deleteEndpoint,
  type Endpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  readClock,
  readEndpoint,
  updateEndpoint,
} from "../db/webhook-endpoints.ts";
import { type DeliveryState, disable, enable, passOver, revise } from "../rules/delivery.ts";
import { readSubscription } from "../rules/subscription.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

export type { Endpoint, ListedAttempt };
/** An endpoint with its signing secret, which is shown only once. */
export type EndpointWithSecret = Endpoint & { readonly clearSecret: string };

export interface AttemptPage {
  readonly attempts: readonly ListedAttempt[];
  readonly nextCursor: string | null;
}

/** What an owner can do with endpoints. Undefined: no such endpoint. */
export interface WebhookEndpointFlows {
  create(by: Principal, body: WebhookEndpointBody): Promise<EndpointWithSecret | Refusal>;
  list(by: Principal): Promise<Endpoint[]>;
  read(by: Principal, id: string): Promise<Endpoint | undefined>;
  update(by: Principal, id: string, body: WebhookEndpointPatch): Promise<Endpoint | Refusal | undefined>;
  /** Returns false if there is no such endpoint. */
  remove(by: Principal, id: string): Promise<boolean>;
  rollSecret(by: Principal, id: string): Promise<EndpointWithSecret | undefined>;
  enable(by: Principal, id: string): Promise<Endpoint | undefined>;
  disable(by: Principal, id: string): Promise<Endpoint | undefined>;
  skip(by: Principal, id: string, to: number): Promise<Endpoint | Refusal | undefined>;
  attempts(
    by: Principal,
    id: string,
    page: { limit: number; cursor: string | undefined },
  ): Promise<AttemptPage | Refusal | undefined>;
}

export interface WebhookEndpointDeps {
  readonly db: Database;
  readonly schemas: SchemaCache;
  readonly cursors: PageCursors;
  readonly secrets: WebhookSecrets;
  /** Returns the canonical form of a URL, or a refusal if nothing may be sent there. */
  readonly checkUrl: (url: string) => Promise<string | Refusal>;
  /** How long the previous secret continues to sign after a roll. */
  readonly rotationMs: number;
  /** Called when something may be due in this tenant. */
  readonly changed: (tenant: number) => void;
}

export function webhookEndpointFlows(deps: WebhookEndpointDeps): WebhookEndpointFlows {
  const { db, schemas, cursors, secrets, checkUrl, rotationMs, changed } = deps;

  async function subscriptionOf(tenant: number, names: readonly string[]): Promise<readonly string[] | Refusal> {
    return readSubscription(names, (await liveSchema(db, schemas, tenant)).models);
  }

  /** Loads, decides, saves. A refusal changes nothing. */
  async function change<R extends Endpoint | Refusal>(
    { tenant }: Principal,
    id: string,
    decide: (endpoint: Endpoint, tx: Transaction) => Promise<R> | R,
  ): Promise<R | undefined> {
    if (!isRecordId(id)) return undefined;
    const result = await transaction(db, async (tx) => {
      const endpoint = await lockEndpoint(tx, tenant, id);
      if (!endpoint) return undefined;
      const next = await decide(endpoint, tx);
      if (!isRefusal(next)) await updateEndpoint(tx, next);
      return next;
    });
    if (result && !isRefusal(result)) changed(tenant);
    return result;
  }

  const changeDelivery = (by: Principal, id: string, decide: (delivery: DeliveryState) => DeliveryState) =>
    change(by, id, (endpoint) => ({ ...endpoint, delivery: decide(endpoint.delivery) }));

  return {
    async create(by, { url: given, enabledEvents: names = ["*"], description = null, from }) {
      const url = await checkUrl(given);
      if (isRefusal(url)) return url;
      const enabledEvents = await subscriptionOf(by.tenant, names);
      if (isRefusal(enabledEvents)) return enabledEvents;
      const id = newId("we_");
      const { secret, sealed } = secrets.make({ organization: by.organization, id });
      const created = await transaction(db, async (tx) => {
        // The head's lock keeps commits and trimming out between reading the cursor and saving the endpoint.
        const cursor = await startOf(tx, by.tenant, from);
        if (isRefusal(cursor)) return cursor;
        if ((await listEndpoints(tx, by.tenant)).length >= webhookLimits.endpoints) return refuse("too_many_endpoints");
        await insertEndpoint(tx, {
          ...{ tenant: by.tenant, id, url, enabledEvents, description, cursor },
          ...{ secret: sealed, secretLast4: secret.slice(-4), batchSize: webhookLimits.batchEvents },
        });
        return await readEndpoint(tx, by.tenant, id);
      });
      if (!created || isRefusal(created)) return created ?? refuse("internal_error");
      changed(by.tenant);
      return { ...created, clearSecret: secret };
    },
    list: ({ tenant }) => listEndpoints(db, tenant),
    read: async ({ tenant }, id) => (isRecordId(id) ? await readEndpoint(db, tenant, id) : undefined),
    async update(by, id, body) {
      const url = body.url === undefined ? undefined : await checkUrl(body.url);
      if (isRefusal(url)) return url;
      const enabledEvents = body.enabledEvents && (await subscriptionOf(by.tenant, body.enabledEvents));
      if (isRefusal(enabledEvents)) return enabledEvents;
      return await change(by, id, (endpoint) => {
        const next = {
          ...endpoint,
          ...(url !== undefined && { url }),
          ...(enabledEvents && { enabledEvents }),
          ...(body.description !== undefined && { description: body.description }),
        };
        const isOther = next.url !== endpoint.url || next.enabledEvents.join() !== endpoint.enabledEvents.join();
        return isOther ? { ...next, delivery: revise(endpoint.delivery) } : next;
      });
    },
    remove: async ({ tenant }, id) => isRecordId(id) && (await transaction(db, (tx) => deleteEndpoint(tx, tenant, id))),
    async rollSecret(by, id) {
      const { secret, sealed } = secrets.make({ organization: by.organization, id });
      const rolled = await change(by, id, async (endpoint, tx) => ({
        ...endpoint,
        secret: sealed,
        secretLast4: secret.slice(-4),
        oldSecret: endpoint.secret,
        oldSecretUntil: (await readClock(tx)) + rotationMs,
      }));
      return rolled && { ...rolled, clearSecret: secret };
    },
    enable: (by, id) => changeDelivery(by, id, enable),
    disable: (by, id) => changeDelivery(by, id, disable),
    skip: (by, id, to) =>
      change(by, id, async (endpoint, tx) => {
        const { cursor } = endpoint.delivery;
        if (to > endpoint.head) return refuse("read_at_in_future", { param: "to" });
        if (to <= cursor)
          return refuse("invalid_value", {
            param: "to",
            message: `"to" must be greater than the cursor, ${cursor}.`,
          });
        await noteAttempt(tx, endpoint.tenant, id, {
          ...{ id: newId("wha_"), kind: "skip", webhookId: null, from: cursor + 1, to, events: 0, attempt: 0 },
          ...{ outcome: "succeeded", status: null, errorCode: null, errorMessage: null, response: null },
          ...{ startedAt: new Date(await readClock(tx)).toISOString(), durationMs: 0 },
        });
        return { ...endpoint, delivery: passOver(endpoint.delivery, to) };
      }),
    async attempts({ tenant }, id, { limit, cursor }) {
      if (!isRecordId(id) || !(await readEndpoint(db, tenant, id))) return undefined;
      const context = JSON.stringify(["webhook_attempts", tenant, id]);
      const last = cursor === undefined ? undefined : (cursors.decode(context, cursor) as { nth: number } | undefined);
      if (cursor !== undefined && !last) return refuse("invalid_cursor", { param: "starting_after" });
      const found = await listAttempts(db, tenant, id, { before: last?.nth, limit: limit + 1 });
      const attempts = found.slice(0, limit);
      const more = found.length > limit;
      return { attempts, nextCursor: more ? cursors.encode(context, { nth: attempts.at(-1)?.nth }) : null };
    },
  };
}

/** The position to start after: the current head, or the requested position if the log still reaches back to it. */
async function startOf(tx: Transaction, tenant: number, from: number | undefined): Promise<number | Refusal> {
  const { syncId, trimmedTo } = await lockHead(tx, tenant);
  if (from === undefined) return syncId;
  if (from === 0) return trimmedTo;
  if (from > syncId) return refuse("read_at_in_future", { param: "from" });
  return from < trimmedTo ? refuse("resync_required", { param: "from" }) : from;
}
