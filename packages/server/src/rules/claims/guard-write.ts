import type { JsonObject } from "@holdfast/sdk/protocol";
import type { CommitOperation } from "../commits/commit-request.ts";
import { type Refusal, refuse } from "../refusal.ts";
import { type ClaimQueue, type ClaimState, holdersOf, presentClaim } from "./claim.ts";

/**
 * Whether a write may pass the claims on its record. One that names a claim needs it held, its own and on that record;
 * one that names none passes unless somebody else holds what it writes. One that carries a fence needs a claim of its own
 * that was granted with it. What the write was based on does not matter here.
 */
export function guardWrite(
  queue: ClaimQueue,
  writer: string,
  operation: CommitOperation,
  { declaredName, now }: { declaredName: string; now: number },
): Refusal | undefined {
  const holders = holdersOf(queue, now);
  const claims = () => holders.map((claim) => presentClaim(claim, declaredName, now));
  const { claim: named, fenceToken } = operation;
  const own = holders.filter(({ id, participant }) => participant === writer && (named === undefined || id === named));
  if (named !== undefined && own.length === 0) return refuse("claim_lost", { param: "claim", claims: claims() });
  if (fenceToken !== undefined && !own.some(({ fence }) => fence === fenceToken))
    return refuse("claim_lost", { param: "fenceToken", claims: claims() });
  const against = holders.some((claim) => claim.participant !== writer && covers(claim, operation));
  return against ? refuse("claim_conflict", { claims: claims() }) : undefined;
}

/** A claim of a field stands against writes of that field, and against what concerns the record as a whole. */
function covers({ field }: ClaimState, { action, data }: CommitOperation): boolean {
  return field === null || action !== "update" || Object.hasOwn((data ?? {}) as JsonObject, field);
}
