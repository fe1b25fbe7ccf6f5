import type { ParticipantKind } from "@holdfast/sdk/protocol";
import type { Statement } from "../../connection/statement.ts";
import type { Transaction } from "../../connection/transaction.ts";
import type { KeyLookup } from "../../organizations/db/organizations.ts";
import type { Budget } from "../rules/budget.ts";

export type ScopedKind = "capability" | "ephemeral_key";

export interface StoredToken {
  readonly id: string;
  readonly kind: ScopedKind;
  readonly organization: string;
  readonly livemode: boolean;
  readonly participantKind: ParticipantKind;
  readonly participantId: string;
  readonly operations: readonly string[];
  readonly syncGroups: readonly string[];
  readonly onBehalfOf: readonly string[];
  readonly budget: Budget | null;
  readonly label: string | null;
  readonly userMeta: Readonly<Record<string, unknown>> | null;
  readonly rotatedFrom: string | null;
  /** When the token that this one replaced ends or ended. */
  readonly rotatedFromEndsAt: string | null;
  readonly status: "active" | "expired" | "revoked";
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

export interface NewToken
  extends Pick<
    StoredToken,
    | "id"
    | "kind"
    | "participantKind"
    | "participantId"
    | "operations"
    | "syncGroups"
    | "onBehalfOf"
    | "budget"
    | "label"
    | "userMeta"
    | "rotatedFrom"
  > {
  readonly tenant: number;
  readonly hash: Buffer;
  readonly last4: string;
  readonly ttlSeconds: number;
}

type TokenRow = Omit<StoredToken, "userMeta" | "budget"> & {
  readonly userMeta: string | null;
  readonly budget: string | null;
};

const TOKEN = `t.id, t.kind, w.organization, w.livemode, t.participant_kind as "participantKind", t.participant_id as "participantId",
  t.operations, t.sync_groups as "syncGroups", t.on_behalf_of as "onBehalfOf", t.budget, t.label, t.user_meta as "userMeta", t.rotated_from as "rotatedFrom",
  (select least(old.expires_at, old.revoked_at) from holdfast.scoped_token old where old.id = t.rotated_from) as "rotatedFromEndsAt",
  case when t.revoked_at <= clock_timestamp() then 'revoked' when t.expires_at <= clock_timestamp() then 'expired' else 'active' end as status,
  t.created_at as "issuedAt", t.expires_at as "expiresAt", t.revoked_at as "revokedAt", t.last_used_at as "lastUsedAt"
  from holdfast.scoped_token t join holdfast.tenant w on w.id = t.tenant`;

const budgetOf = ({ budget }: { readonly budget: string | null }): Budget | null =>
  budget === null ? null : (JSON.parse(budget) as Budget);

const toToken = (row: TokenRow): StoredToken => ({
  ...row,
  userMeta: row.userMeta === null ? null : (JSON.parse(row.userMeta) as Record<string, unknown>),
  budget: budgetOf(row),
});

export async function insertToken(tx: Transaction, token: NewToken): Promise<StoredToken> {
  await tx.query(
    `insert into holdfast.scoped_token (id, tenant, kind, hash, last4, participant_kind, participant_id, operations, sync_groups, label, user_meta, rotated_from, on_behalf_of, budget, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, clock_timestamp() + make_interval(secs => $15))`,
    [
      token.id,
      token.tenant,
      token.kind,
      token.hash,
      token.last4,
      token.participantKind,
      token.participantId,
      token.operations,
      token.syncGroups,
      token.label,
      token.userMeta === null ? null : JSON.stringify(token.userMeta),
      token.rotatedFrom,
      token.onBehalfOf,
      token.budget === null ? null : JSON.stringify(token.budget),
      token.ttlSeconds,
    ],
  );
  return (await readToken(tx, token)) as StoredToken;
}

export interface TokenName {
  readonly tenant: number;
  readonly kind: ScopedKind;
  readonly id: string;
}

export async function readToken(db: Transaction, { tenant, kind, id }: TokenName): Promise<StoredToken | undefined> {
  const { rows } = await db.query<TokenRow & Record<string, unknown>>(
    `select ${TOKEN} where t.tenant = $1 and t.kind = $2 and t.id = $3`,
    [tenant, kind, id],
  );
  return rows[0] && toToken(rows[0]);
}

/** Locks a token until the transaction ends, so that it is not revoked or rotated meanwhile. */
export async function lockToken(tx: Transaction, { tenant, kind, id }: TokenName): Promise<void> {
  await tx.query("select 1 from holdfast.scoped_token where tenant = $1 and kind = $2 and id = $3 for update", [
    tenant,
    kind,
    id,
  ]);
}

export interface TokenQuestion {
  readonly tenant: number;
  readonly kind: ScopedKind;
  readonly participantId: string | undefined;
  readonly after: { readonly at: string; readonly id: string } | undefined;
  readonly limit: number;
}

/** One page, oldest first. */
export async function listTokens(
  db: Transaction,
  { tenant, kind, participantId, after, limit }: TokenQuestion,
): Promise<StoredToken[]> {
  const { rows } = await db.query<TokenRow & Record<string, unknown>>(
    `select ${TOKEN} where t.tenant = $1 and t.kind = $2 and ($3::text is null or t.participant_id = $3)
       and ($4::timestamptz is null or (t.created_at, t.id) > ($4, $5)) order by t.created_at, t.id limit $6`,
    [tenant, kind, participantId ?? null, after?.at ?? null, after?.id ?? null, limit],
  );
  return rows.map(toToken);
}

/**
 * Which of these tokens are revoked. The others stay valid until this transaction ends: a concurrent revocation waits
 * for the lock, and then sees what this transaction did. The statement has no name, so that it is planned for the
 * table's current size; it is rare.
 */
export const lockTokens = (table: "scoped_token" | "secret_key", ids: readonly string[]): Statement<string[]> => ({
  name: "",
  text: `select id, coalesce(revoked_at <= clock_timestamp(), false) as revoked from holdfast.${table}
    where id = any($1::text[]) order by id for share`,
  values: [ids],
  read: (rows) => (rows as { id: string; revoked: boolean }[]).flatMap(({ id, revoked }) => (revoked ? [id] : [])),
});

/** The same for tokens that are kept in another database than the claims: see end-claims.ts. */
export const readEndedTokens = (ids: readonly string[]): Statement<string[]> => ({
  name: "read_ended_tokens",
  text: "select id from holdfast.ended_token where id = any($1::text[]) and ended_at <= clock_timestamp()",
  values: [ids],
  read: (rows) => (rows as { id: string }[]).map(({ id }) => id),
});

/** Ends a token after a grace period. A token that ends earlier stays unchanged. Returns whether the token exists. */
export async function revokeToken(
  db: Transaction,
  { tenant, kind, id }: TokenName,
  graceSeconds: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update holdfast.scoped_token set revoked_at = least(coalesce(revoked_at, 'infinity'), clock_timestamp() + make_interval(secs => $4))
     where tenant = $1 and kind = $2 and id = $3`,
    [tenant, kind, id, graceSeconds],
  );
  return rowCount === 1;
}

/** Revokes all valid ephemeral keys of a person. Returns their ids. */
export async function revokeTokensOf(db: Transaction, tenant: number, participantId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `update holdfast.scoped_token set revoked_at = clock_timestamp()
     where tenant = $1 and kind = 'ephemeral_key' and participant_id = $2 and expires_at > clock_timestamp()
       and (revoked_at is null or revoked_at > clock_timestamp()) returning id`,
    [tenant, participantId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Finds tokens by hash. The result is keyed by the index of the hash. Their last use is saved at most once a minute,
 * and skipped while another process saves it, so that two statements never wait for each other's rows.
 */
export async function findTokens(db: Transaction, hashes: readonly Buffer[]): Promise<Map<number, KeyLookup>> {
  const { rows } = await db.query<{
    nth: number;
    id: string;
    kind: ScopedKind;
    tenant: number;
    organization: string;
    livemode: boolean;
    participant_kind: ParticipantKind;
    participant_id: string;
    home: string | null;
    operations: string[];
    sync_groups: string[];
    on_behalf_of: string[];
    budget: string | null;
    expires_at: string;
    expires_in_ms: number;
    revoked: boolean;
  }>({
    name: "find_tokens",
    text: `with used as (
        select id from holdfast.scoped_token
        where hash = any($1::bytea[]) and expires_at > clock_timestamp() and revoked_at is null
          and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')
        for no key update skip locked
      ), noted as (
        update holdfast.scoped_token t set last_used_at = clock_timestamp() from used where t.id = used.id)
      select k.nth::int4 - 1 as nth, t.id, t.kind, t.tenant, w.organization, w.livemode, w.home, t.participant_kind, t.participant_id,
        t.operations, t.sync_groups, t.on_behalf_of, t.budget, t.expires_at,
        (extract(epoch from t.expires_at - clock_timestamp()) * 1000)::float8 as expires_in_ms,
        coalesce(t.revoked_at <= clock_timestamp(), false) as revoked
      from unnest($1::bytea[]) with ordinality as k(hash, nth)
      join holdfast.scoped_token t on t.hash = k.hash join holdfast.tenant w on w.id = t.tenant`,
    values: [hashes],
  });
  return new Map(
    rows.map((row) => [
      row.nth,
      {
        revoked: row.revoked,
        expiresInMs: row.expires_in_ms,
        grant: {
          operations: row.operations,
          syncGroups: row.sync_groups,
          onBehalfOf: row.on_behalf_of,
          budget: budgetOf(row),
        },
        principal: {
          tenant: row.tenant,
          organization: row.organization,
          livemode: row.livemode,
          database: row.home,
          participantKind: row.participant_kind,
          participantId: row.participant_id,
          tokenId: row.id,
          tokenKind: row.kind,
          expiresAt: row.expires_at,
        },
      },
    ]),
  );
}
