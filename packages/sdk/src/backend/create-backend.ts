import { localError } from "../errors.ts";
import type { RevertBody, Reverted } from "../protocol/changes/revert.ts";
import type { CommitBody, CommitReceipt } from "../protocol/commits/commit.ts";
import type { ModelSchema, Rename, SchemaPushed } from "../protocol/schema/model-schema.ts";
import type { Capability, CapabilityBody, EphemeralKey, Identity } from "../protocol/tokens/tokens.ts";
import type {
  WebhookEndpoint,
  WebhookEndpointBody,
  WebhookEndpointPatch,
} from "../protocol/webhooks/webhook-endpoint.ts";
import { type VerifyOptions, verifyWebhook, type WebhookDelivery } from "../webhooks/verify-webhook.ts";
import { type Call, caller } from "./call.ts";
import { targetOf } from "./target.ts";

export interface BackendOptions {
  /** The address of the server: `https://sync.example.com`. */
  readonly url: string;
  /** A secret key (`sk_live_…`, `sk_test_…`): it may do everything in its organization and environment. */
  readonly key: string | undefined;
  /** How long a call may take, all attempts together, in ms. Default 10 000. */
  readonly timeoutMs?: number | undefined;
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface TokenOptions {
  /** Which records: `deck:d1`, `org:acme`. Default: `user:<user>` alone. */
  readonly syncGroups?: readonly string[] | undefined;
  /** All records of the organization, in addition to `syncGroups`. */
  readonly wholeOrganization?: boolean | undefined;
  /** What may be done: `task.*`, `comment.read`. Default: everything that people do with records. */
  readonly operations?: readonly string[] | undefined;
  /** Seconds until it expires, up to a day. Default 900. The client asks for the next one in time. */
  readonly ttlSeconds?: number | undefined;
  /** For you, in the list of tokens. */
  readonly label?: string | undefined;
}

/** Whose access ends: every token of a person, or one token by its id. */
export type Revocation =
  | { readonly user: string }
  | { readonly ephemeralKey: string }
  | { readonly capability: string };

export interface Revoked {
  /**
   * How many valid tokens of a person ended; `true` for a single token. If the answer of the first attempt was lost,
   * those that it ended are not counted.
   */
  readonly deleted: number | true;
  /** Streams that ended at once. Those of other processes of the server end within 5 s. */
  readonly activeSessionsClosed: number;
}

/** What a commit has beside its operations. */
export type BackendCommitOptions = {
  readonly [K in Exclude<keyof CommitBody, "operations">]?: CommitBody[K] | undefined;
};

/**
 * What the backend of an app does with its secret key. Every method rejects with a `SyncError`, except `webhooks.verify`.
 * Code `unavailable`: the server did not answer, and the message says if the request may have been carried out.
 */
export interface Backend {
  /** A token for the browser of a signed-in person: what your route for `getToken` answers. */
  tokenFor(user: string, options?: TokenOptions): Promise<string>;
  /** A token for an agent, with its id, scope and expiry. */
  agentToken(options: CapabilityBody): Promise<Capability & { readonly token: string }>;
  /** Ends tokens: at a sign-out, or when a person leaves. */
  revoke(which: Revocation): Promise<Revoked>;
  /**
   * Makes the models those of this schema. Pushing the same schema again changes nothing. A push that would hide data
   * is refused with `schema_has_data`, unless `force` is set.
   */
  pushSchema(
    schema: ModelSchema,
    options?: { readonly force?: boolean | undefined; readonly renames?: readonly Rename[] | undefined },
  ): Promise<SchemaPushed>;
  /**
   * Writes operations together or not at all. `clientTxId` names the commit: one of the same name is done once. Default:
   * a random name, so that repeated attempts of one call are one commit.
   */
  commit(operations: CommitBody["operations"], options?: BackendCommitOptions): Promise<CommitReceipt>;
  /** Removes every value of a record, from the log too. If it is not there, its id is in `missingIds`. */
  erase(model: string, id: string): Promise<CommitReceipt>;
  /**
   * Takes back what a run, a commit, or a part of the log has changed. What others have changed since stays, and is in
   * `kept`. With `dry` it only says what it would do.
   */
  revert(changes: RevertBody): Promise<Reverted>;
  /** The organization and environment of the key. */
  identity(): Promise<Identity>;
  readonly webhooks: WebhookEndpoints;
}

/** The endpoints that get webhooks. `createWebhookHandler` of `@holdfast/sdk/webhooks` is the other side. */
export interface WebhookEndpoints {
  /** The answer has the signing secret, which is not shown again. */
  create(options: WebhookEndpointBody): Promise<WebhookEndpoint>;
  list(): Promise<readonly WebhookEndpoint[]>;
  update(id: string, changes: WebhookEndpointPatch): Promise<WebhookEndpoint>;
  delete(id: string): Promise<void>;
  /**
   * Resolves with the events of a request that the server has signed with the endpoint's secret; rejects with a
   * `WebhookVerificationError` otherwise. It calls no server.
   */
  verify<const S extends ModelSchema = ModelSchema>(options: VerifyOptions<S>): Promise<WebhookDelivery<S>>;
}

/** Calls the server as your backend. Throws if there is no secret key, and in a browser, which must not have one. */
export function createBackend({ url, key, timeoutMs = 10_000, fetch }: BackendOptions): Backend {
  if (typeof document !== "undefined")
    throw localError(
      "invalid_options",
      "A secret key does not belong in a browser: create the backend on your server.",
    );
  const call = caller(targetOf({ url, key, timeoutMs, fetch }));
  let organization: Promise<string> | undefined;
  const identity = () => call<Identity>("readIdentity", { repeatable: true });

  /** A key never changes its organization. */
  async function wholeGroup(): Promise<string> {
    organization ??= identity().then((found) => found.organization);
    try {
      return `org:${await organization}`;
    } catch (error) {
      organization = undefined;
      throw error;
    }
  }

  return {
    tokenFor: async (user, { wholeOrganization = false, syncGroups, ...options } = {}) => {
      const groups = wholeOrganization ? [...(syncGroups ?? []), await wholeGroup()] : syncGroups;
      const body = { user: { id: user }, ...options, ...(groups && { syncGroups: groups }) };
      // A second token would do no harm: both expire.
      const { token } = await call<EphemeralKey>("createEphemeralKey", { body, repeatable: true });
      return token as string;
    },
    agentToken: (body) => call("createCapability", { body, repeatable: true }),
    revoke: (which) => revoke(call, which),
    pushSchema: ({ models }, options = {}) =>
      call("pushSchema", { body: { models, ...options }, repeatable: options.renames === undefined }),
    commit: (operations, options = {}) =>
      call("commit", { body: { ...options, ...nameOf(options), operations }, repeatable: true }),
    erase: (model, id) =>
      call("deleteRecord", {
        path: { model, id },
        query: { erase: "true" },
        repeatable: true,
        // Without a name, the second attempt of an erasure would find nothing to erase.
        idempotencyKey: crypto.randomUUID(),
      }),
    // What is taken back already has not changed since, so nothing is done twice.
    revert: (body) => call("revertChanges", { body, repeatable: true }),
    identity,
    webhooks: webhookEndpoints(call),
  };
}

/** The caller's name for a commit, under either option, or a new one. */
const nameOf = ({ clientTxId, idempotencyKey }: BackendCommitOptions): BackendCommitOptions =>
  clientTxId === undefined && idempotencyKey === undefined ? { clientTxId: crypto.randomUUID() } : {};

async function revoke(call: Call, which: Revocation): Promise<Revoked> {
  const given = Object.entries(which).filter(([, value]) => value !== undefined);
  const [kind, id = ""]: readonly string[] = given.length === 1 && given[0] ? given[0] : [];
  switch (kind) {
    case "user":
      return call("revokeEphemeralKeys", { query: { user: id }, repeatable: true });
    case "ephemeralKey":
      return call("revokeEphemeralKey", { path: { id }, repeatable: true });
    case "capability":
      return call("revokeCapability", { path: { id }, repeatable: true });
    default:
      throw localError("invalid_options", "revoke needs one of user, ephemeralKey and capability.");
  }
}

function webhookEndpoints(call: Call): WebhookEndpoints {
  return {
    // A second endpoint would get every event twice.
    create: (body) => call("createWebhookEndpoint", { body }),
    list: async () => (await call<{ data: WebhookEndpoint[] }>("listWebhookEndpoints", { repeatable: true })).data,
    update: (id, body) => call("updateWebhookEndpoint", { path: { id }, body, repeatable: true }),
    delete: async (id) =>
      void (await call("deleteWebhookEndpoint", {
        path: { id },
        repeatable: true,
        doneCode: "webhook_endpoint_not_found",
      })),
    verify: verifyWebhook,
  };
}
