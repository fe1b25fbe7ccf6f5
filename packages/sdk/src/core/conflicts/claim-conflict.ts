import { lookUp, recordKey } from "../log/tables.ts";
import type { Failure } from "../queue/failure.ts";
import type { ClaimRefusal, Mutation, MutationOperation } from "../queue/mutation.ts";
import type { ClientState } from "../state.ts";
import { pick } from "./conflict.ts";

/**
 * A write that was refused for a claim, as a held one: what is there now stands against what was wanted, and a person
 * decides. Undefined: it was not about a claim, or about a create, of which there is nothing to compare.
 */
export function heldForClaim(
  write: Mutation,
  failure: Failure,
  { rows, queue }: Pick<ClientState, "rows" | "queue">,
): Mutation | undefined {
  const { claims = [] } = failure;
  const code = (["claim_lost", "claim_conflict"] as const).find((each) => each === failure.code);
  if (!code) return undefined;
  const refused = write.operations[Number(/operations\[(\d+)\]/.exec(failure.param ?? "")?.[1] ?? 0)];
  if (!refused || refused.action === "create") return undefined;
  const { model, id, readAt = 0 } = refused;
  const fields = write.operations
    .filter((o) => recordKey(o) === recordKey(refused) && o.action === "update")
    .flatMap((o) => Object.keys(o.data ?? {}));
  const [holder] = claims;
  const notification = {
    object: "stale_notification" as const,
    model,
    id,
    writtenBy: holder ? `${holder.participantKind}:${holder.actor}` : "",
    readAt,
    // As of what our rows have read: what others wrote beyond it is found stale when mine is sent again.
    observedSyncId: rows.position ?? 0,
    conflictingFields: [...new Set(fields)],
    currentValues: pick(lookUp(rows.tables, refused)?.data ?? {}, fields),
  };
  const claim: ClaimRefusal = { code, holders: claims };
  return { ...write, stage: { phase: "held", notifications: [notification], heldAfter: queue.lastSeq, claim } };
}

/** Sent again it names no claim, since that one is gone, and is held when somebody was faster, whatever was asked first. */
export const unclaimed = (o: MutationOperation): MutationOperation => ({ ...o, claim: undefined, onStale: "notify" });
