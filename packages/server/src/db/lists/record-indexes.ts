import { createHash } from "node:crypto";
import type { Field } from "@holdfast/sdk/protocol";
import pg from "pg";
import { connectTo } from "../connection/connection.ts";
import { session } from "../connection/pool.ts";
import type { Transaction } from "../connection/transaction.ts";
import { columnSql } from "./record-column.ts";

/** A field that a schema declares with an index. Tenants with the same model and field names share the index. */
export interface IndexedField {
  /** In lower case. */
  readonly model: string;
  readonly field: string;
  readonly type: Field["type"];
}

export interface StoredIndex {
  readonly name: string;
  /** False while the index is being built, and if its build has failed. */
  readonly valid: boolean;
}

const PREFIX = "record_by_";
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
    `select distinct h.tenant, lower(m.key) as model, f.key as field, f.value->>'type' as type
     from holdfast.head h join holdfast.model_schema s on s.tenant = h.tenant and s.version = h.schema_version
     cross join json_each(s.body->'models') m cross join json_each(m.value->'fields') f
     where f.value->>'index' = 'true' order by 1, 2, 3, 4`,
  );
  return rows;
}

export async function readIndexes(db: Transaction): Promise<StoredIndex[]> {
  const { rows } = await db.query<StoredIndex & Record<string, unknown>>(
    `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = 'holdfast.record'::regclass and starts_with(c.relname, $1) order by 1`,
    [PREFIX],
  );
  return rows;
}

/** The name of a field's index, derived from its definition, so that every process computes the same name. */
export const indexName = (field: IndexedField): string =>
  PREFIX + createHash("sha256").update(definitionOf(field)).digest("hex").slice(0, 16);

/** Builds an index concurrently with writes. A failed build leaves an invalid index behind. */
export async function createIndex(client: Transaction, field: IndexedField): Promise<void> {
  await client.query(`create index concurrently ${indexName(field)} on holdfast.record ${definitionOf(field)}`);
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

/** The columns in the order in which a list reads: tenant, value, id. Writes to other models do not touch the index. */
function definitionOf({ model, field, type }: IndexedField): string {
  const { expression } = columnSql({ kind: "field", name: field, type }, pg.escapeLiteral);
  return `(tenant, ${expression}, id) where model = ${pg.escapeLiteral(model)}`;
}
