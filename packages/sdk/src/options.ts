import type { Scope } from "./core/log/rows.ts";
import type { Upcast } from "./core/schema/old-operation.ts";
import { localError } from "./errors.ts";
import { clientLimits as limits } from "./protocol/client-limits.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";

export interface ClientOptions<S extends ModelSchema> {
  /** The models that this app knows, as `defineSchema` gave them. Other models of the server are not read. */
  readonly schema: S;
  /** Where the service is, for instance `https://sync.example.com`; with or without `/api` at its end. */
  readonly url: string;
  /**
   * Gives the token of the person who is signed in. Asked once, again at about 80 % of the token's life, and when the server refuses the one it gave. When it
   * rejects with what `fetch` throws without an answer, it is tried again like any request; with anything else, or
   * with no token, nobody is signed in (`needs-auth`).
   */
  readonly getToken: () => string | Promise<string>;
  /**
   * Name of the local store. Default: made of the address and `user`.
   */
  readonly store?: string;
  /**
   * Who is signed in: each gets a store of their own. A store belongs to one participant of one organization and
   * environment for ever; with another one's token the status is `needs-auth`, and nothing of it is shown or sent.
   */
  readonly user?: string;
  /** Names this device and person to the server; default: made once per store and kept there. */
  readonly clientId?: string;
  /** Begin as if `pause()` had been called: local rows and writes are shown, nothing is sent. */
  readonly paused?: boolean;
  /** How long a request may hear nothing before its outcome counts as unknown and it is sent again. Default 30 000. */
  readonly requestTimeoutMs?: number;
  /**
   * Whether to open a socket. Default true. Without one the log is asked for every 5 s, claims wait by long polls, and
   * of the others' claims and presence nothing is heard.
   */
  readonly stream?: boolean;
  /** Which records are read, of the models of the schema; default: all that the token covers. See `follow`. */
  readonly follow?: Scope;
  /**
   * Whether to ask the browser, with the first queued write, not to clear the store by itself. Default: where the browser
   * decides alone. Firefox asks the person instead, so there it is asked for with `true` only; `false` never asks.
   */
  readonly persist?: boolean;
  /**
   * For writes that an older version of the app has queued: by the hash of its schema (`schemaHash`), what one of its
   * operations means in this one. Writes that use nothing that has changed need none; others without one need attention.
   */
  readonly upcast?: Readonly<Record<string, Upcast>>;
}

export interface Settings<S extends ModelSchema>
  extends Required<Omit<ClientOptions<S>, "clientId" | "user" | "follow" | "persist">> {
  readonly persist: boolean | undefined;
  readonly clientId: string | undefined;
  readonly follow: Scope | undefined;
}

const CLIENT_ID = new RegExp(`^[A-Za-z0-9_-]{1,${limits.clientIdLength}}$`);

/** Fills in the defaults, and refuses at once what could only fail later. */
export function checkOptions<S extends ModelSchema>(options: ClientOptions<S>): Settings<S> {
  let { store } = options;
  const { user } = options;
  const {
    schema,
    url,
    getToken,
    clientId,
    paused = false,
    requestTimeoutMs = 30_000,
    stream = true,
    upcast = {},
    follow,
    persist,
  } = options;
  const refuse = (sentence: string) => {
    throw localError("invalid_options", sentence);
  };
  if (typeof schema?.models !== "object" || Object.keys(schema.models).length === 0)
    refuse("createClient needs a schema with at least one model: defineSchema({ models: { … } }).");
  if (!isHttpUrl(url)) refuse(`url must be an absolute http or https URL (got ${JSON.stringify(url)}).`);
  if (typeof getToken !== "function") refuse("getToken must be a function that returns a token.");
  for (const [key, name] of Object.entries({ store, user }))
    if (name !== undefined && (typeof name !== "string" || name === ""))
      refuse(`${key} must be a string that is not empty.`);
  if (clientId !== undefined && !CLIENT_ID.test(clientId))
    refuse("clientId must be 1 to 64 of A-Z, a-z, 0-9, _ and -.");
  if (!(requestTimeoutMs > 0)) refuse("requestTimeoutMs must be a number of milliseconds above 0.");
  store ??= `holdfast:${new URL(url).host}${user === undefined ? "" : `:${encodeURIComponent(user)}`}`;
  return { schema, url, getToken, store, clientId, paused, requestTimeoutMs, stream, upcast, follow, persist };
}

function isHttpUrl(url: unknown): url is string {
  try {
    return typeof url === "string" && /^https?:$/.test(new URL(url).protocol);
  } catch {
    return false;
  }
}
