import { Type } from "typebox";
import type { EndpointSchema } from "../endpoint-schema.ts";
import { limits } from "../limits.ts";
import { ListEnvelope } from "../lists/list.ts";
import type { EndpointName } from "../paths.ts";
import { wholeNumber } from "../query-parameters.ts";
import { Claim, ClaimBody, ClaimList, ClaimOrderBody, ClaimRelease, ClaimRenewBody, ClaimTargetBody } from "./claim.ts";

const claimErrors = [
  "record_not_found",
  "unknown_column",
  "invalid_ttl",
  "claim_conflict",
  "claim_deadlock",
  "claim_queue_full",
  "too_many_claims",
  "preempt_denied",
] as const;

/** Claims. */
export const claimEndpoints = {
  acquireClaim: {
    summary: "Claim a record, or wait in its queue",
    audience: "token",
    body: ClaimBody,
    bodyOptional: true,
    reply: { 200: Claim, 201: Claim, 202: Claim },
    errors: claimErrors,
  },
  releaseRecord: {
    summary: "Release your claims on a record",
    audience: "token",
    query: {
      client_id: {
        description: "Only claims of this device; absent: all claims of the caller.",
        schema: Type.String({ pattern: `^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$` }),
      },
    },
    reply: { 200: ClaimRelease },
  },
  reorderClaims: {
    summary: "Reorder the claim queue of a record",
    audience: "token",
    body: ClaimOrderBody,
    reply: { 200: ClaimList },
    errors: ["record_not_found", "claim_not_found"],
  },
  acquireClaimOn: {
    summary: "Claim a record named in the body",
    audience: "token",
    body: ClaimTargetBody,
    reply: { 200: Claim, 201: Claim, 202: Claim },
    errors: [...claimErrors, "unknown_model", "invalid_id"],
  },
  listClaims: {
    summary: "List the holders of a record and the claims that wait for it",
    audience: "token",
    query: {
      model: { description: "Model name; required." },
      id: { description: "Record id; required." },
    },
    reply: { 200: ClaimList },
    errors: ["missing_field", "unknown_model", "invalid_id", "record_not_found"],
  },
  listOwnClaims: {
    summary: "List the claims that the caller holds or waits for",
    audience: "token",
    query: {
      limit: { description: "1 to 100, default 20.", schema: wholeNumber(1, limits.listMax, limits.listDefault) },
      starting_after: { description: "`next_cursor` of the previous page." },
    },
    reply: { 200: ListEnvelope(Claim) },
  },
  readClaim: {
    summary: "Read a claim, or wait until it changes",
    audience: "token",
    query: {
      wait: {
        description: "Milliseconds to wait while the claim is queued, 0 to 25000. Shows that the waiter is alive.",
        schema: wholeNumber(0, limits.claimWaitMs, 0),
      },
    },
    reply: { 200: Claim },
    errors: ["claim_not_found"],
  },
  renewClaim: {
    summary: "Renew a claim, or show that its waiter is alive",
    audience: "token",
    body: ClaimRenewBody,
    bodyOptional: true,
    reply: { 200: Claim },
    errors: ["claim_not_found", "not_claim_holder", "claim_lost", "invalid_ttl"],
  },
  releaseClaim: {
    summary: "Release a claim, or leave its queue",
    audience: "token",
    reply: { 200: ClaimRelease },
    errors: ["claim_not_found", "not_claim_holder"],
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
