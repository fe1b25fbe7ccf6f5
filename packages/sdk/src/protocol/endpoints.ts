import { type Static, type TSchema, Type } from "typebox";
import {
  Claim,
  ClaimBody,
  ClaimList,
  ClaimOrderBody,
  ClaimRelease,
  ClaimRenewBody,
  ClaimTargetBody,
} from "./claims/claim.ts";
import { BulkBody, BulkReply, CommitBody, CommitReceipt } from "./commits/commit.ts";
import { Datasource } from "./datasources/datasource.ts";
import type { ErrorCode } from "./errors/error-codes.ts";
import { limits } from "./limits.ts";
import { ListEnvelope } from "./lists/list.ts";
import { LogEntry } from "./log/log.ts";
import { BareWriteBody, CreateBody, ReadEnvelope, UpdateBody } from "./log/record.ts";
import {
  Deleted,
  Organization,
  OrganizationBody,
  RevokeBody,
  SecretKey,
  SecretKeyBody,
} from "./organizations/operator.ts";
import { Usage } from "./organizations/usage.ts";
import type { EndpointName } from "./paths.ts";
import { SchemaPush, SchemaPushed, SchemaRead } from "./schema/model-schema.ts";
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
} from "./tokens/tokens.ts";
import {
  Skip,
  WebhookAttempt,
  WebhookDeleted,
  WebhookEndpoint,
  WebhookEndpointBody,
  WebhookEndpointPatch,
} from "./webhooks/webhook-endpoint.ts";

/** Who may call: a token of the organization, a secret key only, or the operator. */
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
  /** Codes that it answers with, beyond those of every route like it. */
  readonly errors?: readonly ErrorCode[];
  /** Content type when it is not JSON. */
  readonly produces?: "application/x-ndjson";
}

export interface QueryParameter {
  readonly description: string;
  readonly repeatable?: true;
  /** What it may be, of each one that comes; absent: any text. It is sent as text all the same. */
  readonly schema?: TSchema;
}

const model = { description: "Model name; may be repeated.", repeatable: true } as const;
const group = {
  description: "Sync group `<kind>:<id>`; may be repeated.",
  repeatable: true,
  schema: Type.String({ pattern: "^[a-z][a-z0-9_]*:[^\\s]{1,200}$" }),
} as const;
const wholeNumber = (minimum: number, maximum: number, absent: number) =>
  Type.Integer({ minimum, maximum, default: absent });

const tokenPage = {
  limit: { description: "1 to 100, default 20.", schema: wholeNumber(1, limits.listMax, limits.listDefault) },
  starting_after: { description: "`next_cursor` of the previous page." },
} as const;

const claimErrors = [
  "record_not_found",
  "unknown_column",
  "invalid_ttl",
  "claim_conflict",
  "claim_deadlock",
  "claim_queue_full",
  "too_many_claims",
  "preempt_denied",
] as const;

const webhookUrlErrors = ["invalid_url", "blocked_address"] as const;

/** Endpoint name → what it takes and what it answers. The same keys as `paths` and the server's handlers. */
export const endpoints = {
  createRecord: {
    summary: "Create a record",
    audience: "token",
    body: CreateBody,
    reply: { 200: CommitReceipt },
    errors: ["already_exists", "id_mismatch", "invalid_sync_group"],
  },
  updateRecord: {
    summary: "Update fields of a record",
    audience: "token",
    body: UpdateBody,
    reply: { 200: CommitReceipt },
    errors: ["id_mismatch", "empty_update", "invalid_sync_group"],
  },
  deleteRecord: {
    summary: "Delete a record, or erase all that is kept of it",
    audience: "token",
    query: {
      erase: {
        description:
          "`true` erases the record: its values are also removed from the log, its history, receipts and undelivered webhooks. Needs a secret key, or a token whose operations name `<model>.erase`.",
        schema: Type.Boolean({ default: false }),
      },
    },
    body: BareWriteBody,
    bodyOptional: true,
    reply: { 200: CommitReceipt },
  },
  readRecord: {
    summary: "Read one record",
    audience: "token",
    reply: { 200: ReadEnvelope },
    errors: ["record_not_found"],
  },
  listRecords: {
    summary: "List records",
    audience: "token",
    query: {
      limit: { description: "1 to 100, default 20.", schema: wholeNumber(1, limits.listMax, limits.listDefault) },
      order: {
        description: "`asc` (default) or `desc`.",
        schema: Type.Union([Type.Literal("asc"), Type.Literal("desc")], { default: "asc" }),
      },
      order_by: {
        description: "A scalar field, `id` (default), `createdAt` or `updatedAt`.",
        schema: Type.String({ default: "id" }),
      },
      starting_after: { description: "`next_cursor` of the previous page." },
      state: {
        description: "`live` (default), `archived` or `all`.",
        schema: Type.Union([Type.Literal("live"), Type.Literal("archived"), Type.Literal("all")], { default: "live" }),
      },
      ids: {
        description: "Comma-separated ids, up to 100.",
        schema: Type.String({ pattern: "^[A-Za-z0-9_.:~-]{1,255}(,[A-Za-z0-9_.:~-]{1,255}){0,99}$" }),
      },
    },
    filters: true,
    reply: { 200: ListEnvelope(Type.Record(Type.String(), Type.Unknown())) },
  },
  readHistory: {
    summary: "List a record's log entries",
    audience: "token",
    query: {
      limit: { description: "1 to 100, default 20.", schema: wholeNumber(1, limits.listMax, limits.listDefault) },
      order: {
        description: "`asc` (default, oldest first) or `desc`.",
        schema: Type.Union([Type.Literal("asc"), Type.Literal("desc")], { default: "asc" }),
      },
      starting_after: { description: "`next_cursor` of the previous page." },
    },
    reply: { 200: ListEnvelope(LogEntry) },
    errors: ["record_not_found"],
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
    errors: [
      "too_many_operations",
      "commit_too_large",
      "already_exists",
      "id_mismatch",
      "empty_update",
      "invalid_sync_group",
    ],
  },
  commitBulk: {
    summary: "Send several commits, each atomic by itself",
    audience: "token",
    body: BulkBody,
    batchBody: true,
    reply: { 200: BulkReply },
    errors: ["too_many_operations"],
  },
  readCommit: {
    summary: "Read a commit's receipt again",
    audience: "token",
    query: {
      participant: {
        description: "`<kind>:<id>` of the writer, for secret keys; absent: the caller.",
        schema: Type.String({ pattern: "^(user|agent|system):[^\\s]{1,255}$" }),
      },
    },
    reply: { 200: CommitReceipt },
    errors: ["commit_not_found", "secret_key_required"],
  },
  readLog: {
    summary: "Read the log of changes",
    audience: "token",
    query: {
      after: {
        description: "Position to read from, exclusive; default 0.",
        schema: wholeNumber(0, Number.MAX_SAFE_INTEGER, 0),
      },
      limit: {
        description: "1 to 1000 entries, default 100.",
        schema: wholeNumber(1, limits.logPageMax, limits.logPage),
      },
      model,
      group,
      wait: {
        description: "Milliseconds to wait for new entries, 0 to 25000.",
        schema: wholeNumber(0, limits.logWaitMs, 0),
      },
    },
    reply: { 200: ListEnvelope(LogEntry) },
    errors: ["read_at_in_future", "resync_required", "unknown_model"],
  },
  readSnapshot: {
    summary: "Read all records, as lines of JSON",
    audience: "token",
    query: {
      model,
      group,
      limit: {
        description: "Rows of this page, 1 to 10000.",
        schema: wholeNumber(1, limits.snapshotPage, limits.snapshotPage),
      },
      starting_after: { description: "`next_cursor` of the previous page." },
    },
    reply: { 200: Type.String() },
    errors: ["unknown_model"],
    produces: "application/x-ndjson",
  },
  acquireClaim: {
    summary: "Claim a record, or wait in its queue",
    audience: "token",
    body: ClaimBody,
    bodyOptional: true,
    reply: { 200: Claim, 201: Claim, 202: Claim },
    errors: claimErrors,
  },
  releaseRecord: {
    summary: "Release your claims on a record",
    audience: "token",
    query: {
      client_id: {
        description: "Only claims of this device; absent: all claims of the caller.",
        schema: Type.String({ pattern: `^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$` }),
      },
    },
    reply: { 200: ClaimRelease },
  },
  reorderClaims: {
    summary: "Reorder the claim queue of a record",
    audience: "token",
    body: ClaimOrderBody,
    reply: { 200: ClaimList },
    errors: ["record_not_found", "claim_not_found"],
  },
  acquireClaimOn: {
    summary: "Claim a record named in the body",
    audience: "token",
    body: ClaimTargetBody,
    reply: { 200: Claim, 201: Claim, 202: Claim },
    errors: [...claimErrors, "unknown_model", "invalid_id"],
  },
  listClaims: {
    summary: "List the holders of a record and the claims that wait for it",
    audience: "token",
    query: {
      model: { description: "Model name; required." },
      id: { description: "Record id; required." },
    },
    reply: { 200: ClaimList },
    errors: ["missing_field", "unknown_model", "invalid_id", "record_not_found"],
  },
  listOwnClaims: {
    summary: "List the claims that the caller holds or waits for",
    audience: "token",
    query: {
      limit: { description: "1 to 100, default 20.", schema: wholeNumber(1, limits.listMax, limits.listDefault) },
      starting_after: { description: "`next_cursor` of the previous page." },
    },
    reply: { 200: ListEnvelope(Claim) },
  },
  readClaim: {
    summary: "Read a claim, or wait until it changes",
    audience: "token",
    query: {
      wait: {
        description: "Milliseconds to wait while the claim is queued, 0 to 25000. Shows that the waiter is alive.",
        schema: wholeNumber(0, limits.claimWaitMs, 0),
      },
    },
    reply: { 200: Claim },
    errors: ["claim_not_found"],
  },
  renewClaim: {
    summary: "Renew a claim, or show that its waiter is alive",
    audience: "token",
    body: ClaimRenewBody,
    bodyOptional: true,
    reply: { 200: Claim },
    errors: ["claim_not_found", "not_claim_holder", "claim_lost", "invalid_ttl"],
  },
  releaseClaim: {
    summary: "Release a claim, or leave its queue",
    audience: "token",
    reply: { 200: ClaimRelease },
    errors: ["claim_not_found", "not_claim_holder"],
  },
  pushSchema: {
    summary: "Push the models of this tenant",
    audience: "secret_key",
    body: SchemaPush,
    reply: { 200: SchemaPushed, 201: SchemaPushed },
    errors: ["invalid_schema", "schema_incompatible", "schema_busy"],
  },
  createWebhookEndpoint: {
    summary: "Register a webhook endpoint",
    audience: "secret_key",
    body: WebhookEndpointBody,
    reply: { 201: WebhookEndpoint },
    errors: [...webhookUrlErrors, "unknown_model", "read_at_in_future", "resync_required", "too_many_endpoints"],
  },
  listWebhookEndpoints: {
    summary: "List webhook endpoints, oldest first",
    audience: "secret_key",
    reply: { 200: ListEnvelope(WebhookEndpoint) },
  },
  readWebhookEndpoint: {
    summary: "Read one webhook endpoint",
    audience: "secret_key",
    reply: { 200: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found"],
  },
  updateWebhookEndpoint: {
    summary: "Change a webhook endpoint's address or subscription",
    audience: "secret_key",
    body: WebhookEndpointPatch,
    reply: { 200: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found", ...webhookUrlErrors, "unknown_model"],
  },
  deleteWebhookEndpoint: {
    summary: "Remove a webhook endpoint",
    audience: "secret_key",
    reply: { 200: WebhookDeleted },
    errors: ["webhook_endpoint_not_found"],
  },
  rollWebhookSecret: {
    summary: "Replace a webhook endpoint's signing secret",
    audience: "secret_key",
    reply: { 201: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found"],
  },
  enableWebhookEndpoint: {
    summary: "Resume deliveries to an endpoint, from its cursor and at once",
    audience: "secret_key",
    reply: { 201: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found"],
  },
  disableWebhookEndpoint: {
    summary: "Stop delivering to an endpoint",
    audience: "secret_key",
    reply: { 201: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found"],
  },
  testWebhookEndpoint: {
    summary: "Send an endpoint a test event",
    audience: "secret_key",
    reply: { 201: WebhookAttempt },
    errors: ["webhook_endpoint_not_found", "endpoint_busy"],
  },
  skipWebhookEvents: {
    summary: "Skip events that an endpoint does not accept",
    audience: "secret_key",
    body: Skip,
    reply: { 201: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found", "read_at_in_future"],
  },
  listWebhookAttempts: {
    summary: "List delivery attempts of an endpoint, newest first",
    audience: "secret_key",
    query: tokenPage,
    reply: { 200: ListEnvelope(WebhookAttempt) },
    errors: ["webhook_endpoint_not_found", "invalid_cursor"],
  },
  listDatasources: {
    summary: "List the datasources of both environments",
    audience: "secret_key",
    reply: { 200: ListEnvelope(Datasource) },
  },
  readUsage: {
    summary: "Read the usage of each day",
    audience: "secret_key",
    query: {
      starting_at: { description: "First UTC day, as `2026-01-31` or a date-time; default 29 days before the last." },
      ending_at: { description: "Last UTC day, inclusive; default today." },
    },
    reply: { 200: ListEnvelope(Usage) },
  },
  readSchema: {
    summary: "Read the pushed models",
    audience: "token",
    reply: { 200: SchemaRead },
    errors: ["schema_not_found"],
  },
  createCapability: {
    summary: "Create a capability for an agent",
    audience: "secret_key",
    body: CapabilityBody,
    reply: { 201: Capability },
    errors: ["narrow_scope_required", "invalid_participant_kind", "invalid_sync_group"],
  },
  listCapabilities: {
    summary: "List capabilities, oldest first",
    audience: "secret_key",
    query: tokenPage,
    reply: { 200: ListEnvelope(Capability) },
    errors: ["invalid_cursor"],
  },
  readCapability: {
    summary: "Read one capability",
    audience: "secret_key",
    reply: { 200: Capability },
    errors: ["capability_not_found"],
  },
  rotateCapability: {
    summary: "Replace a capability's token",
    audience: "secret_key",
    body: RotateBody,
    bodyOptional: true,
    reply: { 201: Capability },
    errors: ["capability_not_found"],
  },
  revokeCapability: {
    summary: "Revoke a capability",
    audience: "secret_key",
    reply: { 200: CapabilityDeleted },
    errors: ["capability_not_found"],
  },
  createEphemeralKey: {
    summary: "Create a key for a person's browser",
    audience: "secret_key",
    body: EphemeralKeyBody,
    reply: { 201: EphemeralKey },
    errors: ["narrow_scope_required", "invalid_sync_group"],
  },
  listEphemeralKeys: {
    summary: "List ephemeral keys, oldest first",
    audience: "secret_key",
    query: { ...tokenPage, user: { description: "Only this person's keys." } },
    reply: { 200: ListEnvelope(EphemeralKey) },
    errors: ["invalid_cursor"],
  },
  revokeEphemeralKey: {
    summary: "Revoke one ephemeral key",
    audience: "secret_key",
    reply: { 200: EphemeralKeyDeleted },
    errors: ["ephemeral_key_not_found"],
  },
  revokeEphemeralKeys: {
    summary: "Revoke every key of a person",
    audience: "secret_key",
    query: { user: { description: "The person's id; required." } },
    reply: { 200: EphemeralKeysDeleted },
    errors: ["missing_field"],
  },
  readIdentity: { summary: "Read the token's identity and permissions", audience: "token", reply: { 200: Identity } },
  createOrganization: {
    summary: "Create an organization",
    audience: "operator",
    body: OrganizationBody,
    reply: { 201: Organization },
  },
  listOrganizations: {
    summary: "List organizations",
    audience: "operator",
    reply: { 200: ListEnvelope(Organization) },
  },
  createSecretKey: {
    summary: "Create a secret key",
    audience: "operator",
    body: SecretKeyBody,
    reply: { 201: SecretKey },
    errors: ["organization_not_found"],
  },
  listSecretKeys: {
    summary: "List secret keys",
    audience: "operator",
    query: { organization: { description: "Only this organization's keys." } },
    reply: { 200: ListEnvelope(SecretKey) },
  },
  revokeSecretKey: {
    summary: "Revoke a secret key",
    audience: "operator",
    body: RevokeBody,
    bodyOptional: true,
    reply: { 200: Deleted },
    errors: ["secret_key_not_found"],
  },
} as const satisfies Record<EndpointName, EndpointSchema>;

type Endpoints = typeof endpoints;
export type Body<N extends EndpointName> = Endpoints[N] extends { body: infer B extends TSchema }
  ? Static<B>
  : undefined;
export type Reply<N extends EndpointName> = Static<Endpoints[N]["reply"][keyof Endpoints[N]["reply"]] & TSchema>;
