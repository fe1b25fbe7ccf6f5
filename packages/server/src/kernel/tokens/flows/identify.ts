import type { Identity } from "@holdfast/sdk/protocol";
import { readHead } from "../../commits/db/heads.ts";
import type { Database } from "../../connection/pool.ts";
import { viewHashOf } from "../../log/flows/view-hash.ts";
import { organizationGroup } from "../../schema/rules/sync-group.ts";
import type { DataOf } from "../../tenant-data.ts";
import { readToken } from "../db/scoped-tokens.ts";
import { shownBudget } from "../rules/budget.ts";
import { ownerName, type Principal } from "../rules/participant.ts";

/** What a token says about itself: its participant, its permissions, and the log that it reads. */
export type Identify = (principal: Principal) => Promise<Identity>;

const EVERYTHING = ["*.*", "claim.preempt", "claim.reorder"];

export const identify =
  (db: Database, dataOf: DataOf): Identify =>
  async (principal) => {
    const { tenant, organization, livemode, participantId, participantKind, tokenKind, tokenId, expiresAt } = principal;
    const { logId } = await readHead((await dataOf(principal)).pool, tenant);
    const scoped =
      tokenKind === "secret_key" ? undefined : await readToken(db, { tenant, kind: tokenKind, id: tokenId });
    return {
      object: "identity",
      organization,
      livemode,
      participant: participantId,
      participantKind,
      operations: [...(scoped?.operations ?? EVERYTHING)],
      syncGroups: [...(scoped?.syncGroups ?? [organizationGroup(organization)])],
      onBehalfOf: [...(scoped?.onBehalfOf ?? ["*"])],
      budget: shownBudget(scoped?.budget ?? null),
      expiresAt,
      logId,
      owner: ownerName(principal),
      viewHash: viewHashOf(principal),
      serverTime: new Date().toISOString(),
    };
  };
