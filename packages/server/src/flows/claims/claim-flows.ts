import type { Claim, ClaimBody, ClaimList, JsonObject } from "@holdfast/sdk/protocol";
import { limits } from "@holdfast/sdk/protocol";
import { touchClaim } from "../../db/claims/claim-times.ts";
import { type ReadQueue, readClaim, readOwnClaims, readQueues } from "../../db/claims/read-claims.ts";
import type { Database } from "../../db/connection/pool.ts";
import { newId } from "../../ids.ts";
import { type ClaimState, inQueueOrder, isWaiting, presentClaim, presentQueue } from "../../rules/claims/claim.ts";
import type { ClaimOrder } from "../../rules/claims/claim-order.ts";
import { readTtl } from "../../rules/claims/ttl.ts";
import { recordKey } from "../../rules/commits/commit-request.ts";
import { isRecordId } from "../../rules/commits/record-id.ts";
import { checkJsonValues } from "../../rules/json/check-json-values.ts";
import { isRefusal, type Refusal, refuse } from "../../rules/refusal.ts";
import type { DeclaredModel } from "../../rules/schema/declared-model.ts";
import { organizationGroup } from "../../rules/schema/sync-group.ts";
import { type Principal, participantName } from "../../rules/tokens/participant.ts";
import { checkModel, deny, isWithin, may } from "../../rules/tokens/scope.ts";
import type { ClaimResult, CommitLanes } from "../commits/commit-lanes.ts";
import { liveSchema } from "../schema/live-schema.ts";
import type { SchemaCache } from "../schema/schema-cache.ts";

/** Where a claim's caller says which record it is about, and how faults in that are named. */
export interface ClaimTarget {
  readonly model: string;
  readonly id: string;
  /** Before the names of faulty keys: empty, or `target.`. */
  readonly at: "" | "target.";
}

/** Everything that can be asked about claims. A claim is held, waits, or has ended; nothing of it is in the log. */
export interface ClaimFlows {
  acquire(by: Principal, target: ClaimTarget, body: ClaimBody): Promise<Acquired | Refusal>;
  renew(by: Principal, id: string, ttl: string | number | undefined): Promise<Claim | Refusal>;
  /** Answers how many ended by this. */
  release(by: Principal, id: string): Promise<number | Refusal>;
  /** All that the caller has on the record, or what one device of it has. */
  releaseRecord(by: Principal, target: ClaimTarget, clientId: string | undefined): Promise<number | Refusal>;
  reorder(by: Principal, model: string, id: string, order: readonly string[]): Promise<ClaimList | Refusal>;
  list(by: Principal, model: string, id: string): Promise<ClaimList | Refusal>;
  /** What the caller holds or waits for, on any record, in the order of the ids. */
  listOwn(by: Principal, page: { limit: number; cursor: string | undefined }): Promise<OwnClaims | Refusal>;
  /** Waits, while it stands in the line, until it changes: its status, or its position. */
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

/** Hears what happens to one record's claims. */
export interface QueueListener {
  /** What happened since it was asked last, as soon as there is something; undefined: the time is over, or the signal fired. */
  next(waitMs: number, signal: AbortSignal): Promise<ReadQueue | undefined>;
  end(): void;
}

export type ListenToQueue = (tenant: number, key: string) => Promise<QueueListener>;

export function claimFlows(db: Database, schemas: SchemaCache, lane: CommitLanes, listen: ListenToQueue): ClaimFlows {
  /** The model, when the caller may do that with records of it. */
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

  /** What the lane makes of an order, as the caller sees it. */
  async function decide(order: ClaimOrder): Promise<Extract<ClaimResult, { kind: "judged" }> | Refusal> {
    const result = await lane.decide(order);
    if (result.kind === "failed") return refuse(result.code);
    return result.decision.kind === "refused" ? result.decision.refusal : result;
  }

  /** A claim that the caller may know of, with where it stands: as it is now, or as it was told. */
  async function find(by: Principal, id: string, told?: ReadQueue): Promise<Found | Refusal> {
    const living = told?.claims.find((one) => one.id === id);
    const claim = living ?? (isRecordId(id) ? await readClaim(db, by.tenant, id) : undefined);
    if (!claim) return notFound;
    const queue = told ?? (await readQueues(db, [nameOf(by.tenant, claim)]))[0];
    const own = claim.participant === participantName(by.participantKind, by.participantId);
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
      const refusal = checkWords(body);
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
      // In a query it is as wrong as in a body: only what a path names is not found.
      if (isRefusal(declared)) return declared.code === "unknown_model" ? { ...declared, status: 400 } : declared;
      const [queue] = await readQueues(db, [{ tenant: by.tenant, model: model.toLowerCase(), id }]);
      if (!queue || !maySee(by, model.toLowerCase(), queue)) return refuse("record_not_found", { param: "id" });
      return listOf(presentQueue(queue.claims, declared.name, queue.now));
    },
    async listOwn(by, { limit, cursor = "" }) {
      if (cursor !== "" && !isRecordId(cursor)) return refuse("invalid_cursor", { param: "starting_after" });
      const participant = participantName(by.participantKind, by.participantId);
      const own = await readOwnClaims(db, by.tenant, participant, { after: cursor, limit: limit + 1 });
      const page = own.slice(0, limit);
      const names = [...new Map(page.map((claim) => [recordKey(claim.model, claim.record), claim])).values()];
      const queues = await readQueues(
        db,
        names.map(({ model, record }) => ({ tenant: by.tenant, model, id: record })),
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

  /** Its turn may have come while nothing was heard of it. */
  async function showLife(tenant: number, { id, model, record }: ClaimState): Promise<void> {
    if (!(await touchClaim(db, tenant, id, limits.waiterSilentMs)))
      await lane.decide({ kind: "settle", tenant, model, record, alive: [id] });
  }

  /** The claim as it is; with a signal, once it no longer waits in the place where it was, or the time is over. */
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
  /** Whether it is the caller's. */
  readonly own: boolean;
}

const CLIENT_ID = new RegExp(`^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$`);

const notFound = refuse("claim_not_found", { param: "id" });
const notHolder = refuse("not_claim_holder", { param: "id" });

const nameOf = (tenant: number, { model, record }: ClaimState) => ({ tenant, model, id: record });

/** Whether a record, and so who claims it, is the caller's to see. */
export const maySee = ({ scope }: Principal, model: string, { groups }: ReadQueue): boolean =>
  groups !== undefined && (scope === undefined || (may(scope, model, "read") && isWithin(scope, groups)));

/** What the caller says in its own words has to be such that it can be given back. */
function checkWords({ action, description, meta }: ClaimBody): Refusal | undefined {
  const refusal = checkJsonValues({ action, description, meta });
  if (refusal) return refusal;
  return meta !== undefined && Buffer.byteLength(JSON.stringify(meta)) > limits.claimMetaBytes
    ? refuse("invalid_value", {
        param: "meta",
        message: `"meta" must be at most ${limits.claimMetaBytes} bytes of JSON.`,
      })
    : undefined;
}

const countOf = (result: Extract<ClaimResult, { kind: "judged" }> | Refusal): number | Refusal =>
  isRefusal(result) ? result : result.decision.kind === "released" ? result.decision.count : 0;

const listOf = ({ claims, queue }: { claims: Claim[]; queue: Claim[] }): ClaimList => ({
  object: "list",
  data: [...claims, ...queue],
  claims,
  queue,
  has_more: false,
  next_cursor: null,
});
