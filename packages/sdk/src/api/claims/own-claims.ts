import type { Holds } from "../../core/claims/claim-state.ts";
import { recordKey } from "../../core/log/tables.ts";
import { askServer } from "../../engine/ask-server.ts";
import type { CollabEngine, CollabEngineDeps } from "../../engine/collab-engine.ts";
import type { Claim } from "../../protocol/claims/claim.ts";
import type { OwnClaim } from "./claims-api.ts";
import type { LeasesDeps } from "./leases.ts";

interface Page {
  readonly data: readonly Claim[];
  readonly next_cursor: string | null;
}

/** The largest page size that the server allows. */
const PAGE = "100";

/** All claims of this participant, as the server lists them. */
export async function ownClaims(
  deps: LeasesDeps,
  engineDeps: CollabEngineDeps,
  loop: CollabEngine,
): Promise<OwnClaim[]> {
  // Only the store knows which claims belong to it.
  await deps.usable();
  const { clientId } = engineDeps.engine.store.getState();
  const claims: Claim[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = { limit: PAGE, ...(cursor && { starting_after: cursor }) };
    const { data, next_cursor } = (await askServer(engineDeps, "listOwnClaims", { query })) as Page;
    claims.push(...data);
    cursor = next_cursor;
  }
  const inUse = claimIds(loop.state().holds);
  return claims.map((claim) => ({
    ...claim,
    isInUse: inUse.has(claim.id),
    isOfThisStore: claim.clientId !== undefined && claim.clientId === clientId,
    async release() {
      const { resource: model, id } = claim.target;
      await deps.arrived(recordKey({ model, id }), (operation) => operation.claim === claim.id);
      await askServer(engineDeps, "releaseClaim", { params: { id: claim.id } });
    },
  }));
}

const claimIds = (holds: Holds): ReadonlySet<string> =>
  new Set([...holds.values()].flatMap(({ stage }) => ("claimId" in stage && stage.claimId ? [stage.claimId] : [])));
