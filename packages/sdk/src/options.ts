import type { FollowScope } from "./api/followed-scope.ts";
import type { Upcast } from "./core/schema/old-operation.ts";
import { localError } from "./errors.ts";
import { clientLimits as limits } from "./protocol/client-limits.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";

export interface ClientOptions<S extends ModelSchema> {
  /** The models of this app, from `defineSchema`. Other models of the server are not read. */
  readonly schema: S;
  /** The address of the server, for example `https://sync.example.com`, with or without a final `/api`. */
  readonly url: string;
  /**
   * Returns the token of the signed-in user. Called at the start, at about 80 % of the token's life, and when the
   * server refuses the token. If it rejects with a network error of `fetch`, the client retries. If it rejects with any
   * other error or returns no token, the status becomes `needs-auth`.
   */
  readonly getToken: () => string | Promise<string>;
  /** Name of the local store. Default: derived from `url` and `user`. */
  readonly store?: string | undefined;
  /**
   * The signed-in user. Each user gets a separate store. A store belongs to one participant of one organization and
   * environment forever. In a browser, a client whose token is another owner's opens a store of that owner beside it.
   */
  readonly user?: string | undefined;
  /**
   * Whose client this is, if the app knows it before the server is asked: the organization, and the user or
   * `<kind>:<id>`. Then the client shows its rows at once, also without a network. If the server names another owner, the
   * status is `needs-auth`. Without it, the client asks the server before it shows rows.
   */
  readonly owner?: { readonly organization: string; readonly participant: string } | undefined;
  /** Identifies this device and user to the server. Default: generated once per store and kept there. */
  readonly clientId?: string | undefined;
  /** Starts as if `pause()` had been called: local rows and writes are shown, nothing is sent. */
  readonly paused?: boolean | undefined;
  /** How long a request may receive no data before its outcome counts as unknown and it is retried. Default 30 000. */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Whether to open a socket. Default true. Without one, the client polls the log every 5 s, claims wait with long
   * polls, and other participants' claims and presence are not available.
   */
  readonly stream?: boolean | undefined;
  /** Which records to read of the schema's models. Default: all that the token covers. See `follow`. */
  readonly follow?: FollowScope<S> | undefined;
  /** How many released parts of a model stay ready (see `load`). Default 20. */
  readonly releasedParts?: number | undefined;
  /** Up to how many rows of a model released parts stay. Default 20 000. */
  readonly releasedRows?: number | undefined;
  /**
   * Whether to ask the browser, at the first queued write, not to evict the store. Default: only in browsers that
   * decide without a prompt. Firefox prompts the user, so it is asked only with `true`; `false` never asks.
   */
  readonly persist?: boolean | undefined;
  /**
   * Converts queued writes of older app versions: by the hash of the older schema (`schemaHash`), a function that
   * converts one operation. Writes that use only unchanged parts of the schema need none; all others without one need
   * attention.
   */
  readonly upcast?: Readonly<Record<string, Upcast>> | undefined;
}

type Defaults = "store" | "paused" | "requestTimeoutMs" | "stream" | "upcast" | "releasedParts" | "releasedRows";

export type Settings<S extends ModelSchema> = ClientOptions<S> & {
  readonly [Key in Defaults]: Exclude<ClientOptions<S>[Key], undefined>;
};

const CLIENT_ID = new RegExp(`^[\\w-]{1,${limits.clientIdLength}}$`);

/** Fills in defaults and refuses invalid options at once. */
export function checkOptions<S extends ModelSchema>(options: ClientOptions<S>): Settings<S> {
  const { schema, url, getToken, user, clientId, owner } = options;
  let { store } = options;
  const { paused = false, requestTimeoutMs = 30_000, stream = true, upcast = {} } = options;
  const { releasedParts = 20, releasedRows = 20_000 } = options;
  const refuse = (sentence: string) => {
    throw localError("invalid_options", sentence);
  };
  if (typeof schema?.models !== "object" || Object.keys(schema.models).length === 0)
    refuse("createClient needs a schema with at least one model: defineSchema({ models: { … } }).");
  if (!isHttpUrl(url)) refuse(`url must be an absolute http or https URL, not ${JSON.stringify(url)}.`);
  if (typeof getToken !== "function") refuse("getToken must be a function.");
  for (const [key, name] of Object.entries({ store, user }))
    if (name !== undefined && (typeof name !== "string" || name === ""))
      refuse(`${key} must be a string that is not empty.`);
  if (clientId !== undefined && !CLIENT_ID.test(clientId))
    refuse("clientId must be 1 to 64 of A-Z, a-z, 0-9, _ and -.");
  if (owner !== undefined && !(isName(owner?.organization) && isName(owner?.participant)))
    refuse("owner must have an organization and a participant.");
  if (!isAmount(requestTimeoutMs) || !requestTimeoutMs) refuse("requestTimeoutMs must be above 0.");
  for (const [key, most] of Object.entries({ releasedParts, releasedRows }))
    if (!isAmount(most)) refuse(`${key} must be 0 or more.`);
  store ??= `holdfast:${new URL(url).host}${user === undefined ? "" : `:${encodeURIComponent(user)}`}`;
  return { ...options, store, paused, requestTimeoutMs, stream, upcast, releasedParts, releasedRows };
}

export const isAmount = (value: unknown): value is number => typeof value === "number" && value >= 0;

const isName = (value: unknown): boolean => typeof value === "string" && /^[^/]+$/.test(value);

function isHttpUrl(url: unknown): url is string {
  try {
    return typeof url === "string" && /^https?:$/.test(new URL(url).protocol);
  } catch {
    return false;
  }
}
