import type { Lease, RecordClaims, SeenClaim } from "../api/claims/claims-api.ts";
import type { LeaseRef } from "../api/writes/write-api.ts";
import type { SyncError } from "../errors.ts";
import type { ClaimView } from "./shared-claim.ts";

/** What a component shows of a claim. */
export interface LiveClaimState {
  /**
   * - `mine`: no other participant can write here.
   * - `waiting`: requested, or in the claim queue.
   * - `theirs`: another participant holds it.
   * - `lost`: it was mine; `error` says why it ended.
   * - `unknown`: the claims of others are not known, so it may not be free.
   */
  readonly status: "free" | "mine" | "waiting" | "theirs" | "lost" | "unknown";
  /** The holder, which may be this participant; after a loss, the new holder if it is known. */
  readonly holder: SeenClaim | undefined;
  /** While waiting: the number of participants ahead; 0 means next. */
  readonly position: number | undefined;
  readonly fence: number | undefined;
  /** Why the last claim failed or was lost. */
  readonly error: SyncError | undefined;
  /**
   * While the status is `mine`: pass it to writes, `update(id, patch, { claim: lease })`. A write after the claim has
   * ended becomes a conflict.
   */
  readonly lease: (LeaseRef & Pick<Lease, "remainingMs">) | undefined;
}

export function liveClaimState(
  view: ClaimView,
  { state, holders }: RecordClaims,
  field: string | undefined,
): LiveClaimState {
  const here = holders.filter((claim) => field === undefined || claim.field === undefined || claim.field === field);
  const other = here.find((claim) => !claim.isMine);
  const around = state === "unknown" ? "unknown" : other ? "theirs" : "free";
  const lease = view.phase === "held" ? view.lease : undefined;
  return {
    status: lease ? "mine" : view.phase === "waiting" || view.phase === "lost" ? view.phase : around,
    holder: lease ? (here.find((claim) => claim.id === lease.id) ?? other) : (other ?? here[0] ?? takerOf(view)),
    position: view.phase === "waiting" ? view.position : undefined,
    fence: lease?.fence,
    error: view.phase === "lost" || view.phase === "failed" ? view.error : undefined,
    lease,
  };
}

/** The new holder as named by the loss. The record's claims may be unknown otherwise. */
function takerOf(view: ClaimView): SeenClaim | undefined {
  const [taker] = (view.phase === "lost" && view.error.claims) || [];
  return taker && { ...taker, isMine: false };
}
