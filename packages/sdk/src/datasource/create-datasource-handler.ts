import {
  type SourceAnswers,
  type SourceCall,
  type SourceCommit,
  type SourceRecord,
  type SourceResult,
  sourceLimits,
} from "../protocol/datasources/source-calls.ts";
import { webhookLimits } from "../protocol/webhooks/webhook-limits.ts";
import { type Answer, failed, refusal, refuse, wrongMethod } from "../webhooks/answer.ts";
import { answerByNode, arrivedByNode, type NodeRequest, type NodeResponse } from "../webhooks/node-request.ts";
import { bytesOf, isRawBody } from "../webhooks/raw-body.ts";
import type { Arrived } from "../webhooks/receive.ts";
import { keysOf, type Secrets } from "../webhooks/secret.ts";
import { checkSignature } from "../webhooks/signature.ts";
import { WebhookVerificationError } from "../webhooks/verification-error.ts";
import { arrivedByFetch, asResponse } from "../webhooks/web-request.ts";
import { CommitRefusedError } from "./commit-refused-error.ts";

/** A record as the store has it after a commit. Null: it does not exist. */
export interface CommittedRecord {
  readonly model: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export interface ListPage {
  readonly records: readonly SourceRecord[];
  /** Where the next page begins. Null: this is the last one. */
  readonly cursor: string | null;
}

export interface EventPage {
  /** Records that changed, in any order, also those that a `commit` changed. */
  readonly events: readonly { readonly model: string; readonly id: string }[];
  /** Up to here. The next call gets it back. */
  readonly cursor: string | null;
  /** Whether there are more. */
  readonly more?: boolean;
}

/** Everything a store has to do. Models have the names of the schema. */
export interface DatasourceHandlerOptions {
  /** The `signingKey` of the registration; several during a rotation. */
  readonly signingKey: Secrets;
  /**
   * Writes a commit: all of it or nothing, and only once for each `clientTxId`, however often it comes. Keep the
   * `clientTxId` in the same transaction as the records. Returns what the store made of the records, if that is not what
   * was asked for. Throw a `CommitRefusedError` to refuse it.
   */
  readonly commit: (
    commit: SourceCommit,
    // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement fits
  ) => Promise<readonly CommittedRecord[] | undefined | void>;
  /** The records with these ids, as they are now. Those that do not exist are left out. */
  readonly load: (model: string, ids: readonly string[]) => Promise<readonly SourceRecord[]>;
  /** Up to `limit` records of a model after the cursor; null: from the first one. */
  readonly list: (model: string, page: { cursor: string | null; limit: number }) => Promise<ListPage>;
  /** Which records changed after the cursor; null: since the beginning. About `limit` of them. */
  readonly events: (page: { cursor: string | null; limit: number }) => Promise<EventPage>;
  /** Called with errors of the functions above, and with misconfigurations. Default: `console.error`. */
  readonly onError?: ((error: unknown, call: SourceCall | undefined) => unknown) | undefined;
  /** How far a call's timestamp may differ from this machine's clock. Default: 5 minutes. */
  readonly toleranceMs?: number | undefined;
  /** This machine's clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** One handler for both kinds of server. Its methods work without `this`. */
export interface DatasourceHandler {
  /** For platforms that use `Request`: Workers, Deno, Bun, route handlers of frameworks. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For Node's `http` and the frameworks on it. */
  readonly node: (request: NodeRequest, response: NodeResponse) => Promise<void>;
}

/** Creates the handler of an endpoint datasource: it verifies calls, and passes them on to the store's functions. */
export function createDatasourceHandler(options: DatasourceHandlerOptions): DatasourceHandler {
  // Refuse an invalid key when the app starts, not at the first call.
  keysOf(options.signingKey);
  const handle = handler(options);
  return {
    fetch: async (request) => asResponse(await handle(arrivedByFetch(request, sourceLimits.callBytes))),
    node: async (request, response) =>
      answerByNode(request, response, await handle(arrivedByNode(request, sourceLimits.callBytes))),
  };
}

function handler(options: DatasourceHandlerOptions): (arrived: Arrived) => Promise<Answer> {
  const { signingKey, toleranceMs = webhookLimits.toleranceMs, now = Date.now, onError = toConsole } = options;
  const report = (error: unknown, call?: SourceCall) => {
    // Ignore errors of `onError` itself: the answer reports the failure anyway.
    (async () => onError(error, call))().catch(() => {});
  };

  async function resultOf(call: SourceCall, commit: SourceCommit): Promise<SourceResult[]> {
    const { clientTxId } = commit;
    try {
      const records = await options.commit(commit);
      return [{ clientTxId, status: "committed", ...(records && { records: [...records] }) }];
    } catch (error) {
      if (error instanceof CommitRefusedError)
        return [{ clientTxId, status: "refused", message: error.message, ...error.details }];
      // Without a result its outcome is unknown, and it comes again.
      report(error, call);
      return [];
    }
  }

  async function answer(call: SourceCall): Promise<SourceAnswers[SourceCall["type"]] | undefined> {
    switch (call.type) {
      case "commit": {
        const results: SourceResult[] = [];
        for (const commit of call.commits) results.push(...(await resultOf(call, commit)));
        return { results };
      }
      case "load":
        return { records: [...(await options.load(call.model, call.ids))] };
      case "list": {
        const { records, cursor } = await options.list(call.model, { cursor: call.cursor, limit: call.limit });
        return { records: [...records], cursor };
      }
      case "events": {
        const { events, cursor, more } = await options.events({ cursor: call.cursor, limit: call.limit });
        return { events: [...events], cursor, ...(more !== undefined && { more }) };
      }
      default:
        return undefined;
    }
  }

  return async ({ method, headers, readBody }) => {
    if (method !== "POST") return wrongMethod;
    let call: SourceCall | undefined;
    try {
      const body = await readBody();
      if (!isRawBody(body)) return body;
      const bytes = bytesOf(body);
      await checkSignature({ secret: signingKey, headers, body: bytes, toleranceMs, now: now() });
      call = parse(bytes);
      const answered = await answer(call);
      return answered
        ? { status: 200, body: answered }
        : refuse(501, "unknown_call", `This version of the handler does not know the call "${call.type}".`);
    } catch (error) {
      const answered = error instanceof WebhookVerificationError ? refusal(error) : failed;
      if (answered.status >= 500) report(error, call);
      return answered;
    }
  };
}

/** Only signed calls come here, so they have the service's shape. */
function parse(body: Uint8Array): SourceCall {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body)) as SourceCall;
  } catch (cause) {
    throw new WebhookVerificationError("invalid_body", "The body is not JSON in UTF-8.", { cause });
  }
}

const toConsole: NonNullable<DatasourceHandlerOptions["onError"]> = (error, call) =>
  console.error(`A call of type "${call?.type ?? "unknown"}" failed.`, error);
