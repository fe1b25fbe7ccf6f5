import { createHash } from "node:crypto";
import type { Field } from "@holdfast/sdk/protocol";
import pg from "pg";
import { connectTo } from "../../connection/connection.ts";
import { session } from "../../connection/pool.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { columnSql, itemsSql, searchedSql } from "./record-column.ts";

/** A field that a schema declares with an index. Tenants with the same model and field names share the index. */
export interface IndexedField {
  /** In lower case. */
  readonly model: string;
  readonly field: string;
  readonly type: Field["type"];
  /** What it is for: to filter and sort by the field, to search words in it, or to find an item of it. */
  readonly kind: "order" | "text" | "items";
}

export interface StoredIndex {
  readonly name: string;
  /** False while the index is being built, and if its build has failed. */
  readonly valid: boolean;
}

/** By kind. A release that does not know one leaves it alone. */
const PREFIXES = { order: "record_by_", text: "record_text_", items: "record_items_" } as const;
const LOCK = 4_270_004;

/**
 * Runs work on a connection without timeouts, because an index build takes as long as it takes. An abort drops the
 * connection at once; Postgres still finishes the current statement.
 */
export async function withIndexer<T>(
  url: string,
  signal: AbortSignal,
  work: (client: Transaction) => Promise<T>,
): Promise<T> {
  const options = "-c statement_timeout=0 -c lock_timeout=0 -c timezone=UTC";
  const client = await connectTo(url, { ...session, options });
  client.answers("in time");
  const { stream } = (client as unknown as { connection: { stream: { destroy(error: Error): void } } }).connection;
  const letGo = () => stream.destroy(new Error("The server is stopping."));
  signal.addEventListener("abort", letGo);
  try {
    signal.throwIfAborted();
    return await work(client);
  } finally {
    signal.removeEventListener("abort", letGo);
    await client.end().catch(() => {});
  }
}

/**
 * Whether this connection may change indexes until it closes. Uses a try-lock: a concurrent index build waits for all
 * running statements, so a process that waited for this lock in a statement would deadlock with it.
 */
export async function claimIndexing(client: Transaction): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>("select pg_try_advisory_lock($1) as mine", [LOCK]);
  return rows[0]?.mine === true;
}

/** The fields that each tenant's current schema declares with `index`. */
export async function readIndexedFields(db: Transaction): Promise<(IndexedField & { readonly tenant: number })[]> {
  const { rows } = await db.query<IndexedField & { tenant: number }>(
    `select distinct h.tenant, lower(m.key) as model, f.key as field, f.value->>'type' as type,
       case when f.value->>'index' = 'text' then 'text' when f.value->>'type' = 'array' then 'items' else 'order' end as kind
     from holdfast.head h join holdfast.model_schema s on s.tenant = h.tenant and s.version = h.schema_version
     cross join json_each(s.body->'models') m cross join json_each(m.value->'fields') f
     where f.value->>'index' in ('true', 'text') order by 1, 2, 3, 4, 5`,
  );
  return rows;
}

export async function readIndexes(db: Transaction): Promise<StoredIndex[]> {
  const { rows } = await db.query<StoredIndex & Record<string, unknown>>(
    `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = 'holdfast.record'::regclass and c.relname::text ^@ any($1::text[]) order by 1`,
    [Object.values(PREFIXES)],
  );
  return rows;
}

/** The name of a field's index, derived from its definition, so that every process computes the same name. */
export const indexName = (field: IndexedField): string =>
  PREFIXES[field.kind] + createHash("sha256").update(definitionOf(field)).digest("hex").slice(0, 16);

/** Builds an index concurrently with writes. A failed build leaves an invalid index behind. */
export async function createIndex(client: Transaction, field: IndexedField): Promise<void> {
  if (field.kind === "text") await createTextExtensions(client);
  await client.query(`create index concurrently ${indexName(field)} on holdfast.record ${definitionOf(field)}`);
}

/**
 * Creates what text indexes need. Both extensions belong to Postgres, and the owner of a database may create them.
 * Existing ones stay in their schema, and ours can be moved: the connection searches their operator classes in all of
 * them.
 */
async function createTextExtensions(client: Transaction): Promise<void> {
  for (const name of ["pg_trgm", "btree_gin"])
    await client.query(`create extension if not exists ${name} with schema holdfast`);
  await client.query(
    `select set_config('search_path', string_agg(quote_ident(nspname), ', '), false) from (
       select distinct nspname from pg_extension join pg_namespace n on n.oid = extnamespace
       where extname in ('pg_trgm', 'btree_gin')) of_extensions`,
  );
}

export async function dropIndex(client: Transaction, name: string): Promise<void> {
  await client.query(`drop index concurrently if exists holdfast.${pg.escapeIdentifier(name)}`);
}

/**
 * Updates the planner's statistics, so that it uses the index. Skips a small table: it needs no index, and a plan for
 * an empty table would scan all of it even after the table has grown.
 */
export async function analyzeRecords(client: Transaction): Promise<void> {
  const { rows } = await client.query<{ bytes: number }>("select pg_relation_size('holdfast.record') as bytes");
  if ((rows[0]?.bytes ?? 0) >= WORTH_ANALYZING) await client.query("analyze holdfast.record");
}

const WORTH_ANALYZING = 8 * 1024 * 1024;

/**
 * To filter and sort, the columns in the order in which a list reads: tenant, value, id. To search, the parts of words,
 * each with the rows that have it, and the tenants with theirs. To find items, each with the rows that have it. New rows
 * wait in a list, which makes a commit ten times cheaper; a short one, because the commit that fills it pays for all of
 * it. Writes to other models do not touch the index.
 */
function definitionOf({ kind, model, field, type }: IndexedField): string {
  const column = { kind: "field", name: field, type } as const;
  const ofModel = `where model = ${pg.escapeLiteral(model)}`;
  const waiting = "with (gin_pending_list_limit = 1024)";
  switch (kind) {
    case "order":
      return `(tenant, ${columnSql(column, pg.escapeLiteral).expression}, id) ${ofModel}`;
    case "text":
      return `using gin (tenant, ${searchedSql(column, pg.escapeLiteral)} gin_trgm_ops) ${waiting} ${ofModel}`;
    case "items":
      return `using gin (${itemsSql(field, pg.escapeLiteral)}) ${waiting} ${ofModel}`;
  }
}
