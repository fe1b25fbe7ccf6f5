import type { ClaimStatus, JsonObject } from "@holdfast/sdk/protocol";
import type { ClaimState } from "../rules/claim.ts";
import type { ChangedClaim } from "../rules/world-state.ts";
import type { RecordName } from "./records.ts";
import type { Statement } from "./statement.ts";
import type { Transaction } from "./transaction.ts";

/** A claim with the world that it is of. */
export interface WorldClaim extends ClaimState {
  readonly world: number;
}

interface ClaimRow {
  world: number;
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
  ttl_ms: number;
  place: number;
  fence: number | null;
  created_at: string;
  granted_at: string | null;
  expires_at: string | null;
  ended_at: string | null;
  seen_at: string;
  revoked_at: string | null;
}

const COLUMNS = `c.world, c.id, c.model, c.record, c.field, c.status, c.participant, c.token, c.client_id, c.groups, c.action, c.description, c.meta,
  c.ttl_ms, c.place, c.fence, c.created_at, c.granted_at, c.expires_at, c.ended_at, c.seen_at, c.revoked_at`;

const time = (text: string): number => Date.parse(text);
const timeOrNull = (text: string | null): number | null => (text === null ? null : Date.parse(text));

const toClaim = (row: ClaimRow): WorldClaim => ({
  world: row.world,
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
  ttlMs: row.ttl_ms,
  place: row.place,
  fence: row.fence,
  createdAt: time(row.created_at),
  grantedAt: timeOrNull(row.granted_at),
  expiresAt: timeOrNull(row.expires_at),
  endedAt: timeOrNull(row.ended_at),
  seenAt: time(row.seen_at),
  revokedAt: timeOrNull(row.revoked_at),
});

/** The claims on these records that have not ended: one probe of the partial index for each name. */
export const loadLines = (names: readonly RecordName[]): Statement<WorldClaim[]> => ({
  name: "load_claims",
  text: `select c.* from unnest($1::int[], $2::text[], $3::text[]) as k(world, model, id)
    cross join lateral (select ${COLUMNS} from holdfast.claim c
      where c.line = k.world::text || '/' || k.model || '/' || k.id offset 0) c`,
  values: [names.map(({ world }) => world), names.map(({ model }) => model), names.map(({ id }) => id)],
  read: (rows) => (rows as ClaimRow[]).map(toClaim),
});

/** Who waits for whom, from these holders on: what they wait for, what those wait for who have it, and so on. */
export const loadWaits = (
  holders: readonly WorldHolder[],
): Statement<{ waiter: string; blocker: string; model: string; record: string }[]> => ({
  name: "load_waits",
  text: `with recursive wait(waiter, blocker, model, record, next) as (
      select b.* from unnest($1::text[]) as p(waiter) cross join lateral (${BLOCKERS} where w.waiter = p.waiter offset 0) b
      union
      select b.* from wait cross join lateral (${BLOCKERS} where w.waiter = wait.next offset 0) b
    ) select waiter, blocker, model, record from wait limit 10000`,
  values: [holders.map(({ world, holder }) => `${world}/${holder}`)],
  read: (rows) => rows as { waiter: string; blocker: string; model: string; record: string }[],
});

/** `b` is in the way of `w`: it holds, or waits before it. */
const BLOCKERS = `select w.holder, b.holder, w.model, w.record, b.world::text || '/' || b.holder from holdfast.claim w
  cross join lateral (select * from holdfast.claim b where b.line = w.line and b.holder <> w.holder
    and (b.field is null or w.field is null or b.field = w.field)
    and case when b.expires_at is null then b.place < w.place else b.expires_at > clock_timestamp() end offset 0) b`;

/**
 * What a round changed of claims, with the number that each world's changes have reached. A new one that was asked for in
 * the grace of a secret key ends with the grace.
 */
export const saveClaims = (
  changed: readonly (ChangedClaim & { readonly world: number })[],
  heads: readonly { readonly world: number; readonly claimChange: number; readonly claims: number }[],
): Statement<void> => ({
  name: "save_claims",
  text: SAVE,
  values: [
    JSON.stringify(
      changed.map(({ world, claim, change }) => ({
        ...claim,
        world,
        change,
        createdAt: iso(claim.createdAt),
        grantedAt: isoOrNull(claim.grantedAt),
        expiresAt: isoOrNull(claim.expiresAt),
        endedAt: isoOrNull(claim.endedAt),
        seenAt: iso(claim.seenAt),
      })),
    ),
    heads.map(({ world }) => world),
    heads.map(({ claimChange }) => claimChange),
    heads.map(({ claims }) => claims),
  ],
  read: () => {},
});

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

const SAVE = `
with moved as (
  update holdfast.head h set claim_change = n.change, claims = n.claims from unnest($2::int[], $3::bigint[], $4::int[]) as n(world, change, claims) where h.world = n.world
)
insert into holdfast.claim as c (world, id, model, record, field, status, participant, token, client_id, groups, action, description, meta,
  ttl_ms, place, fence, change, created_at, granted_at, expires_at, ended_at, seen_at, revoked_at)
select world, id, model, record, field, status, participant, "tokenId", "clientId", groups, action, description, meta,
  "ttlMs", place, fence, change, "createdAt", "grantedAt", "expiresAt", "endedAt", "seenAt",
  (select k.revoked_at from holdfast.secret_key k where k.id = "tokenId")
from json_to_recordset($1::json) as x(world int, id text, model text, record text, field text, status text, participant text, "tokenId" text,
  "clientId" text, groups text[], action text, description text, meta json, "ttlMs" int, place bigint, fence bigint, change bigint,
  "createdAt" timestamptz(3), "grantedAt" timestamptz(3), "expiresAt" timestamptz(3), "endedAt" timestamptz(3), "seenAt" timestamptz(3))
on conflict (world, id) do update set status = excluded.status, token = excluded.token, client_id = excluded.client_id, groups = excluded.groups,
  action = excluded.action, description = excluded.description, meta = excluded.meta, ttl_ms = excluded.ttl_ms, place = excluded.place,
  fence = excluded.fence, change = excluded.change, granted_at = excluded.granted_at, expires_at = excluded.expires_at,
  ended_at = excluded.ended_at, seen_at = greatest(c.seen_at, excluded.seen_at)`;

// What has no name is planned each time, by the table as it then is: a plan from when it was empty may read all of it.

/** One claim, also when it has ended. */
export async function readClaim(db: Transaction, world: number, id: string): Promise<ClaimState | undefined> {
  const { rows } = await db.query<ClaimRow>({
    text: `select ${COLUMNS} from holdfast.claim c where c.world = $1 and c.id = $2`,
    values: [world, id],
  });
  return rows[0] && toClaim(rows[0]);
}

/** What is true of the claims of one record at one moment. */
export interface ReadLine {
  readonly claims: readonly ClaimState[];
  /** The record's groups; undefined: there is no such record. */
  readonly groups: readonly string[] | undefined;
  /** The last change that it contains. */
  readonly asOf: number;
  /** The database's clock, in milliseconds since 1970. */
  readonly now: number;
}

export async function readLines(db: Transaction, names: readonly RecordName[]): Promise<ReadLine[]> {
  const { rows } = await db.query<{
    nth: number;
    as_of: number;
    now_ms: number;
    filed: string[] | null;
    claim: string | null;
  }>({
    name: "read_lines",
    text: `select k.nth::int4 as nth, h.claim_change as as_of, (extract(epoch from statement_timestamp()) * 1000)::float8 as now_ms, r.groups as filed, c.claim
      from unnest($1::int[], $2::text[], $3::text[]) with ordinality as k(world, model, id, nth)
      cross join lateral (select claim_change from holdfast.head h where h.world = k.world limit 1) h
      left join lateral (select groups from holdfast.record r where r.world = k.world and r.model = k.model and r.id = k.id limit 1) r on true
      left join lateral (select row_to_json(x) as claim from (select ${COLUMNS} from holdfast.claim c
        where c.line = k.world::text || '/' || k.model || '/' || k.id offset 0) x) c on true`,
    values: [names.map(({ world }) => world), names.map(({ model }) => model), names.map(({ id }) => id)],
  });
  const byName: (typeof rows)[] = names.map(() => []);
  for (const row of rows) byName[row.nth - 1]?.push(row);
  return byName.map((own) => {
    const [first] = own;
    return {
      claims: own.flatMap(({ claim }) => (claim === null ? [] : [toClaim(inRowWords(JSON.parse(claim)))])),
      groups: first?.filed ?? undefined,
      asOf: first?.as_of ?? 0,
      now: Math.floor(first?.now_ms ?? 0),
    };
  });
}

/** In a row that came as JSON, json is not text. */
const inRowWords = (row: Omit<ClaimRow, "meta"> & { meta: unknown }): ClaimRow => ({
  ...row,
  meta: row.meta === null ? null : JSON.stringify(row.meta),
});

export interface ClaimChange {
  readonly claim: ClaimState;
  readonly change: number;
}

/** What changed after a number, in order. */
export async function readClaimChanges(db: Transaction, world: number, after: number): Promise<ClaimChange[]> {
  const { rows } = await db.query<ClaimRow & { change: number }>({
    name: "read_claim_changes",
    text: `select ${COLUMNS}, c.change from holdfast.claim c where c.world = $1 and c.change > $2 order by c.change limit 500`,
    values: [world, after],
  });
  return rows.map((row) => ({ claim: toClaim(row), change: row.change }));
}

/** The last number of each world's changes. */
export async function readClaimHeads(db: Transaction, worlds: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await db.query<{ world: number; claim_change: number }>({
    name: "read_claim_heads",
    text: "select world, claim_change from holdfast.head where world = any($1::int[])",
    values: [worlds],
  });
  return new Map(rows.map(({ world, claim_change }) => [world, claim_change]));
}

/** Records whose claims time has done something to: a lease is over, a waiter was silent for too long, a token revoked. */
export async function readDueLines(
  db: Transaction,
  { goneMs, but, most }: { goneMs: number; but: readonly number[]; most: number },
): Promise<RecordName[]> {
  const { rows } = await db.query<{ world: number; model: string; record: string }>({
    text: `select distinct world, model, record from (
        (select world, model, record from holdfast.claim where status = 'active' and expires_at <= clock_timestamp()
          and world <> all($3::int[]) order by expires_at limit $2)
        union all
        (select world, model, record from holdfast.claim where status = 'queued' and seen_at <= clock_timestamp() - make_interval(secs => $1::float8 / 1000)
          and world <> all($3::int[]) order by seen_at limit $2)
        union all
        (select world, model, record from holdfast.claim where ended_at is null and revoked_at <= clock_timestamp()
          and world <> all($3::int[]) order by revoked_at limit $2)
      ) due`,
    values: [goneMs, most, but],
  });
  return rows.map(({ world, model, record }) => ({ world, model, id: record }));
}

/**
 * Records where somebody waits whose turn it is: whoever was before it fell silent. Only the lines of those who fell silent
 * last are looked through.
 */
export async function readPassedOver(
  db: Transaction,
  { silentMs, goneMs, but, most }: { silentMs: number; goneMs: number; but: readonly number[]; most: number },
): Promise<RecordName[]> {
  const { rows } = await db.query<{ world: number; model: string; record: string }>({
    text: `with silent as (
        select distinct line from (
          select line from holdfast.claim where status = 'queued' and world <> all($3::int[])
            and seen_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000)
            and seen_at > clock_timestamp() - make_interval(secs => $2::float8 / 1000) order by seen_at desc limit $4
        ) last
      )
      select w.world, w.model, w.record from silent cross join lateral (
        select w.world, w.model, w.record from holdfast.claim w where w.line = silent.line and w.status = 'queued'
          and w.seen_at >= clock_timestamp() - make_interval(secs => $1::float8 / 1000)
          and not exists (select from holdfast.claim b where b.line = w.line and b.holder <> w.holder
            and (b.field is null or w.field is null or b.field = w.field)
            and case when b.status = 'queued'
              then b.place < w.place and b.seen_at >= clock_timestamp() - make_interval(secs => $1::float8 / 1000)
              else b.expires_at > clock_timestamp() end)
        limit 1) w`,
    values: [silentMs, goneMs, but, most],
  });
  return rows.map(({ world, model, record }) => ({ world, model, id: record }));
}

/** Milliseconds until the next lease is over, of those that are not over yet; undefined when there is none. */
export async function readNextExpiry(db: Transaction): Promise<number | undefined> {
  const { rows } = await db.query<{ ms: number }>({
    text: `select (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as ms
      from holdfast.claim where status = 'active' and expires_at > clock_timestamp() order by expires_at limit 1`,
    values: [],
  });
  return rows[0]?.ms;
}

/** Whom a claim is for, in one world. */
export interface WorldHolder {
  readonly world: number;
  /** `<kind>:<id>`, or that and a device's `clientId` behind a space. */
  readonly holder: string;
}

/** A claim that waits, and of which nothing was heard for a while. */
export interface SilentWaiter extends RecordName {
  readonly claimId: string;
}

/**
 * Notes that these live, on what they wait for. Answers those
 * that had fallen silent, and leaves them so: they may be next, and only a round can say that. Rows that a round is writing
 * just now are left for the next time.
 */
export async function touchWaiters(
  db: Transaction,
  alive: readonly WorldHolder[],
  silentMs: number,
): Promise<SilentWaiter[]> {
  const { rows } = await db.query<{ world: number; model: string; record: string; id: string }>({
    text: `with heard as (
        select c.* from unnest($1::text[]) as k(waiter)
        cross join lateral (
          select c.ctid as row, c.world, c.id, c.model, c.record, c.seen_at < clock_timestamp() - make_interval(secs => $2::float8 / 1000) as silent
          from holdfast.claim c where c.waiter = k.waiter
          for update skip locked) c
      ), touched as (
        update holdfast.claim set seen_at = clock_timestamp() where ctid = any(array(select row from heard where not silent))
      )
      select distinct world, model, record, id from heard where silent`,
    values: [alive.map(({ world, holder }) => `${world}/${holder}`), silentMs],
  });
  return rows.map(({ world, model, record, id }) => ({ world, model, id: record, claimId: id }));
}

/** The same for one claim that somebody asks about. False: it had fallen silent, and still is; or it waits no more. */
export async function touchClaim(db: Transaction, world: number, id: string, silentMs: number): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `update holdfast.claim set seen_at = clock_timestamp() where world = $1 and id = $2 and status = 'queued'
      and seen_at >= clock_timestamp() - make_interval(secs => $3::float8 / 1000)`,
    values: [world, id, silentMs],
  });
  return rowCount === 1;
}

/** Claims that a token answers for end with it, after a while when it does; those that end sooner already stay as they are. */
export async function revokeClaims(tx: Transaction, tokenIds: readonly string[], graceSeconds = 0): Promise<void> {
  await tx.query(
    `update holdfast.claim set revoked_at = least(coalesce(revoked_at, 'infinity'), clock_timestamp() + make_interval(secs => $2))
     where token = any($1::text[]) and ended_at is null`,
    [tokenIds, graceSeconds],
  );
}

/** Claims of a model's fields go with them when they are renamed: a change like any other, under the head's lock. */
export async function renameClaimedFields(
  tx: Transaction,
  world: number,
  model: string,
  renames: Readonly<Record<string, string>>,
): Promise<void> {
  await tx.query(
    `with found as (
        select c.id, r.new, h.claim_change + row_number() over (order by c.id) as change
        from holdfast.claim c join unnest($3::text[], $4::text[]) as r(old, new) on r.old = c.field
          join holdfast.head h on h.world = $1
        where c.line >= $1::text || '/' || $2 || '/' and c.line < $1::text || '/' || $2 || '0'
      ), renamed as (
        update holdfast.claim c set field = found.new, change = found.change from found where c.world = $1 and c.id = found.id
      )
      update holdfast.head set claim_change = greatest(claim_change, (select max(change) from found)) where world = $1`,
    [world, model, Object.keys(renames), Object.values(renames)],
  );
}

/** Forgets some claims that ended longer ago than that. Answers how many. */
export async function deleteEndedClaims(tx: Transaction, days: number, most: number): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from holdfast.claim where ctid = any(array(
       select ctid from holdfast.claim where ended_at < clock_timestamp() - make_interval(days => $1) limit $2))`,
    [days, most],
  );
  return rowCount ?? 0;
}
