import { receiptKey } from "../../commits/db/receipts.ts";
import { RECORD_COLUMNS } from "../../commits/db/records.ts";
import { IS_UNREADABLE } from "../../commits/db/unreadable-data.ts";
import { type Transaction, takeTime } from "../../connection/transaction.ts";
import { LONGEST_KEY, type RecordRelation } from "../../lists/db/record-relation.ts";

/** The tables of a tenant in the order of the dump. `tenant` is the first column of each. */
export const DUMPED = {
  schemas: { table: "model_schema", key: ["version"] },
  entries: { table: "log", key: ["sync_id"] },
  records: { table: "record", key: ["model", "id"] },
  groups: { table: "group_head", key: ["name"] },
  receipts: { table: "receipt", key: ["key"] },
} as const;
export type Dumped = keyof typeof DUMPED;

/** How a row starts. */
export const TENANT_ROW = /^\{"tenant":\d+/;

/** Bytes per batch. What a database sends at a time is bounded (answer-bound.ts). */
const BATCH_BYTES = 4 * 1024 * 1024;

/** Everything read after this is as of one moment, however long it takes. */
export async function beginDump(tx: Transaction): Promise<void> {
  await tx.query("set transaction isolation level repeatable read read only");
  await takeTime(tx);
  await tx.query("set local idle_in_transaction_session_timeout = 0");
}

/** Rows of a tenant as JSON text, in batches. Columns of type json keep their stored text. */
export async function* dumpRows(
  tx: Transaction,
  what: Dumped,
  tenant: number,
  /** By model: where the records are that Holdfast does not keep. They are dumped as if it did. */
  relations: ReadonlyMap<string, RecordRelation>,
): AsyncGenerator<string[]> {
  const { table, key } = DUMPED[what];
  const of = Math.trunc(tenant);
  const rows = (from: string) => `select row_to_json(t)::text as row from ${from} t where tenant = ${of}`;
  const order = `order by ${key.join(", ")}`;
  if (what !== "records") return yield* pages(tx, `${rows(`holdfast.${table}`)} ${order}`);
  const elsewhere = [...relations.keys()].map((model) => `'${model.replaceAll("'", "''")}'`).join(", ");
  // Records as the current schema presents them, even while a push rewrites them.
  yield* pages(tx, `${rows("holdfast.present_record")} and model <> all(array[${elsewhere}]::text[]) ${order}`);
  for (const { from, idOrder } of relations.values())
    yield* pages(
      tx,
      rows(
        `(select ${RECORD_COLUMNS} from ${from} r where char_length(id) <= ${LONGEST_KEY} order by ${idOrder.expression} offset 0)`,
      ).concat(` and not (${IS_UNREADABLE})`),
    );
}

/** A server-side cursor: one pass over all rows, whatever their number. */
async function* pages(tx: Transaction, query: string): AsyncGenerator<string[]> {
  await tx.query(`declare dumped no scroll cursor for ${query}`);
  for (;;) {
    const { rows } = await tx.query<{ row: string }>("select holdfast.fetch_some('dumped', $1) as row", [BATCH_BYTES]);
    if (rows.length === 0) break;
    yield rows.map(({ row }) => row);
  }
  await tx.query("close dumped");
}

/** Writes dumped rows into the given tenant, whatever their tenant was. Returns how many. */
export async function restoreRows(
  tx: Transaction,
  what: Dumped,
  tenant: number,
  rows: readonly string[],
): Promise<number> {
  const { table } = DUMPED[what];
  const { rowCount } = await tx.query(
    `insert into holdfast.${table} select r.* from unnest($1::text[]) with ordinality as x(row, n)
     cross join lateral json_populate_record(null::holdfast.${table}, x.row::json) r where r.tenant = $2 order by x.n`,
    [rows.map((row) => inPresentForm(row).replace(TENANT_ROW, `{"tenant":${tenant}`)), tenant],
  );
  return rowCount ?? 0;
}

/** A receipt of a dump of version 1, which has its participant instead of a hash. All else is as it was. */
const inPresentForm = (row: string): string =>
  row.replace(NAMED_RECEIPT, (_, start: string, participant: string, name: string, fingerprint: string) => {
    const named = { participant: JSON.parse(participant) as string, name: JSON.parse(name) as string };
    return `${start},"key":${JSON.stringify(receiptKey(named))},"fingerprint":"${inHex(fingerprint)}",`;
  });

const NAMED_RECEIPT =
  /^(\{"tenant":\d+),"participant":("(?:[^"\\]|\\.)*"),"name":("(?:[^"\\]|\\.)*"),"fingerprint":"([^"]*)",/;

/** Base64 as Postgres reads bytes in JSON. */
const inHex = (base64: string): string => `\\\\x${Buffer.from(base64, "base64").toString("hex")}`;

export interface DumpedKey {
  readonly id: string;
  readonly livemode: boolean;
  /** In hexadecimal. */
  readonly hash: string;
  readonly last4: string;
  readonly label: string | null;
  /** The key was configured in the environment, so configuring another one revokes it. */
  readonly configured: boolean;
  readonly revokedAt: string | null;
}

/** An organization's secret keys. Only their hashes are known. */
export async function dumpKeys(tx: Transaction, organization: string): Promise<DumpedKey[]> {
  const { rows } = await tx.query<DumpedKey & Record<string, unknown>>(
    `select k.id, w.livemode, encode(k.hash, 'hex') as hash, k.last4, k.label, k.configured, k.revoked_at as "revokedAt"
     from holdfast.secret_key k join holdfast.tenant w on w.id = k.tenant where w.organization = $1 order by k.created_at, k.id`,
    [organization],
  );
  return rows;
}

/** Returns false if the key already exists. */
export async function restoreKey(tx: Transaction, tenant: number, key: DumpedKey, revoked: boolean): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into holdfast.secret_key (id, tenant, hash, last4, label, revoked_at, configured) values ($1, $2, decode($3, 'hex'), $4, $5, least($6::timestamptz, case when $8 then clock_timestamp() end), $7)
     on conflict do nothing`,
    [key.id, tenant, key.hash, key.last4, key.label, key.revokedAt, key.configured, revoked],
  );
  return rowCount === 1;
}

/** The head of a log, as JSON text. */
export async function dumpHead(tx: Transaction, tenant: number): Promise<string> {
  const { rows } = await tx.query<{ row: string }>(
    "select row_to_json(h)::text as row from holdfast.head h where tenant = $1",
    [tenant],
  );
  return rows[0]?.row ?? "{}";
}

/**
 * Sets a new tenant's head to the end of the dumped log; the log keeps its new id. Claims are leases and are not
 * dumped, but fences continue above any that may have been granted since the dump, so that systems which store the
 * highest fence accept the next one.
 */
export async function restoreHead(tx: Transaction, tenant: number, head: string): Promise<void> {
  await takeTime(tx);
  await tx.query(
    `update holdfast.head h set sync_id = d.sync_id, writer = d.writer, other_sync_id = d.other_sync_id, last_at = d.last_at,
       schema_version = d.schema_version, trimmed_to = d.trimmed_to, regrouped_at = d.regrouped_at, claim_change = holdfast.fence_floor(d.claim_change)
     from json_populate_record(null::holdfast.head, $2::json) d where h.tenant = $1`,
    [tenant, head],
  );
}
