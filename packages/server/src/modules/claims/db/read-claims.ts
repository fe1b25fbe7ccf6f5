import type { RecordName } from "../../../kernel/commits/db/records.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { ClaimState } from "../rules/claim.ts";
import { type ClaimRow, COLUMNS, toClaim } from "./claim-row.ts";

// Statements without a name are planned each time: a plan from when the table was empty might scan all of it.

/** One claim, even if it has ended. */
export async function readClaim(db: Transaction, tenant: number, id: string): Promise<ClaimState | undefined> {
  const { rows } = await db.query<ClaimRow>({
    text: `select ${COLUMNS} from holdfast.claim c where c.tenant = $1 and c.id = $2`,
    values: [tenant, id],
  });
  return rows[0] && toClaim(rows[0]);
}

/** The records of the claims that a participant holds or waits for, ordered by claim id. */
export async function readOwnClaims(
  db: Transaction,
  tenant: number,
  participant: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly { readonly id: string; readonly model: string; readonly record: string }[]> {
  const { rows } = await db.query<{ id: string; model: string; record: string }>({
    text: `select id, model, record from holdfast.claim
      where tenant = $1 and participant = $2 and ended_at is null and id > $3 order by id limit $4`,
    values: [tenant, participant, after, limit],
  });
  return rows;
}

/** The claims of one record as of one moment. */
export interface ReadQueue {
  /** The record is in an attached table: then `groups` is undefined here. */
  readonly isAttached: boolean;
  readonly claims: readonly ClaimState[];
  /** The record's groups. Undefined if there is no such record. */
  readonly groups: readonly string[] | undefined;
  /** The last change that is included. */
  readonly asOf: number;
  /** The database's clock, in milliseconds since 1970. */
  readonly now: number;
}

export async function readQueues(db: Transaction, names: readonly RecordName[]): Promise<ReadQueue[]> {
  const { rows } = await db.query<{
    nth: number;
    as_of: number;
    now_ms: number;
    filed: string[] | null;
    claim: string | null;
    attached: boolean;
  }>({
    name: "read_lines",
    text: `select k.nth::int4 as nth, h.claim_change as as_of, (extract(epoch from statement_timestamp()) * 1000)::float8 as now_ms, r.groups as filed, c.claim, a.relation is not null as attached
      from unnest($1::int[], $2::text[], $3::text[]) with ordinality as k(tenant, model, id, nth)
      cross join lateral (select claim_change from holdfast.head h where h.tenant = k.tenant limit 1) h
      left join lateral (select groups from holdfast.present_record r where r.tenant = k.tenant and r.model = k.model and r.id = k.id limit 1) r on true
      left join holdfast.attached_table a on a.tenant = k.tenant and a.model = k.model
      left join lateral (select row_to_json(x) as claim from (select ${COLUMNS} from holdfast.claim c
        where c.queue = k.tenant::text || '/' || k.model || '/' || k.id offset 0) x) c on true`,
    values: [names.map(({ tenant }) => tenant), names.map(({ model }) => model), names.map(({ id }) => id)],
  });
  const byName: (typeof rows)[] = names.map(() => []);
  for (const row of rows) byName[row.nth - 1]?.push(row);
  return byName.map((own) => {
    const [first] = own;
    return {
      claims: own.flatMap(({ claim }) => (claim === null ? [] : [toClaim(inRowWords(JSON.parse(claim)))])),
      groups: first?.filed ?? undefined,
      isAttached: first?.attached === true,
      asOf: first?.as_of ?? 0,
      now: Math.floor(first?.now_ms ?? 0),
    };
  });
}

/** In a row returned as JSON, json columns are parsed; turn them back into text. */
const inRowWords = (
  row: Omit<ClaimRow, "meta" | "attribution"> & { meta: unknown; attribution: unknown },
): ClaimRow => ({
  ...row,
  meta: row.meta === null ? null : JSON.stringify(row.meta),
  attribution: row.attribution === null ? null : JSON.stringify(row.attribution),
});

export interface ClaimChange {
  readonly claim: ClaimState;
  readonly change: number;
}

/** The changes after a number, in order. */
export async function readClaimChanges(db: Transaction, tenant: number, after: number): Promise<ClaimChange[]> {
  const { rows } = await db.query<ClaimRow & { change: number }>({
    name: "read_claim_changes",
    text: `select ${COLUMNS}, c.change from holdfast.claim c where c.tenant = $1 and c.change > $2 order by c.change limit 500`,
    values: [tenant, after],
  });
  return rows.map((row) => ({ claim: toClaim(row), change: row.change }));
}

/** The last change number of each tenant. */
export async function readClaimHeads(db: Transaction, tenants: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await db.query<{ tenant: number; claim_change: number }>({
    name: "read_claim_heads",
    text: "select tenant, claim_change from holdfast.head where tenant = any($1::int[])",
    values: [tenants],
  });
  return new Map(rows.map(({ tenant, claim_change }) => [tenant, claim_change]));
}
