import type { ClaimStatus, JsonObject } from "@holdfast/sdk/protocol";
import type { ClaimAttribution, ClaimState } from "../rules/claim.ts";

/** A claim with its tenant. */
export interface TenantClaim extends ClaimState {
  readonly tenant: number;
}

export interface ClaimRow {
  tenant: number;
  id: string;
  model: string;
  record: string;
  field: string | null;
  status: ClaimStatus;
  participant: string;
  token: string;
  client_id: string | null;
  groups: string[] | null;
  action: string;
  description: string | null;
  meta: string | null;
  attribution: string | null;
  ttl_ms: number;
  place: number;
  fence: number | null;
  granted_sync_id: number | null;
  created_at: string;
  granted_at: string | null;
  expires_at: string | null;
  ended_at: string | null;
  seen_at: string;
  revoked_at: string | null;
}

/** The columns of `holdfast.claim` as `c`. */
export const COLUMNS = `c.tenant, c.id, c.model, c.record, c.field, c.status, c.participant, c.token, c.client_id, c.groups, c.action, c.description, c.meta, c.attribution,
  c.ttl_ms, c.place, c.fence, c.granted_sync_id, c.created_at, c.granted_at, c.expires_at, c.ended_at, c.seen_at, c.revoked_at`;

const time = (text: string): number => Date.parse(text);
const timeOrNull = (text: string | null): number | null => (text === null ? null : Date.parse(text));

export const toClaim = (row: ClaimRow): TenantClaim => ({
  tenant: row.tenant,
  id: row.id,
  model: row.model,
  record: row.record,
  field: row.field,
  status: row.status,
  participant: row.participant,
  tokenId: row.token,
  clientId: row.client_id,
  groups: row.groups,
  action: row.action,
  description: row.description,
  meta: row.meta === null ? null : (JSON.parse(row.meta) as JsonObject),
  attribution: row.attribution === null ? null : (JSON.parse(row.attribution) as ClaimAttribution),
  ttlMs: row.ttl_ms,
  place: row.place,
  fence: row.fence,
  grantedSyncId: row.granted_sync_id,
  createdAt: time(row.created_at),
  grantedAt: timeOrNull(row.granted_at),
  expiresAt: timeOrNull(row.expires_at),
  endedAt: timeOrNull(row.ended_at),
  seenAt: time(row.seen_at),
  revokedAt: timeOrNull(row.revoked_at),
});

/** The holder of a claim, in one tenant. */
export interface TenantHolder {
  readonly tenant: number;
  /** `<kind>:<id>`, with a space and the device's `clientId` if the claim is for one device. */
  readonly holder: string;
}
