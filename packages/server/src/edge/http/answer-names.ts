import { setImmediate } from "node:timers/promises";
import type { Claim, EndpointName, JsonObject, LogEntry, Proposal } from "@holdfast/sdk/protocol";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import type { ClientSchemas } from "../../kernel/schema/flows/client-schemas.ts";
import { type ClientNames, readSaid, type SaidSchema } from "../../kernel/schema/rules/client-names.ts";
import {
  claimOut,
  claimsOut,
  dataOut,
  entryOut,
  proposalOut,
  refusalOut,
} from "../../kernel/schema/rules/translate.ts";
import type { ApiRequest, ApiResponse, Handler } from "./answer.ts";

/** Reads the header `Holdfast-Schema`. */
export function readSaidHeader(text: string | readonly string[]): SaidSchema | Refusal {
  const said = typeof text === "string" ? readSaid(text) : undefined;
  return said ?? refuse("invalid_value", { param: "Holdfast-Schema", message: MALFORMED });
}

const MALFORMED = "Holdfast-Schema must be a version of the schema, or a result of schemaFingerprint().";

/** How the answer of an endpoint gets the client's names. An endpoint that is not listed names no fields. */
type Translate = (names: ClientNames, answer: Answer, model: string, rowsVersion: number) => Answer | Promise<Answer>;
type Answer = ApiResponse<EndpointName>;

/** The routes of commits translate by themselves: what a receipt says depends on the operations. */
const byRoute: Translate = (_, answer) => answer;

const TRANSLATE: Partial<Record<EndpointName, Translate>> = {
  createRecord: byRoute,
  updateRecord: byRoute,
  deleteRecord: byRoute,
  archiveRecord: byRoute,
  unarchiveRecord: byRoute,
  commit: byRoute,
  commitBulk: byRoute,
  readCommit: byRoute,
  readRecord: (names, answer, model) =>
    withValue<ReadValue>(answer, (value) => ({
      ...value,
      data: dataOut(names, model, value.data),
      claims: claimsOut(names, value.claims),
    })),
  listRecords: recordList,
  queryRecords: recordList,
  readHistory: (names, answer, model) =>
    withText<LogEntry>(answer, (entry) => entryOut(names, entry), names.models.has(model)),
  readLog: (names, answer, _, rowsVersion) =>
    withText<LogEntry>(answer, (entry) => entryOut(names, entry), true, { rowsVersion }),
  readSnapshot: async (names, answer, _, rowsVersion) =>
    "text" in answer ? { ...answer, text: await snapshotOut(names, answer.text, rowsVersion) } : answer,
  listProposals: (names, answer) =>
    withValue<{ readonly data: readonly Proposal[] }>(answer, (list) => ({
      ...list,
      data: list.data.map((one) => proposalOut(names, one)),
    })),
  readProposal: oneProposal,
  acceptProposal: byRoute,
  rejectProposal: oneProposal,
  withdrawProposal: oneProposal,
  acquireClaim: oneClaim,
  acquireClaimOn: oneClaim,
  readClaim: oneClaim,
  renewClaim: oneClaim,
  releaseRecord: (_, answer) => answer,
  releaseClaim: (_, answer) => answer,
  reorderClaims: claimLists,
  listClaims: claimLists,
  listOwnClaims: claimLists,
};

function recordList(names: ClientNames, answer: Answer, model: string): Answer {
  return withText<JsonObject>(answer, (record) => dataOut(names, model, record), names.models.has(model));
}

interface ReadValue {
  readonly data: JsonObject;
  readonly claims: readonly Claim[];
}

const withValue = <V>(answer: Answer, change: (value: V) => V): Answer =>
  "value" in answer ? { ...answer, value: change(answer.value as V) as never } : answer;

/** The items of a list as JSON text. */
function withText<T>(answer: Answer, change: (item: T) => T, concerns: boolean, facts: object = {}): Answer {
  if (!("text" in answer) || !concerns) return answer;
  const list = JSON.parse(answer.text) as { readonly data: readonly T[] };
  return { ...answer, text: JSON.stringify({ ...list, ...facts, data: list.data.map(change) }) };
}

function oneProposal(names: ClientNames, answer: Answer): Answer {
  return withValue<Proposal>(answer, (proposal) => proposalOut(names, proposal));
}

/** A caller's own claim, on a field that it may know from elsewhere, is shown in any case. */
function oneClaim(names: ClientNames, answer: Answer): Answer {
  return withValue<Claim>(answer, (claim) => claimOut(names, claim) ?? claim);
}

function claimLists(names: ClientNames, answer: Answer): Answer {
  return withValue<Readonly<Record<string, unknown>>>(answer, (value) => ({
    ...value,
    ...Object.fromEntries(
      ["data", "claims", "queue"].flatMap((key) =>
        Array.isArray(value[key]) ? [[key, claimsOut(names, value[key] as Claim[])]] : [],
      ),
    ),
  }));
}

/** A page may have thousands of lines, so other work is let in between. */
const LINES_AT_ONCE = 500;

async function snapshotOut(names: ClientNames, text: string, rowsVersion: number): Promise<string> {
  const lines = text.split("\n");
  lines[0] = JSON.stringify({ ...(JSON.parse(lines[0] as string) as object), rowsVersion });
  for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
    if (from > 0) await setImmediate();
    for (let at = from; at < Math.min(from + LINES_AT_ONCE, lines.length); at++)
      lines[at] = lineOut(names, lines[at] as string);
  }
  return lines.join("\n");
}

/** Lines that are no records have no model. */
function lineOut(names: ClientNames, text: string): string {
  if (text === "") return text;
  const line = JSON.parse(text) as { readonly model?: string; readonly data: JsonObject };
  if (line.model === undefined || !names.models.has(line.model.toLowerCase())) return text;
  return JSON.stringify({ ...line, data: dataOut(names, line.model, line.data) });
}

/** Whether the names of an endpoint's fields depend on the schema of the client. */
export const isSpoken = (name: EndpointName): boolean => TRANSLATE[name] !== undefined;

/** A claim is taken on the field that its name meant when it was asked for, so the newest schema decides. */
const CLAIMING: ReadonlySet<EndpointName> = new Set<EndpointName>(["acquireClaim", "acquireClaimOn"]);
/** A push may come between the translation and the answer. More than this many do not. */
const TRIES = 4;

/**
 * Answers a client that says which schema it has. If a schema is pushed meanwhile, the request is answered again under
 * that one, unless it was a write that has been done.
 */
export async function answerInNames(
  name: EndpointName,
  handler: Handler<never>,
  asked: ApiRequest<never>,
  schemas: ClientSchemas,
  said: SaidSchema,
): Promise<Answer> {
  const { tenant } = asked.principal;
  const model = (asked.params.model ?? "").toLowerCase();
  for (let tried = 1; ; tried++) {
    const spoken = await (CLAIMING.has(name) ? schemas.spokenNow(tenant, said) : schemas.spoken(tenant, said));
    if (isRefusal(spoken)) return { refusal: spoken };
    const { names } = spoken;
    const answer = (await handler({ ...asked, spoken })) as Answer;
    const isOutdated = !schemas.isLatest(tenant, spoken);
    if (isOutdated && tried < TRIES && mayAskAgain(name, answer)) continue;
    if (!names) return answer;
    const translate = TRANSLATE[name] ?? byRoute;
    if ("refusal" in answer && translate !== byRoute)
      return { refusal: refusalOut(names, answer.refusal, () => (model === "" ? undefined : model)) };
    return await translate(names, answer, model, spoken.shownRowsVersion);
  }
}

/** What was done is not done again. The commits of a bulk have names, so those that were done are found. */
const mayAskAgain = (name: EndpointName, answer: Answer): boolean =>
  "refusal" in answer || name === "commitBulk" || READS.has(name);

const READS: ReadonlySet<EndpointName> = new Set<EndpointName>([
  "readRecord",
  "listRecords",
  "queryRecords",
  "readHistory",
  "readLog",
  "readSnapshot",
  "readCommit",
  "listProposals",
  "readProposal",
  "readClaim",
  "listClaims",
  "listOwnClaims",
]);
