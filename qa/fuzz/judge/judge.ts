import { type EndpointName, errorCodes, isErrorCode, type ModelSchema, statusesInBodies } from "@holdfast/sdk/protocol";
import type { Actors } from "../exchange/actors.ts";
import type { Sent } from "../exchange/memory.ts";
import type { Answer } from "../exchange/wire.ts";
import type { ExpectResponse } from "./description.ts";
import { hiddenRow, readsModel } from "./sight.ts";

type Plain = Readonly<Record<string, unknown>>;

/** A log entry that a token was shown. Whether that was allowed is checked when the whole log is known. */
export type Shown = (sent: Sent, syncId: number) => void;

export interface Judging {
  readonly actors: Actors;
  readonly schema: ModelSchema;
  /** Where error pages are. */
  readonly url: string;
  readonly secrets: ReadonlyMap<string, string>;
  readonly adminToken: string;
  readonly expectResponse: ExpectResponse;
  readonly shown: Shown;
}

/** The violations of a response. */
export function judge(sent: Sent, answer: Answer, endpoint: EndpointName | undefined, judging: Judging): string[] {
  const { method } = sent.wire;
  const { status, headers, text } = answer;
  const faults: string[] = [];
  const report = (fault: string | undefined) => void (fault !== undefined && faults.push(fault));
  if (status === 500) report(`500: ${text.slice(0, 300)}`);
  if (status > 500 && status !== 503) report(`an answer of ${status}`);
  if (status === 503 && headers["retry-after"] === undefined) report("503 without retry-after");
  const id = headers["x-request-id"];
  if (!/^req_[0-9A-Za-z]{24}$/.test(String(id))) report(`x-request-id is ${id}`);
  const isJson = /^application\/json\b/.test(headers["content-type"] ?? "");
  const body = isJson && method !== "HEAD" ? jsonOf(text) : undefined;
  if (body === BROKEN) return [...faults, "what is said to be JSON is none"];
  if (status >= 400 && method !== "HEAD")
    for (const fault of envelopeFaults(body, status, String(id), judging.url)) report(fault);
  if (endpoint) {
    report(judging.expectResponse(endpoint, answer, body, method));
    for (const fault of receiptFaults(endpoint, sent, answer, body)) report(fault);
    for (const fault of sightFaults(endpoint, sent, answer, body, judging)) report(fault);
  } else if (!UNKNOWN_ROUTE.has(status)) report(`${status} where there is no route`);
  const minted = endpoint && MINTING.has(endpoint) && status === 201 ? (body as Plain).token : undefined;
  report(secretFault(text + JSON.stringify(headers), judging, minted));
  return faults;
}

/** Statuses of paths that are no endpoint: pages, probes, preflights, and unknown paths. */
const UNKNOWN_ROUTE = new Set([200, 204, 304, 400, 401, 404, 405, 413, 415, 426, 429, 431, 500, 503]);

const BROKEN = Symbol("no JSON");

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return BROKEN;
  }
}

/** The violations of an error envelope: over HTTP, within a bulk, and on the stream. */
export function envelopeFaults(
  body: unknown,
  status: number | undefined,
  id: string | undefined,
  url: string,
): string[] {
  const faults: string[] = [];
  const { type, message, code, doc_url, request_id } = (body ?? {}) as Plain;
  if (typeof code !== "string" || !isErrorCode(code)) return [`an error that is no envelope with a known code`];
  const row = errorCodes[code];
  const isOwnStatus = status === undefined || status === row.status;
  if (!isOwnStatus && status !== statusesInBodies[code]) faults.push(`${code} with ${status}`);
  if (type !== row.type && !(type === "validation_error" && status === 400)) faults.push(`${code} of type ${type}`);
  if (typeof message !== "string" || message === "") faults.push(`${code} without a message`);
  if (/node_modules|\.[jt]s:\d|\bat .*\.[jt]s|\b(select|insert|update) .* (from|into|set) /i.test(String(message)))
    faults.push("a message that tells of our inside");
  if (doc_url !== `${url}/docs/errors#${code}`) faults.push(`${code} with the doc_url ${doc_url}`);
  if (id !== undefined && request_id !== id) faults.push(`request_id ${request_id} where x-request-id is ${id}`);
  return faults;
}

const WRITES: ReadonlySet<EndpointName> = new Set([
  "createRecord",
  "updateRecord",
  "deleteRecord",
  "archiveRecord",
  "unarchiveRecord",
  "commit",
]);

export const isWrite = (endpoint: EndpointName | undefined): boolean =>
  endpoint !== undefined && (WRITES.has(endpoint) || endpoint === "commitBulk");

function* receiptFaults(endpoint: EndpointName, { wire }: Sent, answer: Answer, body: unknown): Generator<string> {
  if (endpoint === "commitBulk" && answer.status === 200) {
    const { commits } = jsonOf(String(wire.body)) as { readonly commits: readonly unknown[] };
    const { data } = body as { readonly data: readonly Plain[] };
    // A body of odd bytes may mean something else to the server than to us; its answer then has another length.
    if (Array.isArray(commits) && data.length !== commits.length)
      yield `${data.length} answers to ${commits.length} commits`;
    for (const item of data)
      if (item.object === "commit_receipt")
        yield* receiptFault(item, item.status === "rejected", Number(item.httpStatus));
      else yield* bulkEnvelopeFaults(item);
  }
  if (!WRITES.has(endpoint) || wire.method === "HEAD") return;
  const { receipt } = (body ?? {}) as { readonly receipt?: Plain };
  if (answer.status === 200) yield* receiptFault(body as Plain, answer.headers["holdfast-held"] === "true", 200);
  else if (receipt) {
    yield* receiptFault(receipt, true, answer.status);
    const { code } = (receipt.error ?? {}) as Plain;
    if (code !== (body as Plain).code) yield `the receipt says ${code}, the envelope ${(body as Plain).code}`;
  }
}

function* bulkEnvelopeFaults({ httpStatus, code, receipt }: Plain): Generator<string> {
  if (typeof code !== "string" || !isErrorCode(code)) return yield "an item of a bulk that is no envelope";
  if (httpStatus !== errorCodes[code].status && httpStatus !== statusesInBodies[code])
    yield `${code} with the httpStatus ${httpStatus}`;
  if (receipt !== undefined) yield* receiptFault(receipt as Plain, true, Number(httpStatus));
}

/** `isRejected`: as the headers, or the envelope around it, say. */
function* receiptFault(receipt: Plain, isRejected: boolean, status: number): Generator<string> {
  const { object, clientTxId, success, status: outcome, error, notifications, lastSyncId } = receipt;
  if (object !== "commit_receipt" || typeof clientTxId !== "string") return yield "a receipt that is none";
  const isProposed = outcome === "proposed" && typeof receipt.proposal === "string";
  if (outcome !== (isRejected ? "rejected" : "confirmed") && !(isProposed && !isRejected))
    yield `a receipt that is ${outcome} with ${status}`;
  if (success !== (outcome === "confirmed")) yield `a ${outcome} receipt whose success is ${success}`;
  if ((error !== undefined) !== isRejected) yield `a ${outcome} receipt ${error ? "with" : "without"} an error`;
  if ((notifications !== undefined) !== (isRejected && status === 200))
    yield `notifications on a ${outcome} receipt of ${status}`;
  if (outcome === "confirmed" && !Number.isSafeInteger(lastSyncId)) yield `a confirmed receipt at ${lastSyncId}`;
}

/** Checks what a scoped token was shown. */
function* sightFaults(
  endpoint: EndpointName,
  sent: Sent,
  { status, text }: Answer,
  body: unknown,
  { actors, schema, shown }: Judging,
): Generator<string> {
  const { scope, tenant, name } = sent.who;
  if (!scope || status !== 200 || sent.wire.method === "HEAD" || !actors.judged.has(tenant ?? "")) return;
  const row = (model: unknown, data: unknown) => hiddenRow(schema, scope, String(model), data as Plain);
  const { model, data } = (body ?? {}) as { readonly model?: unknown; readonly data?: unknown };
  const found: (string | undefined)[] = [];
  switch (endpoint) {
    case "readRecord":
      found.push(row(model, data));
      break;
    case "listRecords":
    case "queryRecords":
      for (const item of data as Plain[]) found.push(row(model, item));
      break;
    case "readSnapshot":
      for (const line of text.trimEnd().split("\n").slice(1, -1)) {
        const one = JSON.parse(line) as Plain;
        found.push(row(one.model, one.data));
      }
      break;
    case "readLog":
    case "readHistory":
      for (const entry of data as Plain[]) {
        shown(sent, Number(entry.syncId));
        if (!readsModel(scope, String(entry.model))) found.push(`an entry of "${entry.model}"`);
        else if (entry.data) found.push(row(entry.model, entry.data));
      }
      break;
  }
  const notices = (body as { readonly notifications?: readonly Plain[] } | undefined)?.notifications ?? [];
  for (const notice of notices) {
    if (notice.group === undefined) shown(sent, Number(notice.observedSyncId));
    if (notice.model !== "" && !readsModel(scope, String(notice.model))) found.push(`a notice on "${notice.model}"`);
  }
  for (const fault of found) if (fault !== undefined) yield `"${name}" was shown ${fault}`;
}

const MINTING: ReadonlySet<EndpointName> = new Set([
  "createCapability",
  "rotateCapability",
  "createEphemeralKey",
  "createSecretKey",
]);
const TOKEN = /(?:sk_live_|sk_test_|rk_|ek_)[0-9A-Za-z]{36}/g;

/** Every token in a text. */
export const tokensIn = (text: string): string[] => [...text.matchAll(TOKEN)].map(([token]) => token);

/** Finds a leaked token in a text. Only the response to its creation may contain it. */
export function secretFault(
  text: string,
  { secrets, adminToken }: Pick<Judging, "secrets" | "adminToken">,
  minted?: unknown,
): string | undefined {
  const token = tokensIn(text).find((found) => found !== minted && secrets.has(found));
  if (token !== undefined) return `the token of "${secrets.get(token)}" is told`;
  return text.includes(adminToken) ? "the operator's token is told" : undefined;
}
