import type { Organization, SecretKey } from "@holdfast/sdk/protocol";
import type { Database } from "../../connection/pool.ts";
import { type Transaction, transaction } from "../../connection/transaction.ts";
import type { EndTokens } from "../../tokens/flows/end-tokens.ts";
import { mintSecretKey } from "../../tokens/flows/secret-keys.ts";
import { listOrganizations, listSecretKeys, revokeSecretKey, tenantOf, tenantOfKey } from "../db/organizations.ts";
import { createOrganization } from "./create-organization.ts";

/** What the operator of the server may do. */
export interface OperatorFlows {
  createOrganization(name: string): Promise<Organization>;
  listOrganizations(): Promise<Organization[]>;
  /** Undefined: no such organization. */
  createKey(organization: string, livemode: boolean, label: string | undefined): Promise<SecretKey | undefined>;
  listKeys(organization: string | undefined): Promise<SecretKey[]>;
  /** Returns false if there is no such key. */
  revokeKey(id: string, graceSeconds: number): Promise<boolean>;
}

/** What modules do in the transaction that creates an organization. */
export type OrganizationCreated = (tx: Transaction, organization: string) => Promise<void>;

/**
 * `revoked` is called for a key that ends now, so that this process closes its sockets and drops it from its cache at
 * once.
 */
export const operatorFlows = (
  db: Database,
  created: readonly OrganizationCreated[],
  revoked: (keyId: string) => void,
  ends: EndTokens,
): OperatorFlows => ({
  createOrganization: (name) =>
    transaction(db, async (tx) => {
      const organization = await createOrganization(tx, name);
      for (const then of created) await then(tx, organization.id);
      return organization;
    }),
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
      // Revoke the key first: this waits for what is being granted with it, so that it is found.
      const known = await revokeSecretKey(tx, id, graceSeconds);
      await ends.here(tx, [id], graceSeconds);
      return known;
    });
    const tenant = await tenantOfKey(db, id);
    if (tenant) await ends.elsewhere(tenant, [id], graceSeconds);
    if (known && graceSeconds === 0) revoked(id);
    return known;
  },
});
