import type { Statement } from "../../../kernel/connection/statement.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { OwnSource } from "../rules/present-source.ts";

/** An endpoint datasource of a tenant. */
export interface StoredSource extends OwnSource {
  readonly tenant: number;
  /** The key that signs calls, encrypted for this source, and the one before it. */
  readonly key: Buffer;
  readonly oldKey: Buffer | null;
  readonly oldKeyUntil: string | null;
  /** Models whose records were all read, in lower case. */
  readonly listed: readonly string[];
  readonly listing: { readonly model: string; readonly cursor: string | null } | null;
  /** Records to ask for again. */
  readonly again: readonly { readonly model: string; readonly id: string }[];
}

const COLUMNS = `s.tenant, s.id, s.endpoint, s.key, s.old_key as "oldKey", s.old_key_until as "oldKeyUntil", s.key_last4 as "keyLast4",
  s.display_name as "displayName", s.metadata::jsonb as metadata, s.created_at as "createdAt", s.cursor, s.listed, s.listing::jsonb as listing, s.again::jsonb as again,
  s.requested_at as "requestedAt", s.succeeded_at as "succeededAt", s.caught_up_at as "caughtUpAt", s.failures, s.last_error as "lastError", s.rejected`;

type Row = StoredSource & Record<string, unknown>;

export type NewSource = Pick<
  StoredSource,
  "tenant" | "id" | "endpoint" | "key" | "keyLast4" | "displayName" | "metadata"
>;

export async function insertSource(tx: Transaction, one: NewSource): Promise<void> {
  await tx.query(
    `insert into holdfast.source (tenant, id, endpoint, key, key_last4, display_name, metadata) values ($1, $2, $3, $4, $5, $6, $7)`,
    [one.tenant, one.id, one.endpoint, one.key, one.keyLast4, one.displayName, JSON.stringify(one.metadata)],
  );
}

/** The sources of a tenant, oldest first. */
export async function listSources(db: Transaction, tenant: number): Promise<StoredSource[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from holdfast.source s where s.tenant = $1 order by s.created_at, s.id`,
    [tenant],
  );
  return rows;
}

/** The sources of all tenants of this database, oldest first. */
export async function listAllSources(db: Transaction): Promise<StoredSource[]> {
  const { rows } = await db.query<Row>(`select ${COLUMNS} from holdfast.source s order by s.created_at, s.id`);
  return rows;
}

export async function readSource(db: Transaction, tenant: number, id: string): Promise<StoredSource | undefined> {
  const { rows } = await db.query<Row>({
    name: "read_source",
    text: `select ${COLUMNS} from holdfast.source s where s.tenant = $1 and s.id = $2`,
    values: [tenant, id],
  });
  return rows[0];
}

export async function deleteSource(tx: Transaction, tenant: number, id: string): Promise<void> {
  await tx.query("delete from holdfast.source where tenant = $1 and id = $2", [tenant, id]);
}

/** The key that was current signs too until the new one is known everywhere. */
export async function rotateSourceKey(
  tx: Transaction,
  { tenant, id, key, keyLast4 }: Pick<StoredSource, "tenant" | "id" | "key" | "keyLast4">,
  rotationMs: number,
): Promise<void> {
  await tx.query(
    `update holdfast.source set old_key = key, old_key_until = clock_timestamp() + make_interval(secs => $5), key = $3, key_last4 = $4,
       poll_at = clock_timestamp() where tenant = $1 and id = $2`,
    [tenant, id, key, keyLast4, rotationMs / 1_000],
  );
}

/** Sources with keys that an older master key has encrypted. */
export async function listStaleSources(db: Transaction, keyName: Buffer): Promise<StoredSource[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from holdfast.source s
     where substring(s.key for ${keyName.length}) <> $1 or substring(s.old_key for ${keyName.length}) <> $1`,
    [keyName],
  );
  return rows;
}

export async function replaceKeys(
  db: Transaction,
  { tenant, id, key, oldKey }: Pick<StoredSource, "tenant" | "id" | "key" | "oldKey">,
): Promise<void> {
  await db.query("update holdfast.source set key = $3, old_key = $4 where tenant = $1 and id = $2", [
    tenant,
    id,
    key,
    oldKey,
  ]);
}

/** What a call has shown. A null `problem` is a success. */
export async function noteCall(
  db: Transaction,
  tenant: number,
  id: string,
  { problem, rejected }: { readonly problem: string | null; readonly rejected: boolean },
): Promise<void> {
  await db.query(
    `update holdfast.source set requested_at = clock_timestamp(), rejected = $4,
       succeeded_at = case when $3::text is null then clock_timestamp() else succeeded_at end,
       failures = case when $3::text is null then 0 else failures + 1 end, last_error = $3::text
     where tenant = $1 and id = $2`,
    [tenant, id, problem, rejected],
  );
}

/** A model of a source whose records have all been read. */
export interface ListedModel {
  readonly tenant: number;
  readonly model: string;
}

export const loadListedModels = (tenants: readonly number[]): Statement<ListedModel[]> => ({
  name: "load_listed_models",
  text: "select tenant, unnest(listed) as model from holdfast.source where tenant = any($1::int[])",
  values: [tenants],
  read: (rows) => rows as ListedModel[],
});

/** How long the process that polls a source has it for itself. */
const LEASE = "30 seconds";

/** Takes the sources whose events are due to be read. */
export async function takeDueSources(db: Transaction, most: number): Promise<StoredSource[]> {
  const { rows } = await db.query<Row>(
    `update holdfast.source s set poll_at = clock_timestamp() + interval '${LEASE}'
     from (select tenant, id from holdfast.source where poll_at <= clock_timestamp() order by poll_at limit $1 for update skip locked) due
     where s.tenant = due.tenant and s.id = due.id returning ${COLUMNS}`,
    [most],
  );
  return rows;
}

/** How far the reading of a source has come. */
export async function saveProgress(
  db: Transaction,
  {
    tenant,
    id,
    cursor,
    listed,
    listing,
    again,
  }: Pick<StoredSource, "tenant" | "id" | "cursor" | "listed" | "listing" | "again">,
  { caughtUp }: { readonly caughtUp: boolean },
): Promise<void> {
  await db.query(
    `update holdfast.source set cursor = $3, listed = $4, listing = $5, again = $7, requested_at = clock_timestamp(), succeeded_at = clock_timestamp(),
       caught_up_at = case when $6 then clock_timestamp() else caught_up_at end where tenant = $1 and id = $2`,
    [tenant, id, cursor, listed, listing && JSON.stringify(listing), caughtUp, JSON.stringify(again)],
  );
}

/** Ends the lease of a process: the source is due again in so many milliseconds. */
export async function pollAgain(db: Transaction, tenant: number, id: string, inMs: number): Promise<void> {
  await db.query(
    "update holdfast.source set poll_at = clock_timestamp() + make_interval(secs => $3) where tenant = $1 and id = $2",
    [tenant, id, inMs / 1_000],
  );
}

/** Something that a source has shown cannot be a record. */
export async function noteProblem(db: Transaction, tenant: number, id: string, problem: string): Promise<void> {
  await db.query("update holdfast.source set last_error = $3 where tenant = $1 and id = $2", [tenant, id, problem]);
}
