import { recordEntries } from "../../../kernel/commits/db/record-entries.ts";
import type { StoredEntry } from "../../../kernel/commits/rules/stored-entry.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import { ENTRY_COLUMNS } from "../../../kernel/log/db/log.ts";

/** Which entries of a tenant's log. */
export interface Selection {
  readonly tenant: number;
  readonly run: string | undefined;
  readonly clientTxId: string | undefined;
  /** Positions, the first and the last. */
  readonly from: number;
  readonly to: number;
  /** `<kind>:<id>` */
  readonly actor: string | undefined;
}

/** A record with entries that were selected. */
export interface SelectedRecord {
  readonly model: string;
  readonly id: string;
  /** Their positions, in order. */
  readonly positions: readonly number[];
}

/** The records that the newest of the entries are on, up to `entries` of them, those with the newest ones first. */
export async function readSelected(
  db: Transaction,
  { tenant, run, clientTxId, from, to, actor }: Selection,
  entries: number,
): Promise<readonly SelectedRecord[]> {
  const ofRun = run === undefined ? "$2::text is null" : "l.attribution is not null and l.attribution ->> 'run' = $2";
  const { rows } = await db.query<{ model: string; id: string; positions: string }>(
    `select l.model, l.id, json_agg(l.sync_id order by l.sync_id) as positions from (
       select l.model, l.id, l.sync_id from holdfast.log l where l.tenant = $1 and ${ofRun} and ($3::text is null or l.client_tx_id = $3) and l.sync_id >= $4 and l.sync_id <= $5
         and ($6::text is null or l.participant_kind || ':' || l.actor = $6)
       order by l.sync_id desc limit $7) l
     group by l.model, l.id order by max(l.sync_id) desc`,
    [tenant, run ?? null, clientTxId ?? null, from, to, actor ?? null, entries],
  );
  return rows.map(({ positions, ...name }) => ({ ...name, positions: JSON.parse(positions) as number[] }));
}

/** How much of a record's history is read for a revert. */
export interface PastSize {
  readonly entries: number;
  /** Of their values, as JSON. */
  readonly bytes: number;
}

/** By place in `records`: how much there is of each from its first selected entry on, with the one before; up to `most` entries. */
export async function readPastSizes(
  db: Transaction,
  tenant: number,
  records: readonly SelectedRecord[],
  most: number,
): Promise<readonly PastSize[]> {
  const { rows } = await db.query<PastSize>(
    `select count(e.sync_id) as entries, coalesce(sum(octet_length(e.data::text)), 0)::float8 as bytes
     from ${NAMED} left join lateral (select l.* from (${pastsOf(most)}) l) e on true group by k.nth order by k.nth`,
    valuesOf(tenant, records),
  );
  return rows;
}

/** By place in `records`: the entries of each from its first selected one on, and the one before, in order. */
export async function readPasts(
  db: Transaction,
  tenant: number,
  records: readonly SelectedRecord[],
  most: number,
): Promise<readonly (readonly StoredEntry[])[]> {
  const { rows } = await db.query<StoredEntry & { readonly nth: number }>(
    `select k.nth::int4 as nth, e.* from ${NAMED} cross join lateral (select ${ENTRY_COLUMNS} from (${pastsOf(most)}) l) e
     order by k.nth, e."syncId"`,
    valuesOf(tenant, records),
  );
  const pasts: StoredEntry[][] = records.map(() => []);
  for (const { nth, ...entry } of rows) pasts[nth - 1]?.push(entry);
  return pasts;
}

const NAMED = "unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as k(model, id, first, nth)";

function pastsOf(most: number): string {
  const of = { tenant: "$1", model: "k.model", id: "k.id" } as const;
  const since = recordEntries({ ...of, within: (at) => `${at} >= k.first`, order: "asc", limit: String(most) });
  const prior = recordEntries({ ...of, within: (at) => `${at} < k.first`, order: "desc", limit: "1" });
  return `(${prior}) union all (${since})`;
}

const valuesOf = (tenant: number, records: readonly SelectedRecord[]) => [
  tenant,
  records.map(({ model }) => model),
  records.map(({ id }) => id),
  records.map(({ positions }) => positions[0] ?? 0),
];
