import { type Static, type TSchema, Type } from "typebox";
import { BulkBody, BulkReply, CommitBody, CommitReceipt } from "./commit.ts";
import { Datasource } from "./datasource.ts";
import { ListEnvelope } from "./list.ts";
import { LogEntry } from "./log.ts";
import { SchemaPush, SchemaPushed, SchemaRead } from "./model-schema.ts";
import { Deleted, Organization, OrganizationBody, RevokeBody, SecretKey, SecretKeyBody } from "./operator.ts";
import type { EndpointName } from "./paths.ts";
import { BareWriteBody, CreateBody, ReadEnvelope, UpdateBody } from "./record.ts";
import { Usage } from "./usage.ts";

/** Who may call: a token of the organisation, a secret key only, or the operator. */
export type Audience = "token" | "secret_key" | "operator";

export interface EndpointSchema {
  readonly summary: string;
  readonly audience: Audience;
  /** JSON body; `bodyOptional` when the route also answers without one. */
  readonly body?: TSchema;
  readonly bodyOptional?: true;
  /** Query parameters as text, each with a pattern; `repeatable` ones may come several times. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** Every other parameter is a filter by a field of the model: `filter[<field>]`, `filter[<field>][gt]`, `<field>`. */
  readonly filters?: true;
  /** Larger bodies than `limits.bodyBytes`. */
  readonly batchBody?: true;
  readonly reply: Readonly<Record<number, TSchema>>;
  /** Content type when it is not JSON. */
  readonly produces?: "application/x-ndjson";
}

export interface QueryParameter {
  readonly description: string;
  readonly repeatable?: true;
}

const model = { description: "Model name; may be repeated.", repeatable: true } as const;
const group = { description: "Sync group `<kind>:<id>`; may be repeated.", repeatable: true } as const;

/** Endpoint name → what it takes and what it answers. The same keys as `paths` and the server's handlers. */
export const endpoints = {
  createRecord: { summary: "Create a record", audience: "token", body: CreateBody, reply: { 200: CommitReceipt } },
  updateRecord: {
    summary: "Update fields of a record",
    audience: "token",
    body: UpdateBody,
    reply: { 200: CommitReceipt },
  },
  deleteRecord: {
    summary: "Delete a record",
    audience: "token",
    body: BareWriteBody,
    bodyOptional: true,
    reply: { 200: CommitReceipt },
  },
  readRecord: { summary: "Read one record", audience: "token", reply: { 200: ReadEnvelope } },
  listRecords: {
    summary: "List records",
    audience: "token",
    query: {
      limit: { description: "1 to 100, default 20." },
      order: { description: "`asc` (default) or `desc`." },
      order_by: { description: "A scalar field, `id` (default), `createdAt` or `updatedAt`." },
      starting_after: { description: "`next_cursor` of the page before." },
      state: { description: "`live` (default), `archived` or `all`." },
      ids: { description: "Comma-separated ids, up to 100." },
    },
    filters: true,
    reply: { 200: ListEnvelope(Type.Record(Type.String(), Type.Unknown())) },
  },
  readHistory: {
    summary: "List a record's log entries",
    audience: "token",
    query: {
      limit: { description: "1 to 100, default 20." },
      order: { description: "`asc` (default: oldest first) or `desc`." },
      starting_after: { description: "`next_cursor` of the page before." },
    },
    reply: { 200: ListEnvelope(LogEntry) },
  },
  archiveRecord: {
    summary: "Archive a record",
    audience: "token",
    body: BareWriteBody,
    bodyOptional: true,
    reply: { 200: CommitReceipt },
  },
  unarchiveRecord: {
    summary: "Restore an archived record",
    audience: "token",
    body: BareWriteBody,
    bodyOptional: true,
    reply: { 200: CommitReceipt },
  },
  commit: {
    summary: "Commit several operations atomically",
    audience: "token",
    body: CommitBody,
    batchBody: true,
    reply: { 200: CommitReceipt },
  },
  commitBulk: {
    summary: "Send many commits, each atomic alone",
    audience: "token",
    body: BulkBody,
    batchBody: true,
    reply: { 200: BulkReply },
  },
  readCommit: {
    summary: "Read a commit's receipt again",
    audience: "token",
    query: { participant: { description: "`<kind>:<id>` of the writer; for secret keys, absent: the caller itself." } },
    reply: { 200: CommitReceipt },
  },
  readLog: {
    summary: "Read the log of changes",
    audience: "token",
    query: {
      after: { description: "Position to read from, exclusive; default 0." },
      limit: { description: "1 to 1000 entries, default 100." },
      model,
      group,
      wait: { description: "Milliseconds to wait for news, 0 to 25000." },
    },
    reply: { 200: ListEnvelope(LogEntry) },
  },
  readSnapshot: {
    summary: "Read every record, as lines of JSON",
    audience: "token",
    query: {
      model,
      group,
      limit: { description: "Rows of this page, 1 to 10000." },
      starting_after: { description: "`next_cursor` of the page before." },
    },
    reply: { 200: Type.String() },
    produces: "application/x-ndjson",
  },
  pushSchema: {
    summary: "Push the models of this world",
    audience: "secret_key",
    body: SchemaPush,
    reply: { 200: SchemaPushed, 201: SchemaPushed },
  },
  readSchema: { summary: "Read the pushed models", audience: "token", reply: { 200: SchemaRead } },
  listDatasources: {
    summary: "List where rows live, in both environments",
    audience: "secret_key",
    reply: { 200: ListEnvelope(Datasource) },
  },
  readUsage: {
    summary: "Count what was done, day by day",
    audience: "secret_key",
    query: {
      starting_at: { description: "First UTC day, as `2026-01-31` or a date-time; default 29 days before the last." },
      ending_at: { description: "Last UTC day, inclusive; default today." },
    },
    reply: { 200: ListEnvelope(Usage) },
  },
  createOrganization: {
    summary: "Create an organisation",
    audience: "operator",
    body: OrganizationBody,
    reply: { 201: Organization },
  },
  listOrganizations: {
    summary: "List organisations",
    audience: "operator",
    reply: { 200: ListEnvelope(Organization) },
  },
  createSecretKey: {
    summary: "Mint a secret key",
    audience: "operator",
    body: SecretKeyBody,
    reply: { 201: SecretKey },
  },
  listSecretKeys: {
    summary: "List secret keys",
    audience: "operator",
    query: { organization: { description: "Only this organisation's keys." } },
    reply: { 200: ListEnvelope(SecretKey) },
  },
  revokeSecretKey: {
    summary: "Revoke a secret key",
    audience: "operator",
    body: RevokeBody,
    bodyOptional: true,
    reply: { 200: Deleted },
  },
} as const satisfies Record<EndpointName, EndpointSchema>;

type Endpoints = typeof endpoints;
export type Body<N extends EndpointName> = Endpoints[N] extends { body: infer B extends TSchema }
  ? Static<B>
  : undefined;
export type Reply<N extends EndpointName> = Static<Endpoints[N]["reply"][keyof Endpoints[N]["reply"]] & TSchema>;
