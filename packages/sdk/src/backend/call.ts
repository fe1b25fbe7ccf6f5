import ky, { type KyInstance } from "ky";
import { retryAfterMs } from "../core/connection/retry-after.ts";
import { knownFailure } from "../core/queue/known-failure.ts";
import { readFailure } from "../core/queue/read-failure.ts";
import { localError, SyncError } from "../errors.ts";
import type { ErrorCode } from "../protocol/errors/error-codes.ts";
import { headers } from "../protocol/headers.ts";
import { type EndpointName, paths } from "../protocol/paths.ts";
import { type Attempt, isUnsure, pauseAfter } from "./attempt.ts";

export interface CallOptions {
  /** Values of the path's parameters, by name. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Doing it twice is no different from doing it once: it is tried again when the outcome is unknown. */
  readonly repeatable?: boolean;
  /** The server does what has this name once, and repeats its receipt. */
  readonly idempotencyKey?: string;
  /** After an attempt of unknown outcome, this refusal says that the attempt was carried out. */
  readonly doneCode?: ErrorCode;
}

/** Resolves with the answer; undefined if only a refusal with `doneCode` says that it was done. */
export type Call = <Answer>(endpoint: EndpointName, options?: CallOptions) => Promise<Answer>;

export interface Target {
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: string;
  /** For a call with all its attempts. */
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch | undefined;
}

/** Calls the server with a secret key. Rejects with a `SyncError`. */
export function caller(target: Target): Call {
  const client = ky.create({
    headers: { authorization: `Bearer ${target.key}` },
    // `attempt.ts` decides about retries. ky's timeout ends at the headers, and the one below covers the body too.
    retry: 0,
    timeout: false,
    throwHttpErrors: false,
    // A redirect would send the key to another address.
    redirect: "manual",
    ...(target.fetch && { fetch: target.fetch }),
  });
  return async <Answer>(endpoint: EndpointName, options: CallOptions = {}) =>
    (await attempts(client, target, requestOf(target.url, endpoint, options), options)) as Answer;
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly body: string | undefined;
  readonly idempotencyKey: string | undefined;
}

async function attempts(
  client: KyInstance,
  { url, key, timeoutMs }: Target,
  request: Request,
  { repeatable = false, doneCode }: CallOptions,
): Promise<unknown> {
  const endsAt = performance.now() + timeoutMs;
  let mayBeDone = false;
  for (let number = 1; ; number++) {
    const attempt = await attemptWithin(endsAt - performance.now(), (signal) => send(client, request, signal));
    const pauseMs = pauseAfter(attempt, {
      number,
      repeatable,
      leftMs: endsAt - performance.now(),
      roll: Math.random(),
    });
    if (pauseMs === undefined) {
      const outcome = read(attempt, url, key);
      if (!(outcome instanceof SyncError)) return outcome;
      if (mayBeDone && outcome.code === doneCode) return undefined;
      throw outcome;
    }
    mayBeDone ||= isUnsure(attempt);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function requestOf(base: string, endpoint: EndpointName, options: CallOptions): Request {
  const [method, template] = paths[endpoint];
  const path = template.replace(/:(\w+)/g, (_, name: string) => segment(name, options.path?.[name]));
  const query = options.query ? `?${new URLSearchParams(options.query)}` : "";
  return {
    method,
    url: `${base}${path}${query}`,
    body: options.body && serialized(options.body),
    idempotencyKey: options.idempotencyKey,
  };
}

/** Addresses drop the segments "." and "..", so these would name another endpoint; so would an empty one. */
function segment(name: string, value: unknown): string {
  const encoded = typeof value === "string" ? encodedOrNot(value) : undefined;
  if (encoded !== undefined && !["", ".", ".."].includes(encoded)) return encoded;
  const message = `The ${name} must be a string that a URL path can contain (got ${String(JSON.stringify(value))}).`;
  throw new SyncError(knownFailure("invalid_id", message, { param: name }));
}

/** Undefined: half of a surrogate pair has no encoding. */
function encodedOrNot(value: string): string | undefined {
  try {
    return encodeURIComponent(value);
  } catch {
    return undefined;
  }
}

function serialized(body: object): string {
  try {
    return JSON.stringify(body, finite);
  } catch (error) {
    throw localError("invalid_options", `The arguments cannot be sent as JSON: ${messageOf(error)}.`);
  }
}

/** JSON would make it null, which the server takes for left out. */
function finite(key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`${key} is ${value}`);
  return value;
}

/**
 * Runs a request including its body, and abandons it after this time. The timer runs beside the request, because not
 * every `fetch` obeys its signal.
 */
async function attemptWithin(ms: number, work: (signal: AbortSignal) => Promise<Attempt>): Promise<Attempt> {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Attempt>((resolve) => {
    timer = setTimeout(() => {
      resolve({ kind: "silence", reason: "did not answer in time" });
      abort.abort();
    }, ms);
  });
  try {
    return await Promise.race([work(abort.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function send(client: KyInstance, request: Request, signal: AbortSignal): Promise<Attempt> {
  const { method, url, body, idempotencyKey } = request;
  try {
    const response = await client(url, {
      method,
      signal,
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { [headers.idempotencyKey]: idempotencyKey }),
      },
      ...(body !== undefined && { body }),
    });
    const location = response.headers.get("location");
    return {
      kind: "answer",
      // Some runtimes hide the status of a redirect.
      status: response.type === "opaqueredirect" ? 302 : response.status,
      body: parsed(await response.text()),
      retryAfterMs: retryAfterMs(response.headers.get(headers.retryAfter), Date.now()),
      location: location !== null && URL.canParse(location, url) ? new URL(location, url).href : undefined,
    };
  } catch (error) {
    return { kind: "silence", reason: `could not be reached: ${messageOf(error)}`, cause: error };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** `fetch` says "fetch failed", and its cause says why. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

const NOT_KNOWN = "It is not known whether the server carried out the request.";

/** The answer of the server, or the error that the call rejects with. */
function read(attempt: Attempt, url: string, key: string): unknown {
  if (attempt.kind === "silence") {
    const message = `${url} ${attempt.reason.replace(/\.$/, "")}. ${NOT_KNOWN}`.replaceAll(key, "sk_…");
    return new SyncError(knownFailure("unavailable", message, { status: undefined }), { cause: attempt.cause });
  }
  const { status, body, location } = attempt;
  if (status >= 200 && status < 300 && isAnswer(body)) return body;
  const failure = status >= 400 ? readFailure(body, status) : undefined;
  if (failure) return new SyncError(failure);
  if (status >= 300 && status < 400) {
    const message = `${url} redirects to ${location ?? "another address"}, and the key is not sent there: use the server's own address.`;
    return new SyncError(knownFailure("unavailable", message, { status, then: "fix" }));
  }
  const isPassing = status === 429 || status >= 500;
  const message = `${url} answered ${status}, but not as Holdfast does: is it the server's address?${status >= 500 ? ` ${NOT_KNOWN}` : ""}`;
  return new SyncError(knownFailure("unavailable", message, { status, ...(!isPassing && { then: "fix" }) }));
}

/** Every answer of the server says what it is. */
const isAnswer = (body: unknown): boolean =>
  typeof body === "object" && body !== null && typeof (body as { object?: unknown }).object === "string";
