import type { RoundModule, TenantState } from "../../../kernel/commits/rules/tenant-state.ts";
import type { ClaimQueue, ClaimState } from "./claim.ts";
import type { Wait } from "./wait-graph.ts";

/** The claims of one tenant while a round is judged. */
export interface ClaimsState {
  /** By `recordKey`: the claims that have not ended. */
  readonly queues: Map<string, ClaimQueue>;
  /** The wait graph of other records, as far as a new claimant may close a cycle in it. */
  readonly waits: readonly Wait[];
  /** By participant: the number of claims that have not ended. Filled only if the limit is near. */
  readonly held: Map<string, number>;
  /** Tokens that request claims and were revoked since they were checked. */
  readonly revokedTokens: ReadonlySet<string>;
  /** The last number used for a claim change or a fence. */
  change: number;
  /** Number of claims of the tenant that have not ended. */
  count: number;
  /** By claim id: the claims that the round changed. */
  readonly changed: Map<string, ChangedClaim>;
}

export interface ChangedClaim {
  readonly claim: ClaimState;
  readonly change: number;
}

/** The name of the module. */
export const CLAIMS = "claims";

/** Each round has the claims of its tenants (`claims-round.ts`). */
export const claimsOf = ({ modules }: Pick<TenantState, "modules">): ClaimsState =>
  modules.get(CLAIMS) as RoundModule & ClaimsState;
