import type { Claim, ClaimBody, ClaimList, JsonObject } from "@holdfast/sdk/protocol";
import { attributionOf, attributionProblem, isRecordId, limits } from "@holdfast/sdk/protocol";
import { newId } from "../../../ids.ts";
import type { CommitLanes } from "../../../kernel/commits/flows/commit-lanes.ts";
import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { checkJsonValues } from "../../../kernel/json/check-json-values.ts";
import type { PlacedRecords } from "../../../kernel/lists/flows/present-groups.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import { liveSchema } from "../../../kernel/schema/flows/live-schema.ts";
import type { SchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import type { DeclaredModel } from "../../../kernel/schema/rules/declared-model.ts";
import { organizationGroup } from "../../../kernel/schema/rules/sync-group.ts";
import { nameOf, type Principal } from "../../../kernel/tokens/rules/participant.ts";
import { checkModel, deny, isVisible, may, mayWriteFor } from "../../../kernel/tokens/rules/scope.ts";
import { touchClaim } from "../db/claim-times.ts";
import { type ReadQueue, readClaim, readOwnClaims } from "../db/read-claims.ts";
import { type ClaimState, inQueueOrder, isWaiting, presentClaim, presentQueue } from "../rules/claim.ts";
import type { ClaimOrder } from "../rules/claim-order.ts";
import { readTtl } from "../rules/ttl.ts";
import { type ClaimOutcome, claimAsk } from "./claims-in-rounds.ts";
import { readQueues } from "./read-queues.ts";

/** The record that a claim request is about, and how errors name its fields. */
export interface ClaimTarget {
  readonly model: string;
  readonly id: string;
  /** Prefix for the names of invalid keys: empty, or `target.`. */
  readonly at: "" | "target.";
}

/** All operations on claims. A claim is held, waits, or has ended. Claims are not in the log. */
export interface ClaimFlows {
  acquire(by: Principal, target: ClaimTarget, body: ClaimBody): Promise<Acquired | Refusal>;
  renew(by: Principal, id: string, ttl: string | number | undefined): Promise<Claim | Refusal>;
  /** Returns how many claims this ended. */
  release(by: Principal, id: string): Promise<number | Refusal>;
  /** Releases all claims of the caller on the record, or those of one device. */
  releaseRecord(by: Principal, target: ClaimTarget, clientId: string | undefined): Promise<number | Refusal>;
  reorder(by: Principal, model: string, id: string, order: readonly string[]): Promise<ClaimList | Refusal>;
  list(by: Principal, model: string, id: string): Promise<ClaimList | Refusal>;
  /** The claims that the caller holds or waits for, on any record, ordered by id. */
  listOwn(by: Principal, page: { limit: number; cursor: string | undefined }): Promise<OwnClaims | Refusal>;
  /** While the claim waits in the queue, the response waits until its status or position changes. */
  read(by: Principal, id: string, waitMs: number, signal: () => AbortSignal): Promise<Claim | Refusal>;
}

export interface OwnClaims {
  readonly claims: readonly Claim[];
  readonly nextCursor: string | null;
}

export interface Acquired {
  readonly kind: "granted" | "renewed" | "waiting";
  readonly claim: Claim;
}

/** Follows the claims of one record. */
export interface QueueListener {
  /**
   * Resolves with the queue at the next change since the last call. Undefined after the timeout or when the signal
   * fires.
   */
  next(waitMs: number, signal: AbortSignal): Promise<ReadQueue | undefined>;
  end(): void;
}

export type ListenToQueue = (tenant: number, key: string) => Promise<QueueListener>;

export function claimFlows(
  db: Database,
  elsewhere: PlacedRecords,
  schemas: SchemaCache,
  lane: CommitLanes,
  listen: ListenToQueue,
): ClaimFlows {
  /** The model, if the caller may perform this operation on its records. */
  async function declaredFor(
    by: Principal,
    { model, id, at }: ClaimTarget,
    can: "read" | "update",
  ): Promise<DeclaredModel | Refusal> {
    const declared = (await liveSchema(db, schemas, by.tenant)).models.get(model.toLowerCase());
    const name = declared?.name ?? model;
    const hidden = checkModel(by, name);
    if (hidden) return { ...hidden, param: `${at}model` };
    if (!declared) return refuse("unknown_model", { param: `${at}model`, ...(at !== "" && { status: 400 }) });
    if (!isRecordId(id)) return refuse("invalid_id", { param: `${at}id` });
    if (by.scope && !may(by.scope, model.toLowerCase(), can)) {
      const syncGroup = by.scope.groups?.values().next().value ?? organizationGroup(by.organization);
      return deny({ can, model: name, syncGroup }, { param: `${at}model` });
    }
    return declared;
  }

  /** Runs an order in the lane and returns the result for the caller. */
  async function decide(order: ClaimOrder): Promise<ClaimOutcome | Refusal> {
    const result = await lane.decide(claimAsk(order));
    if (result.kind === "failed") return refuse(result.code);
    const { decision } = result.answer;
    return decision.kind === "refused" ? decision.refusal : result.answer;
  }

  /** A claim that the caller may see, with its queue: from the notification if there is one, else from the database. */
  async function find(by: Principal, id: string, told?: ReadQueue): Promise<Found | Refusal> {
    const living = told?.claims.find((one) => one.id === id);
    const claim = living ?? (isRecordId(id) ? await readClaim(db, by.tenant, id) : undefined);
    if (!claim) return notFound;
    const queue = told ?? (await readQueues(db, [recordOf(by.tenant, claim)], elsewhere))[0];
    const own = claim.participant === nameOf(by);
    if (!queue || !(own || maySee(by, claim.model, queue))) return notFound;
    return { claim: queue.claims.find((one) => one.id === id) ?? claim, queue, own };
  }

  const declaredName = async ({ tenant }: Principal, { model }: ClaimState): Promise<string> =>
    (await liveSchema(db, schemas, tenant)).models.get(model)?.name ?? model;

  return {
    async acquire(by, target, body) {
      const declared = await declaredFor(by, target, "update");
      if (isRefusal(declared)) return declared;
      const { field } = body;
      if (field !== undefined && !Object.hasOwn(declared.model.fields, field))
        return refuse("unknown_column", { param: `${target.at}field`, message: "The model has no such field." });
      const ttlMs = readTtl(body.ttl);
      if (isRefusal(ttlMs)) return ttlMs;
      const refusal = checkWords(body) ?? checkForWhom(by, body);
      if (refusal) return refusal;
      const result = await decide({
        kind: "acquire",
        principal: by,
        claimId: newId("claim_"),
        model: target.model.toLowerCase(),
        record: target.id,
        field: field ?? null,
        ttlMs,
        queue: body.queue === true,
        preempt: body.preempt === true,
        action: body.action,
        description: body.description,
        meta: body.meta as JsonObject | undefined,
        attribution: attributionOf({ run: body.run, onBehalfOf: body.onBehalfOf }),
        clientId: body.clientId,
      });
      if (isRefusal(result))
        return result.code === "record_not_found" ? { ...result, param: `${target.at}id` } : result;
      const { decision, declaredName, now } = result;
      if (!("claim" in decision)) throw new Error("A claim was neither granted nor refused.");
      const { kind, claim, queue } = decision;
      const position = inQueueOrder(queue).findIndex(({ id }) => id === claim.id);
      return { kind, claim: presentClaim(claim, declaredName, now, position < 0 ? undefined : position) };
    },
    async renew(by, id, ttl) {
      const ttlMs = readTtl(ttl);
      if (isRefusal(ttlMs)) return ttlMs;
      const found = await find(by, id);
      if (isRefusal(found)) return found;
      if (!found.own) return notHolder;
      const { model, record } = found.claim;
      const result = await decide({ kind: "renew", principal: by, model, record, claimId: id, ttlMs });
      if (isRefusal(result)) return result;
      const { decision, declaredName, now } = result;
      if (!("claim" in decision)) throw new Error("A claim was neither renewed nor refused.");
      const position = inQueueOrder(decision.queue).findIndex((one) => one.id === id);
      return presentClaim(decision.claim, declaredName, now, position < 0 ? undefined : position);
    },
    async release(by, id) {
      const found = await find(by, id);
      if (isRefusal(found)) return found;
      if (!found.own) return notHolder;
      const { model, record, endedAt } = found.claim;
      if (endedAt !== null) return 0;
      return countOf(await decide({ kind: "release", principal: by, model, record, claimId: id, clientId: undefined }));
    },
    async releaseRecord(by, target, clientId) {
      const declared = await declaredFor(by, target, "read");
      if (isRefusal(declared)) return declared;
      if (clientId !== undefined && !CLIENT_ID.test(clientId)) return refuse("invalid_value", { param: "client_id" });
      const model = target.model.toLowerCase();
      return countOf(
        await decide({ kind: "release", principal: by, model, record: target.id, claimId: undefined, clientId }),
      );
    },
    async reorder(by, model, id, order) {
      const declared = await declaredFor(by, { model, id, at: "" }, "read");
      if (isRefusal(declared)) return declared;
      const result = await decide({ kind: "reorder", principal: by, model: model.toLowerCase(), record: id, order });
      if (isRefusal(result)) return result;
      return listOf(presentQueue(result.decision.queue, result.declaredName, result.now));
    },
    async list(by, model, id) {
      const declared = await declaredFor(by, { model, id, at: "" }, "read");
      // An unknown model is 404 only in a path. In a query it is 400, as in a body.
      if (isRefusal(declared)) return declared.code === "unknown_model" ? { ...declared, status: 400 } : declared;
      const [queue] = await readQueues(db, [{ tenant: by.tenant, model: model.toLowerCase(), id }], elsewhere);
      if (!queue || !maySee(by, model.toLowerCase(), queue)) return refuse("record_not_found", { param: "id" });
      return listOf(presentQueue(queue.claims, declared.name, queue.now));
    },
    async listOwn(by, { limit, cursor = "" }) {
      if (cursor !== "" && !isRecordId(cursor)) return refuse("invalid_cursor", { param: "starting_after" });
      const participant = nameOf(by);
      const own = await readOwnClaims(db, by.tenant, participant, { after: cursor, limit: limit + 1 });
      const page = own.slice(0, limit);
      const names = [...new Map(page.map((claim) => [recordKey(claim.model, claim.record), claim])).values()];
      const queues = await readQueues(
        db,
        names.map(({ model, record }) => ({ tenant: by.tenant, model, id: record })),
        elsewhere,
      );
      const lineOf = new Map(names.map(({ model, record }, i) => [recordKey(model, record), queues[i]]));
      const { models } = await liveSchema(db, schemas, by.tenant);
      const claims = page.flatMap(({ id, model, record }) => {
        const queue = lineOf.get(recordKey(model, record));
        const claim = queue?.claims.find((one) => one.id === id);
        if (!queue || !claim) return [];
        const shown = presentFound({ claim, queue, own: true }, models.get(model)?.name ?? model);
        if (shown.status !== "active" && shown.status !== "queued") return [];
        return [{ ...shown, ...(claim.clientId !== null && { clientId: claim.clientId }) }];
      });
      return { claims, nextCursor: own.length > limit ? (page.at(-1)?.id ?? null) : null };
    },
    async read(by, id, waitMs, signal) {
      const found = await find(by, id);
      if (isRefusal(found)) return found;
      const name = await declaredName(by, found.claim);
      if (!isWaiting(found.claim)) return presentFound(found, name);
      if (found.own) await showLife(by.tenant, found.claim);
      return await untilMoved(by, found.claim, name, performance.now() + waitMs, waitMs > 0 ? signal() : undefined);
    },
  };

  /** If the waiter was silent, its claim may be due now: bring the queue up to date. */
  async function showLife(tenant: number, { id, model, record }: ClaimState): Promise<void> {
    if (!(await touchClaim(db, tenant, id, limits.waiterSilentMs)))
      await lane.decide(claimAsk({ kind: "advance", tenant, model, record, alive: [id] }));
  }

  /** Returns the claim. With a signal, waits until the claim's status or position changes, or until the timeout. */
  async function untilMoved(
    by: Principal,
    { id, model, record }: ClaimState,
    name: string,
    deadline: number,
    gone: AbortSignal | undefined,
  ): Promise<Claim | Refusal> {
    const listener = gone && (await listen(by.tenant, recordKey(model, record)));
    try {
      const first = await find(by, id);
      if (isRefusal(first)) return first;
      let found = first;
      const { position } = presentFound(first, name);
      for (;;) {
        const shown = presentFound(found, name);
        if (shown.status !== "queued" || shown.position !== position) return shown;
        const told = await listener?.next(deadline - performance.now(), gone as AbortSignal);
        if (!told) return shown;
        if (told.asOf <= found.queue.asOf) continue;
        const next = await find(by, id, told);
        if (isRefusal(next)) return next;
        found = next;
      }
    } finally {
      listener?.end();
    }
  }
}

function presentFound({ claim, queue }: Found, declaredName: string): Claim {
  const position = inQueueOrder(queue.claims).findIndex(({ id }) => id === claim.id);
  return presentClaim(claim, declaredName, queue.now, position < 0 ? undefined : position);
}

interface Found {
  readonly claim: ClaimState;
  readonly queue: ReadQueue;
  /** Whether the claim belongs to the caller. */
  readonly own: boolean;
}

const CLIENT_ID = new RegExp(`^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$`);

const notFound = refuse("claim_not_found", { param: "id" });
const notHolder = refuse("not_claim_holder", { param: "id" });

const recordOf = (tenant: number, { model, record }: ClaimState) => ({ tenant, model, id: record });

/** Whether the caller may see a record, and therefore its claims. */
export const maySee = ({ scope }: Principal, model: string, { groups }: ReadQueue): boolean =>
  groups !== undefined && isVisible(scope, model, groups);

/** Free text from the caller has to be storable, so that it can be returned unchanged. */
function checkWords({ action, description, meta }: ClaimBody): Refusal | undefined {
  const refusal =
    checkJsonValues(action ?? null, "action") ??
    checkJsonValues(description ?? null, "description") ??
    checkJsonValues(meta ?? null, "meta");
  if (refusal) return refusal;
  return meta !== undefined && Buffer.byteLength(JSON.stringify(meta)) > limits.claimMetaBytes
    ? refuse("invalid_value", {
        param: "meta",
        message: `"meta" must be at most ${limits.claimMetaBytes} bytes of JSON.`,
      })
    : undefined;
}

function checkForWhom({ scope }: Principal, { run, onBehalfOf }: ClaimBody): Refusal | undefined {
  const problem = attributionProblem({ run, onBehalfOf }, Buffer.byteLength);
  if (problem) return refuse("invalid_value", problem);
  return onBehalfOf === undefined || mayWriteFor(scope, onBehalfOf)
    ? undefined
    : refuse("on_behalf_of_denied", { param: "onBehalfOf" });
}

const countOf = (result: ClaimOutcome | Refusal): number | Refusal =>
  isRefusal(result) ? result : result.decision.kind === "released" ? result.decision.count : 0;

const listOf = ({ claims, queue }: { claims: Claim[]; queue: Claim[] }): ClaimList => ({
  object: "list",
  data: [...claims, ...queue],
  claims,
  queue,
  has_more: false,
  next_cursor: null,
});
