import { revokeClaims } from "../db/claims.ts";
import { findSecretKeys, listOrganizations, revokeConfiguredKeys, worldOf } from "../db/organizations.ts";
import type { Database } from "../db/pool.ts";
import { transaction } from "../db/transaction.ts";
import { tokenPrefixes } from "../rules/token.ts";
import { createOrganization } from "./create-organization.ts";
import { storeSecretKey, tokenHash } from "./secret-keys.ts";

/** The world that the operator's own key opens. */
export interface FirstWorld {
  readonly world: number;
  readonly organization: string;
}

const FIRST_LOCK = 4_270_002;

/**
 * Makes sure that there is a first organisation and that this key opens it, in the environment its prefix names.
 * Another key that was configured there before is revoked. Safe with several processes starting at once.
 */
export async function ensureConfiguredKey(pool: Database, token: string): Promise<FirstWorld> {
  const livemode = token.startsWith(tokenPrefixes.live);
  return await transaction(pool, async (tx) => {
    await tx.query("select pg_advisory_xact_lock($1)", [FIRST_LOCK]);
    const first = (await listOrganizations(tx))[0] ?? (await createOrganization(tx, "default"));
    const world = await worldOf(tx, first.id, livemode);
    if (world === undefined) throw new Error(`Organisation ${first.id} lacks a world.`);
    await revokeClaims(tx, await revokeConfiguredKeys(tx, world, tokenHash(token)));
    const known = (await findSecretKeys(tx, [tokenHash(token)])).get(0);
    if (!known) await storeSecretKey(tx, world, token, "configured at start", true);
    else if (known.revoked) throw new Error("HOLDFAST_SECRET_KEY names a key that was revoked. Set another one.");
    return { world: known?.principal.world ?? world, organization: known?.principal.organization ?? first.id };
  });
}
