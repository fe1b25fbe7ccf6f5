import type { Organization, SecretKey } from "@holdfast/sdk/protocol";
import { revokeClaims } from "../../db/claims/claims.ts";
import type { Database } from "../../db/connection/pool.ts";
import { transaction } from "../../db/connection/transaction.ts";
import { listOrganizations, listSecretKeys, revokeSecretKey, tenantOf } from "../../db/organizations/organizations.ts";
import { mintSecretKey } from "../tokens/secret-keys.ts";
import { createOrganization } from "./create-organization.ts";

/** What whoever runs the server may do. */
export interface OperatorFlows {
  createOrganization(name: string): Promise<Organization>;
  listOrganizations(): Promise<Organization[]>;
  /** Undefined: there is no such organization. */
  createKey(organization: string, livemode: boolean, label: string | undefined): Promise<SecretKey | undefined>;
  listKeys(organization: string | undefined): Promise<SecretKey[]>;
  /** False: there is no such key. */
  revokeKey(id: string, graceSeconds: number): Promise<boolean>;
}

/** `revoked` is told of a key that ended now, so that its logins and sockets end here at once. */
export const operatorFlows = (db: Database, revoked: (keyId: string) => void): OperatorFlows => ({
  createOrganization: (name) => transaction(db, (tx) => createOrganization(tx, name)),
  listOrganizations: () => listOrganizations(db),
  async createKey(organization, livemode, label) {
    const tenant = await tenantOf(db, organization, livemode);
    return tenant === undefined
      ? undefined
      : await transaction(db, (tx) => mintSecretKey(tx, tenant, livemode, label ?? null));
  },
  listKeys: (organization) => listSecretKeys(db, organization),
  async revokeKey(id, graceSeconds) {
    const known = await transaction(db, async (tx) => {
      // The key first: a claim that is just being granted with it is waited for, and then found.
      const known = await revokeSecretKey(tx, id, graceSeconds);
      await revokeClaims(tx, [id], graceSeconds);
      return known;
    });
    if (known && graceSeconds === 0) revoked(id);
    return known;
  },
});
