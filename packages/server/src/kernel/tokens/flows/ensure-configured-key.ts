import type { Database } from "../../connection/pool.ts";
import { transaction } from "../../connection/transaction.ts";
import {
  findSecretKeys,
  listOrganizations,
  revokeConfiguredKeys,
  tenantOf,
} from "../../organizations/db/organizations.ts";
import { createOrganization } from "../../organizations/flows/create-organization.ts";
import { tokenPrefixes } from "../rules/token.ts";
import type { TokenFollowers } from "./end-tokens.ts";
import { storeSecretKey, tokenHash } from "./secret-keys.ts";

/** The tenant of the configured secret key. */
export interface FirstTenant {
  readonly tenant: number;
  readonly organization: string;
}

const FIRST_LOCK = 4_270_002;

/**
 * Creates the first organization if there is none, and makes this key valid for it, in the environment that the key's
 * prefix names. Revokes a previously configured key. Safe if several processes start at once.
 */
export async function ensureConfiguredKey(
  pool: Database,
  followers: TokenFollowers,
  token: string,
): Promise<FirstTenant> {
  const livemode = token.startsWith(tokenPrefixes.live);
  return await transaction(pool, async (tx) => {
    await tx.query("select pg_advisory_xact_lock($1)", [FIRST_LOCK]);
    const first = (await listOrganizations(tx))[0] ?? (await createOrganization(tx, "default"));
    const tenant = await tenantOf(tx, first.id, livemode);
    if (tenant === undefined) throw new Error(`Organization ${first.id} lacks a tenant.`);
    const ended = await revokeConfiguredKeys(tx, tenant, tokenHash(token));
    for (const then of followers) await then(tx, ended, 0);
    const known = (await findSecretKeys(tx, [tokenHash(token)])).get(0);
    if (!known) await storeSecretKey(tx, tenant, token, "configured at start", true);
    else if (known.revoked) throw new Error("HOLDFAST_SECRET_KEY is a revoked key. Set another one.");
    return { tenant: known?.principal.tenant ?? tenant, organization: known?.principal.organization ?? first.id };
  });
}
