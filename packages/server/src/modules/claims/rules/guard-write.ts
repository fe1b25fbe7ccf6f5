import { writtenFields } from "@holdfast/sdk/protocol";
import type { CommitOperation } from "../../../kernel/commits/rules/commit-request.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import { type ClaimQueue, type ClaimState, holdersOf, presentClaim } from "./claim.ts";

/**
 * Whether the claims on a record allow a write. A write that names a claim needs that claim to be held, by the writer
 * and on that record. A write without one passes unless another participant holds what it changes. A write with a fence
 * needs a claim of the writer's that was granted with that fence. What the write was based on does not matter here.
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

/** A claim on a field blocks updates of that field, and all actions on the record as a whole. */
function covers({ field }: ClaimState, { action, data, changes }: CommitOperation): boolean {
  return field === null || action !== "update" || writtenFields({ data, changes }).includes(field);
}
