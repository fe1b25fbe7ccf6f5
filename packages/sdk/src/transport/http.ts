import { retryAfterMs } from "../core/connection/retry-after.ts";
import type { Scope } from "../core/log/rows.ts";
import type { Reply } from "../core/queue/outcome.ts";
import { reasonOf } from "../core/reason-of.ts";
import type { Asked, LogPage, Server, Snapshot, TokenSource } from "../engine/ports.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import { type ClientEndpointName, clientPaths } from "../protocol/client-paths.ts";
import type { List } from "../protocol/lists/list.ts";
import type { LogEntry } from "../protocol/log/log.ts";
import type { Exchange, ExchangeResponse } from "./exchange.ts";
import type { SaidSchema } from "./said-schema.ts";
import { readSnapshotPage, type SnapshotPage } from "./snapshot-page.ts";
import { textOf } from "./text-of.ts";
import { withoutToken } from "./token.ts";
import { areReadFacts } from "./token-facts.ts";

export interface HttpOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly timeoutMs: number;
  /** Only these models are read. */
  readonly models: readonly string[];
  readonly exchange: Exchange;
  readonly schema?: SaidSchema;
}

interface Given extends Omit<Asked, "body" | "query"> {
  readonly body?: string;
  readonly query?: URLSearchParams;
}

/** Attempts per snapshot page, so that a long snapshot does not restart because one page was cut off. */
const PAGE_TRIES = 3;

export function httpServer({ url, token, timeoutMs, models, exchange, schema }: HttpOptions): Server {
  const base = url.replace(/\/+$/, "");

  async function call<T>(
    name: ClientEndpointName,
    given: Given,
    outer: AbortSignal,
    read: (response: ExchangeResponse, onProgress: OnProgress) => Promise<T>,
  ): Promise<T | Reply> {
    // Before the request timeout starts, because `getToken` has its own limit.
    let bearer: string;
    try {
      bearer = await token.current();
    } catch (error) {
      return withoutToken(error);
    }
    return within(given.timeoutMs ?? timeoutMs, outer, async (signal, onProgress) => {
      const response = await request(name, bearer, given, signal);
      onProgress();
      if (response.status >= 200 && response.status < 300) return read(response, onProgress);
      const body = await json(response, onProgress);
      return {
        kind: "answer",
        status: response.status,
        body,
        retryAfterMs: retryAfterMs(response.retryAfter, Date.now()),
      } satisfies Reply;
    });
  }

  return {
    send: (body, signal) => call("commitBulk", { body }, signal, answered),

    request: (name, { query, body, ...rest }, signal) =>
      call(
        name,
        {
          ...rest,
          ...(query && { query: new URLSearchParams(query) }),
          ...(body && { body: JSON.stringify(body) }),
        },
        signal,
        answered,
      ),

    readLog: (after, signal, scope, limit = limits.logPageMax) => {
      const query = new URLSearchParams({ after: String(after), limit: String(limit) });
      narrow(query, scope);
      return call("readLog", { query }, signal, async (response, onProgress) =>
        logPage(await json(response, onProgress), after),
      );
    },

    async readSnapshot(at, signal, scope, limit = limits.snapshotPage): Promise<Snapshot | Reply> {
      const page = await readPage(at, signal, scope, limit);
      if (page.kind !== "page") return page;
      const { kind: _, nextCursor: cursor, ...rest } = page;
      return { kind: "snapshot", ...rest, cursor };
    },
  };

  /** Limits the read to the wanted models among those that the app knows. */
  function narrow(query: URLSearchParams, scope: Scope = {}): void {
    for (const model of scope.models ?? models) query.append("model", model);
    for (const group of scope.groups ?? []) query.append("group", group);
    if (scope.where) query.set("where", JSON.stringify(scope.where));
  }

  /** Makes one attempt. The core decides whether to retry, because it knows what is safe to send again. */
  function request(
    name: ClientEndpointName,
    bearer: string,
    { body, query, params, keepalive }: Given,
    signal: AbortSignal,
  ): Promise<ExchangeResponse> {
    const [method, pattern] = clientPaths[name];
    const path = pattern.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(params?.[key] ?? ""));
    const search = query?.toString();
    const url = `${base}${path}${search ? `?${search}` : ""}`;
    const asked = { method, url, token: bearer, schema: schema?.now, body, keepalive: keepalive === true };
    return exchange({ ...asked, call: { name, params, query: search } }, signal);
  }

  /** Retries a page that was cut off, with a smaller size, so that a long snapshot does not restart. */
  async function readPage(
    cursor: string | null,
    signal: AbortSignal,
    scope: Scope | undefined,
    limit: number,
  ): Promise<SnapshotPage | Reply> {
    const query = new URLSearchParams();
    narrow(query, scope);
    if (cursor !== null) query.set("starting_after", cursor);
    let page: SnapshotPage | Reply = INCOMPLETE;
    for (let tries = 0; tries < PAGE_TRIES && isCut(page) && !signal.aborted; tries++) {
      query.set("limit", String(Math.ceil(limit / 2 ** tries)));
      page = await call("readSnapshot", { query }, signal, async (response, onProgress) => {
        if ("parsed" in response.body) return INCOMPLETE;
        return (await readSnapshotPage(response.body, onProgress)) ?? INCOMPLETE;
      });
    }
    return page;
  }
}

/** Cut off, but not by a timeout. After a timeout, the core decides how to continue. */
const isCut = (page: SnapshotPage | Reply): boolean => page.kind === "silence" && !page.timedOut;

const answered = async (response: ExchangeResponse, onProgress: OnProgress): Promise<Reply> => ({
  kind: "answer",
  status: response.status,
  body: await json(response, onProgress),
});

const INCOMPLETE: Reply = {
  kind: "silence",
  timedOut: false,
  cut: true,
  reason: "A snapshot page ended early.",
};

/** Reports that data of the response has arrived. */
type OnProgress = () => void;

/** A slow body is abandoned after this multiple of the silence limit. */
const LONGEST = 20;

/**
 * Runs a request including its body, and abandons it if no data arrives for a time: a slow connection may take long, a
 * dead one may not. The timer runs beside the request, because a fetch that hangs after sleep may ignore its abort
 * signal. Each request has its own AbortController, because the platform adds listeners to the signal, which would
 * accumulate on a signal that lives as long as the client.
 */
async function within<T>(
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal, onProgress: OnProgress) => Promise<T>,
): Promise<T | Reply> {
  if (outer.aborted) return { kind: "silence", timedOut: false, reason: "The request was aborted." };
  const inner = new AbortController();
  const begun = performance.now();
  let heard: number | undefined;
  let stop: (reply: Reply) => void = () => {};
  const stopped = new Promise<Reply>((resolve) => {
    stop = (reply) => {
      resolve(reply);
      inner.abort();
    };
  });
  /** One timer for both limits. It is not moved for each piece of data: it looks when the last one came. */
  const look = () => {
    const now = performance.now();
    const [silentUntil, end] = [(heard ?? begun) + ms, begun + LONGEST * ms];
    const until = Math.min(silentUntil, end);
    if (now < until) {
      timer = setTimeout(look, until - now);
      return;
    }
    const reason =
      now >= end
        ? `The response was incomplete after ${LONGEST * ms} ms.`
        : heard === undefined
          ? `No response within ${ms} ms.`
          : `The response stalled for ${ms} ms.`;
    stop({ kind: "silence", timedOut: true, reason });
  };
  let timer = setTimeout(look, ms);
  const onProgress = () => {
    heard = performance.now();
  };
  const giveUp = () => stop({ kind: "silence", timedOut: false, reason: "The request was aborted." });
  outer.addEventListener("abort", giveUp, { once: true });
  try {
    const done = work(inner.signal, onProgress).catch(
      (error: unknown): Reply => ({
        kind: "silence",
        timedOut: false,
        cut: heard !== undefined,
        reason: reasonOf(error),
      }),
    );
    return await Promise.race([done, stopped]);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", giveUp);
  }
}

/** A body that is not JSON does not come from our server: the core gets `undefined` and decides by the status. */
async function json({ body }: ExchangeResponse, onProgress: OnProgress): Promise<unknown> {
  if ("parsed" in body) return body.parsed;
  let text = "";
  for await (const piece of textOf(body, onProgress)) text += piece;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const UNREADABLE_LOG: Reply = {
  kind: "silence",
  timedOut: false,
  reason: "The response of the log could not be parsed.",
};

function logPage(body: unknown, after: number): LogPage | Reply {
  const said = (body ?? {}) as Partial<Record<keyof List<unknown>, unknown>>;
  const { data, stamp, logId, rowsVersion, owner, viewHash, models, recordBytes, serverTime } = said;
  const to = said.next_cursor === null || said.next_cursor === undefined ? Number(stamp) : Number(said.next_cursor);
  const facts = { rowsVersion, owner, viewHash, models, recordBytes, serverTime };
  if (!Array.isArray(data) || typeof stamp !== "number" || typeof logId !== "string" || !Number.isSafeInteger(to))
    return UNREADABLE_LOG;
  if (!areReadFacts(facts)) return UNREADABLE_LOG;
  const entries = data as LogEntry[];
  return { kind: "log", logId, ...facts, stamp, from: after, to: Math.max(to, after), entries };
}
