import type { StoredEntry } from "../../commits/rules/stored-entry.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { ENTRY_COLUMNS } from "./log.ts";

/** The missing range of one tenant's log: positions in (after, to]. */
export interface TailQuestion {
  readonly tenant: number;
  readonly after: number;
  readonly to: number;
}

/** A page of the range: positions in (from, to], without entries that were trimmed. */
export interface StoredTail {
  readonly tenant: number;
  readonly from: number;
  readonly to: number;
  readonly hasMore: boolean;
  readonly entries: readonly StoredEntry[];
  /** Read in the same statement: it declares the models of all entries of the page. */
  readonly schemaVersion: number;
}

/** Most entries per tenant in one statement. */
const PAGE = 1_000;
/** Most stored bytes of all tenants in one statement. At least one entry always fits. */
const BYTES = 2 ** 21;

interface TailRow {
  readonly of_tenant: number;
  readonly schema_version: number;
  readonly head: number;
  readonly syncId: number | null;
  /** The tenant's last entry if there were no byte limit. */
  readonly last: number | null;
}

/** The tails of several logs in one statement. A tenant has no page if the byte limit was already used up. */
export async function readTails(db: Transaction, questions: readonly TailQuestion[]): Promise<StoredTail[]> {
  const { rows } = await db.query<TailRow>({
    name: "read_tails",
    text: `select * from (
        select k.nth, k.of_tenant, h.schema_version, h.sync_id as head, l.*,
          max(l."syncId") over (partition by k.nth) as last,
          sum(coalesce(pg_column_size(l.data), 0) + coalesce(pg_column_size(l.attribution), 0)) over (order by k.nth, l."syncId" rows between unbounded preceding and 1 preceding) as before
        from unnest($1::int[], $2::bigint[], $3::bigint[]) with ordinality as k(of_tenant, after, upto, nth)
        cross join lateral (select sync_id, schema_version from holdfast.head h where h.tenant = k.of_tenant limit 1) h
        left join lateral (select ${ENTRY_COLUMNS} from holdfast.log l
          where l.tenant = k.of_tenant and l.sync_id > k.after and l.sync_id <= k.upto order by l.sync_id limit ${PAGE}) l on true
      ) tails where coalesce(before, 0) < ${BYTES} order by nth, "syncId"`,
    values: [questions.map(({ tenant }) => tenant), questions.map(({ after }) => after), questions.map(({ to }) => to)],
  });
  const byTenant = new Map<number, TailRow[]>();
  for (const row of rows) {
    const own = byTenant.get(row.of_tenant);
    if (own) own.push(row);
    else byTenant.set(row.of_tenant, [row]);
  }
  return questions.flatMap(({ tenant, after, to: wanted }) => {
    const own = byTenant.get(tenant);
    const [first] = own ?? [];
    if (!own || !first) return [];
    const entries = own.filter(({ syncId }) => syncId !== null) as unknown as StoredEntry[];
    const to = Math.min(wanted, first.head);
    const isCut = entries.length === PAGE || (own.at(-1)?.syncId ?? 0) < (first.last ?? 0);
    const reached = isCut ? (entries.at(-1)?.syncId ?? to) : to;
    return [{ tenant, from: after, to: reached, hasMore: reached < to, entries, schemaVersion: first.schema_version }];
  });
}
