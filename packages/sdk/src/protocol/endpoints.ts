import { type Static, type TSchema, Type } from "typebox";
import { BulkBody, BulkReply, CommitBody, CommitReceipt } from "./commit.ts";
import { ListEnvelope } from "./list.ts";
import { LogEntry } from "./log.ts";
import { SchemaPush, SchemaPushed, SchemaRead } from "./model-schema.ts";
import { Deleted, Organization, OrganizationBody, RevokeBody, SecretKey, SecretKeyBody } from "./operator.ts";
import type { EndpointName } from "./paths.ts";
import { BareWriteBody, CreateBody, ReadEnvelope, UpdateBody } from "./record.ts";
import {
  Capability,
  CapabilityBody,
  CapabilityDeleted,
  EphemeralKey,
  EphemeralKeyBody,
  EphemeralKeyDeleted,
  EphemeralKeysDeleted,
  Identity,
  RotateBody,
} from "./tokens.ts";

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

const tokenPage = {
  limit: { description: "1 to 100, default 20." },
  starting_after: { description: "`next_cursor` of the page before." },
} as const;

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
    reply: { 200: ListEnvelope(Type.Record(Type.String(), Type.Unknown())) },
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
  createCapability: {
    summary: "Mint a capability for an agent",
    audience: "secret_key",
    body: CapabilityBody,
    reply: { 201: Capability },
  },
  listCapabilities: {
    summary: "List capabilities, oldest first",
    audience: "secret_key",
    query: tokenPage,
    reply: { 200: ListEnvelope(Capability) },
  },
  readCapability: { summary: "Read one capability", audience: "secret_key", reply: { 200: Capability } },
  rotateCapability: {
    summary: "Replace a capability's token",
    audience: "secret_key",
    body: RotateBody,
    bodyOptional: true,
    reply: { 201: Capability },
  },
  revokeCapability: { summary: "Revoke a capability", audience: "secret_key", reply: { 200: CapabilityDeleted } },
  createEphemeralKey: {
    summary: "Mint a key for a person's browser",
    audience: "secret_key",
    body: EphemeralKeyBody,
    reply: { 201: EphemeralKey },
  },
  listEphemeralKeys: {
    summary: "List ephemeral keys, oldest first",
    audience: "secret_key",
    query: { ...tokenPage, user: { description: "Only this person's keys." } },
    reply: { 200: ListEnvelope(EphemeralKey) },
  },
  revokeEphemeralKey: {
    summary: "Revoke one ephemeral key",
    audience: "secret_key",
    reply: { 200: EphemeralKeyDeleted },
  },
  revokeEphemeralKeys: {
    summary: "Revoke every key of a person",
    audience: "secret_key",
    query: { user: { description: "Whose keys; required." } },
    reply: { 200: EphemeralKeysDeleted },
  },
  readIdentity: { summary: "Who this token is, and what it may do", audience: "token", reply: { 200: Identity } },
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
