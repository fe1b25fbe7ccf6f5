import { writtenFields } from "../../protocol/commits/field-change.ts";
import { operationIndexOf } from "../../protocol/commits/operation-param.ts";
import { lookUp, recordKey } from "../log/tables.ts";
import type { Failure } from "../queue/failure.ts";
import type { ClaimRefusal, Mutation, MutationOperation } from "../queue/mutation.ts";
import type { ClientState } from "../state.ts";
import { pick } from "./conflict.ts";

/**
 * Turns a write that was refused because of a claim into a conflict, in which a person decides between the current
 * values and the wanted ones. Undefined: the refusal was not about a claim, or there is nothing to compare, as with a
 * create, or with a delete that would change a claimed record which this person may not see.
 */
export function conflictedByClaim(
  write: Mutation,
  failure: Failure,
  { rows, queue }: Pick<ClientState, "rows" | "queue">,
): Mutation | undefined {
  const { claims = [] } = failure;
  const code = (["claim_lost", "claim_conflict"] as const).find((each) => each === failure.code);
  if (!code || (code === "claim_conflict" && claims.length === 0)) return undefined;
  const refused = write.operations[operationIndexOf(failure.param) ?? 0];
  if (!refused || refused.action === "create") return undefined;
  const { model, id, readAt = 0 } = refused;
  const fields = write.operations
    .filter((o) => recordKey(o) === recordKey(refused) && o.action === "update")
    .flatMap((o) => writtenFields(o));
  const [holder] = claims;
  const notification = {
    object: "stale_notification" as const,
    model,
    id,
    writtenBy: holder ? `${holder.participantKind}:${holder.actor}` : "",
    readAt,
    // Use the position of the rows: if others wrote after it, the server finds mine stale when it is sent again.
    observedSyncId: rows.position ?? 0,
    conflictingFields: [...new Set(fields)],
    currentValues: pick(lookUp(rows.tables, refused)?.data ?? {}, fields),
  };
  const claim: ClaimRefusal = { code, holders: claims };
  return {
    ...write,
    stage: { phase: "conflicted", notifications: [notification], conflictedAfter: queue.lastSeq, claim },
  };
}

/**
 * Drops the claim, which has ended, and requests a notification, so that the write conflicts if someone else was
 * faster.
 */
export const unclaimed = (o: MutationOperation): MutationOperation => ({ ...o, claim: undefined, onStale: "notify" });
