import type { RecordName } from "../../../kernel/commits/db/records.ts";
import type { Statement } from "../../../kernel/connection/statement.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { ChangedClaim } from "../rules/claims-state.ts";
import { type ClaimRow, COLUMNS, type TenantClaim, type TenantHolder, toClaim } from "./claim-row.ts";

/** The open claims on these records: one probe of the partial index per name. */
export const loadQueues = (names: readonly RecordName[]): Statement<TenantClaim[]> => ({
  name: "load_claims",
  text: `select c.* from unnest($1::int[], $2::text[], $3::text[]) as k(tenant, model, id)
    cross join lateral (select ${COLUMNS} from holdfast.claim c
      where c.queue = k.tenant::text || '/' || k.model || '/' || k.id offset 0) c`,
  values: [names.map(({ tenant }) => tenant), names.map(({ model }) => model), names.map(({ id }) => id)],
  read: (rows) => (rows as ClaimRow[]).map(toClaim),
});

/** The wait graph from these holders on: what they wait for, what its holders wait for, and so on. */
export const loadWaits = (
  holders: readonly TenantHolder[],
): Statement<{ waiter: string; blocker: string; model: string; record: string }[]> => ({
  name: "load_waits",
  text: `with recursive wait(waiter, blocker, model, record, next) as (
      select b.* from unnest($1::text[]) as p(waiter) cross join lateral (${BLOCKERS} where w.waiter = p.waiter offset 0) b
      union
      select b.* from wait cross join lateral (${BLOCKERS} where w.waiter = wait.next offset 0) b
    ) select waiter, blocker, model, record from wait limit 10000`,
  values: [holders.map(({ tenant, holder }) => `${tenant}/${holder}`)],
  read: (rows) => rows as { waiter: string; blocker: string; model: string; record: string }[],
});

/** The number of open claims of each participant. */
export const countClaims = (tenant: number, participants: readonly string[]): Statement<Map<string, number>> => ({
  name: "count_claims",
  text: `select participant, count(*)::int4 as claims from holdfast.claim
    where tenant = $1 and participant = any($2::text[]) and ended_at is null group by participant`,
  values: [tenant, participants],
  read: (rows) =>
    new Map((rows as { participant: string; claims: number }[]).map((row) => [row.participant, row.claims])),
});

/** `b` blocks `w`: it holds the claim, or waits ahead of `w`. */
const BLOCKERS = `select w.holder, b.holder, w.model, w.record, b.tenant::text || '/' || b.holder from holdfast.claim w
  cross join lateral (select * from holdfast.claim b where b.queue = w.queue and b.holder <> w.holder
    and (b.field is null or w.field is null or b.field = w.field)
    and case when b.expires_at is null then b.place < w.place else b.expires_at > clock_timestamp() end offset 0) b`;

/**
 * Saves the claims that a round changed, with the last change number of each tenant. A new claim that was requested
 * during the grace period of a secret key ends with that period.
 */
export const saveClaims = (
  changed: readonly (ChangedClaim & { readonly tenant: number })[],
  heads: readonly { readonly tenant: number; readonly claimChange: number; readonly claims: number }[],
): Statement<void> => ({
  name: "save_claims",
  text: SAVE,
  values: [
    JSON.stringify(
      changed.map(({ tenant, claim, change }) => ({
        ...claim,
        tenant,
        change,
        createdAt: iso(claim.createdAt),
        grantedAt: isoOrNull(claim.grantedAt),
        expiresAt: isoOrNull(claim.expiresAt),
        endedAt: isoOrNull(claim.endedAt),
        seenAt: iso(claim.seenAt),
      })),
    ),
    heads.map(({ tenant }) => tenant),
    heads.map(({ claimChange }) => claimChange),
    heads.map(({ claims }) => claims),
  ],
  read: () => {},
});

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

const SAVE = `
with moved as (
  update holdfast.head h set claim_change = n.change, claims = n.claims from unnest($2::int[], $3::bigint[], $4::int[]) as n(tenant, change, claims) where h.tenant = n.tenant
)
insert into holdfast.claim as c (tenant, id, model, record, field, status, participant, token, client_id, groups, action, description, meta, attribution,
  ttl_ms, place, fence, granted_sync_id, change, created_at, granted_at, expires_at, ended_at, seen_at, revoked_at)
select tenant, id, model, record, field, status, participant, "tokenId", "clientId", groups, action, description, meta, attribution,
  "ttlMs", place, fence, "grantedSyncId", change, "createdAt", "grantedAt", "expiresAt", "endedAt", "seenAt",
  coalesce((select k.revoked_at from holdfast.secret_key k where k.id = "tokenId"), (select e.ended_at from holdfast.ended_token e where e.id = "tokenId"))
from json_to_recordset($1::json) as x(tenant int, id text, model text, record text, field text, status text, participant text, "tokenId" text,
  "clientId" text, groups text[], action text, description text, meta json, attribution json, "ttlMs" int, place bigint, fence bigint, "grantedSyncId" bigint, change bigint,
  "createdAt" timestamptz(3), "grantedAt" timestamptz(3), "expiresAt" timestamptz(3), "endedAt" timestamptz(3), "seenAt" timestamptz(3))
on conflict (tenant, id) do update set status = excluded.status, token = excluded.token, client_id = excluded.client_id, groups = excluded.groups,
  action = excluded.action, description = excluded.description, meta = excluded.meta, attribution = excluded.attribution, ttl_ms = excluded.ttl_ms, place = excluded.place,
  fence = excluded.fence, granted_sync_id = excluded.granted_sync_id, change = excluded.change, granted_at = excluded.granted_at, expires_at = excluded.expires_at,
  ended_at = excluded.ended_at, seen_at = greatest(c.seen_at, excluded.seen_at)`;

/** Ends the claims of revoked tokens, now or after the grace period. Claims that end earlier stay unchanged. */
export async function revokeClaims(tx: Transaction, tokenIds: readonly string[], graceSeconds: number): Promise<void> {
  await tx.query(
    `update holdfast.claim set revoked_at = least(coalesce(revoked_at, 'infinity'), clock_timestamp() + make_interval(secs => $2))
     where token = any($1::text[]) and ended_at is null`,
    [tokenIds, graceSeconds],
  );
}

/**
 * When a schema push renames fields, claims on them are renamed too. This is a claim change like any other, under the
 * head's lock.
 */
export async function renameClaims(
  tx: Transaction,
  tenant: number,
  renames: ReadonlyMap<string, Readonly<Record<string, string>>>,
): Promise<void> {
  for (const [model, names] of renames) await renameClaimedFields(tx, tenant, model, names);
}

async function renameClaimedFields(
  tx: Transaction,
  tenant: number,
  model: string,
  renames: Readonly<Record<string, string>>,
): Promise<void> {
  await tx.query(
    `with found as (
        select c.id, r.new, h.claim_change + row_number() over (order by c.id) as change
        from holdfast.claim c join unnest($3::text[], $4::text[]) as r(old, new) on r.old = c.field
          join holdfast.head h on h.tenant = $1
        where c.queue >= $1::text || '/' || $2 || '/' and c.queue < $1::text || '/' || $2 || '0'
      ), renamed as (
        update holdfast.claim c set field = found.new, change = found.change from found where c.tenant = $1 and c.id = found.id
      )
      update holdfast.head set claim_change = greatest(claim_change, (select max(change) from found)) where tenant = $1`,
    [tenant, model, Object.keys(renames), Object.values(renames)],
  );
}
