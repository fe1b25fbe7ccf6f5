import type { Organization, SecretKey } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../connection/transaction.ts";
import type { Principal } from "../../tokens/rules/participant.ts";
import type { Grant } from "../../tokens/rules/scope.ts";

interface OrganizationRow {
  id: string;
  name: string;
  created_at: string;
}

const toOrganization = (row: OrganizationRow): Organization => ({
  object: "organization",
  id: row.id,
  name: row.name,
  createdAt: row.created_at,
});

/** Creates an organization with its two tenants, each with an empty log. */
export async function insertOrganization(
  tx: Transaction,
  id: string,
  name: string,
  logIds: { live: string; test: string },
): Promise<Organization> {
  const { rows } = await tx.query<OrganizationRow>(
    "insert into holdfast.organization (id, name) values ($1, $2) returning *",
    [id, name],
  );
  await tx.query(
    `with w as (insert into holdfast.tenant (organization, livemode) values ($1, true), ($1, false) returning id, livemode)
     insert into holdfast.head (tenant, log_id) select id, case when livemode then $2 else $3 end from w`,
    [id, logIds.live, logIds.test],
  );
  return toOrganization(rows[0] as OrganizationRow);
}

export async function listOrganizations(db: Transaction): Promise<Organization[]> {
  const { rows } = await db.query<OrganizationRow>("select * from holdfast.organization order by created_at, id");
  return rows.map(toOrganization);
}

export async function readOrganization(db: Transaction, id: string): Promise<Organization> {
  const { rows } = await db.query<OrganizationRow>("select * from holdfast.organization where id = $1", [id]);
  if (!rows[0]) throw new Error(`There is no organization ${id}.`);
  return toOrganization(rows[0]);
}

export async function tenantOf(db: Transaction, organization: string, livemode: boolean): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>(
    "select id from holdfast.tenant where organization = $1 and livemode = $2",
    [organization, livemode],
  );
  return rows[0]?.id;
}

interface KeyRow {
  id: string;
  organization: string;
  livemode: boolean;
  label: string | null;
  last4: string;
  created_at: string;
  revoked_at: string | null;
}

const toKey = (row: KeyRow): SecretKey => ({
  object: "secret_key",
  id: row.id,
  organization: row.organization,
  livemode: row.livemode,
  label: row.label,
  last4: row.last4,
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
});

const KEY = `k.id, w.organization, w.livemode, k.label, k.last4, k.created_at, k.revoked_at
  from holdfast.secret_key k join holdfast.tenant w on w.id = k.tenant`;

export interface NewKey {
  readonly id: string;
  readonly tenant: number;
  readonly hash: Buffer;
  readonly last4: string;
  readonly label: string | null;
  readonly configured: boolean;
}

export async function insertSecretKey(tx: Transaction, key: NewKey): Promise<SecretKey> {
  await tx.query(
    "insert into holdfast.secret_key (id, tenant, hash, last4, label, configured) values ($1, $2, $3, $4, $5, $6)",
    [key.id, key.tenant, key.hash, key.last4, key.label, key.configured],
  );
  const { rows } = await tx.query<KeyRow>(`select ${KEY} where k.id = $1`, [key.id]);
  return toKey(rows[0] as KeyRow);
}

export async function listSecretKeys(db: Transaction, organization: string | undefined): Promise<SecretKey[]> {
  const { rows } = await db.query<KeyRow>(
    `select ${KEY} where $1::text is null or w.organization = $1 order by k.created_at, k.id`,
    [organization ?? null],
  );
  return rows.map(toKey);
}

/** Ends a key after a grace period. A key that ends earlier stays unchanged. Returns whether the key exists. */
export async function revokeSecretKey(db: Transaction, id: string, graceSeconds: number): Promise<boolean> {
  const { rowCount } = await db.query(
    "update holdfast.secret_key set revoked_at = least(coalesce(revoked_at, 'infinity'), clock_timestamp() + make_interval(secs => $2)) where id = $1",
    [id, graceSeconds],
  );
  return rowCount === 1;
}

/** The tenant of a key, and where it lives. */
export async function tenantOfKey(
  db: Transaction,
  id: string,
): Promise<{ tenant: number; database: string | null } | undefined> {
  const { rows } = await db.query<{ tenant: number; database: string | null }>(
    "select w.id as tenant, w.home as database from holdfast.secret_key k join holdfast.tenant w on w.id = k.tenant where k.id = $1",
    [id],
  );
  return rows[0];
}

/** Revokes all keys that were configured in the environment, except one. Returns their ids. */
export async function revokeConfiguredKeys(tx: Transaction, tenant: number, exceptHash: Buffer): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update holdfast.secret_key set revoked_at = clock_timestamp()
     where tenant = $1 and configured and revoked_at is null and hash <> $2 returning id`,
    [tenant, exceptHash],
  );
  return rows.map(({ id }) => id);
}

export interface KeyLookup {
  readonly principal: Omit<Principal, "scope">;
  /** The permissions of a scoped token. A secret key has no limits. */
  readonly grant?: Grant;
  readonly revoked: boolean;
  /** Absent for a token without an expiry. */
  readonly expiresInMs?: number;
}

/** Finds secret keys by hash. The result is keyed by the index of the hash. */
export async function findSecretKeys(db: Transaction, hashes: readonly Buffer[]): Promise<Map<number, KeyLookup>> {
  const { rows } = await db.query<{
    nth: number;
    id: string;
    tenant: number;
    organization: string;
    livemode: boolean;
    home: string | null;
    revoked: boolean;
  }>({
    name: "find_secret_keys",
    text: `select k.nth::int4 - 1 as nth, s.id, s.tenant, w.organization, w.livemode, w.home, coalesce(s.revoked_at <= clock_timestamp(), false) as revoked
      from unnest($1::bytea[]) with ordinality as k(hash, nth)
      join holdfast.secret_key s on s.hash = k.hash join holdfast.tenant w on w.id = s.tenant`,
    values: [hashes],
  });
  return new Map(
    rows.map((row) => [
      row.nth,
      {
        revoked: row.revoked,
        principal: {
          tenant: row.tenant,
          organization: row.organization,
          livemode: row.livemode,
          database: row.home,
          participantKind: "system",
          participantId: row.id,
          tokenId: row.id,
          tokenKind: "secret_key",
          expiresAt: null,
        },
      },
    ]),
  );
}

/** A tenant of an organization, and where it lives. */
export interface PlacedTenant {
  readonly id: number;
  readonly livemode: boolean;
  readonly database: string | null;
}

/** Live comes first. */
export async function listTenants(db: Transaction, organization: string): Promise<PlacedTenant[]> {
  const { rows } = await db.query<PlacedTenant & Record<string, unknown>>(
    "select id, livemode, home as database from holdfast.tenant where organization = $1 order by livemode desc",
    [organization],
  );
  return rows;
}
