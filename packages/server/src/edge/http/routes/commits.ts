import { headers, limits, PARTICIPANT_KINDS } from "@holdfast/sdk/protocol";
import type { JobResult } from "../../../kernel/commits/flows/commit-lanes.ts";
import type { ReadCommit } from "../../../kernel/commits/flows/read-commit.ts";
import type { SubmitCommits } from "../../../kernel/commits/flows/submit-commits.ts";
import { type CommitRequest, recordKey, touched } from "../../../kernel/commits/rules/commit-request.ts";
import type { Judged } from "../../../kernel/commits/rules/judge-commits.ts";
import type { Answer } from "../../../kernel/limits/answer-bytes.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { ClientNames } from "../../../kernel/schema/rules/client-names.ts";
import { modelsOf, receiptOut, refusalOut } from "../../../kernel/schema/rules/translate.ts";
import { nameOf, type Principal, readParticipantName } from "../../../kernel/tokens/rules/participant.ts";
import { type DocUrl, envelopeText, statusOf } from "../../envelope/envelope.ts";
import type { ApiResponse, Handlers } from "../answer.ts";
import { batchCommit, bulkCommit, recordsNamed, type Sender, singleCommit } from "../commit-requests.ts";
import { readFlag } from "../query.ts";

type CommitHandlers = Pick<
  Handlers,
  | "createRecord"
  | "updateRecord"
  | "deleteRecord"
  | "archiveRecord"
  | "unarchiveRecord"
  | "commit"
  | "commitBulk"
  | "readCommit"
>;

/** All routes that write, each as one commit or many, and the route that reads a commit's receipt. */
export function commitRoutes(submit: SubmitCommits, docUrl: DocUrl, readCommit: ReadCommit): CommitHandlers {
  const single =
    (endpoint: Parameters<typeof singleCommit>[1]) =>
    async ({
      principal,
      keyHeader,
      attribution,
      spoken,
      params,
      body,
      bodyBytes,
      answer,
    }: {
      principal: CommitRequest["principal"];
      keyHeader: string | undefined;
      attribution?: Sender["attribution"];
      spoken?: Sender["spoken"];
      params: Readonly<Record<string, string>>;
      body: Parameters<typeof singleCommit>[3] | undefined;
      bodyBytes: number;
      answer: Answer | undefined;
    }) =>
      submitOne(
        submit,
        singleCommit(
          { principal, keyHeader, attribution, spoken },
          endpoint,
          params as { model: string; id?: string },
          body ?? {},
        ),
        { bytes: bodyBytes, answer, names: spoken?.names },
      );
  return {
    createRecord: single("createRecord"),
    updateRecord: single("updateRecord"),
    deleteRecord: async (asked) => {
      const erases = readFlag(asked.query.one.erase, "erase");
      if (isRefusal(erases)) return { refusal: erases };
      return await single(erases ? "eraseRecord" : "deleteRecord")(asked);
    },
    archiveRecord: single("archiveRecord"),
    unarchiveRecord: single("unarchiveRecord"),
    commit: async ({ principal, keyHeader, attribution, spoken, body, bodyBytes, answer }) =>
      submitOne(
        submit,
        batchCommit({ principal, keyHeader, attribution, spoken }, body as Parameters<typeof batchCommit>[1]),
        {
          bytes: bodyBytes,
          answer,
          names: spoken?.names,
        },
      ),
    commitBulk: async ({ principal, keyHeader, attribution, spoken, body, bodyBytes, answer }) => {
      if (keyHeader !== undefined)
        return {
          refusal: refuse("invalid_idempotency_key", {
            message: "A bulk cannot have the header Idempotency-Key: give each commit its own key.",
          }),
        };
      if (attribution !== undefined)
        return {
          refusal: refuse("invalid_value", {
            param: headers[Object.keys(attribution)[0] as keyof typeof attribution],
            message: "A bulk cannot have this header: put its value into the body of each commit.",
          }),
        };
      return submitBulk(
        (commits) => submit(commits, bodyBytes, answer),
        body.commits.map((element) => ({
          element,
          commit: bulkCommit({ principal, keyHeader: undefined, spoken }, element),
        })),
        docUrl,
        spoken?.names,
      );
    },
    readCommit: async ({ principal, params: { clientTxId = "" }, query, spoken }) => {
      const writer = writerAsked(principal, query.one.participant);
      if (isRefusal(writer)) return { refusal: writer };
      const receipt = await readCommit(principal, writer, clientTxId);
      if (isRefusal(receipt)) return { refusal: receipt };
      if (!receipt) return { refusal: refuse("commit_not_found", { param: "clientTxId" }) };
      const { names } = spoken ?? {};
      const text = names ? receiptOut(names, receipt.body, () => undefined) : receipt.body;
      return { text, ...(receipt.conflicted && { headers: { [headers.held]: "true" } }) };
    },
  };
}

/** Whose commit is requested: the caller's own, unless a secret key names another participant. */
function writerAsked(principal: Principal, named: string | undefined): string | Refusal {
  const own = nameOf(principal);
  if (named === undefined || named === own) return own;
  if (principal.tokenKind !== "secret_key") return refuse("secret_key_required", { param: "participant" });
  return (
    readParticipantName(named) ??
    refuse("invalid_value", {
      param: "participant",
      message: `"participant" must be <kind>:<id>; the kinds are ${PARTICIPANT_KINDS.join(", ")}.`,
    })
  );
}

type WriteAnswer = Exclude<ApiResponse<"commit">, { value: unknown }>;

interface Answering {
  readonly bytes: number;
  readonly answer: Answer | undefined;
  /** What the client calls the fields, if it has an older schema. */
  readonly names: ClientNames | undefined;
}

export async function submitOne(
  submit: SubmitCommits,
  commit: CommitRequest | Refusal,
  { bytes, answer, names }: Answering,
): Promise<WriteAnswer> {
  if (isRefusal(commit)) return { refusal: commit };
  const result = await submit([commit], bytes, answer);
  if (result.kind === "failed") return { refusal: failureOf(result) };
  return answerOf(inNames(names, result.judged[0] as Judged));
}

/** A judgement as the client's schema spells it. */
function inNames(names: ClientNames | undefined, judged: Judged): Judged {
  if (!names) return judged;
  const { commit, decision } = judged;
  const modelAt = modelsOf(commit);
  const body = receiptOut(names, judged.body, modelAt);
  if (decision.kind !== "refused") return { ...judged, body };
  return { ...judged, body, decision: { ...decision, refusal: refusalOut(names, decision.refusal, modelAt) } };
}

const failureOf = ({ code, message }: Extract<JobResult, { kind: "failed" }>): Refusal =>
  refuse(code, message === undefined ? {} : { message });

function answerOf({ decision, body }: Judged): WriteAnswer {
  switch (decision.kind) {
    case "confirmed":
    case "proposed":
      return { text: body };
    case "conflicted":
      return { text: body, headers: { [headers.held]: "true" } };
    case "replayed":
      return {
        text: body,
        headers: { [headers.replayed]: "true", ...(decision.receipt.conflicted && { [headers.held]: "true" }) },
      };
    case "refused":
      return { refusal: decision.refusal, receipt: body };
  }
}

interface Element {
  readonly element: unknown;
  readonly commit: CommitRequest | Refusal;
}

/**
 * Well-formed commits go to the lane together. A commit that depends on a malformed one is blocked, as after any other
 * failure.
 */
async function submitBulk(
  submit: SubmitCommits,
  elements: readonly Element[],
  docUrl: DocUrl,
  names: ClientNames | undefined,
): Promise<ApiResponse<"commitBulk">> {
  const operations = elements.reduce(
    (sum, { element, commit }) => sum + (isRefusal(commit) ? recordsNamed(element) : commit.operations).length,
    0,
  );
  if (operations > limits.operationsPerBulk)
    return {
      refusal: refuse("too_many_operations", {
        param: "commits",
        message: `A bulk can have up to ${limits.operationsPerBulk} operations.`,
      }),
    };
  const blocked = blockedByMalformed(elements);
  const tried = elements.flatMap(({ commit }, index) =>
    isRefusal(commit) || blocked.has(index) ? [] : [{ index, commit }],
  );
  const result =
    tried.length === 0 ? { kind: "judged" as const, judged: [] } : await submit(tried.map(({ commit }) => commit));
  if (result.kind === "failed") return { refusal: failureOf(result) };
  const judgedAt = new Map(tried.map(({ index }, i) => [index, inNames(names, result.judged[i] as Judged)]));
  const items = elements.map(({ commit }, index) => {
    const judged = judgedAt.get(index);
    if (judged) return itemOf(judged, (position) => tried[position]?.index ?? position, docUrl);
    return refusedItem(
      isRefusal(commit) ? commit : refuse("dependency_blocked", { blockedBy: blocked.get(index) as number }),
      docUrl,
    );
  });
  return { text: `{"object":"list","data":[${items.join(",")}]}` };
}

function blockedByMalformed(elements: readonly Element[]): ReadonlyMap<number, number> {
  const blockers = new Map<string, number>();
  const blocked = new Map<number, number>();
  for (const [index, { element, commit }] of elements.entries()) {
    const keys = isRefusal(commit)
      ? recordsNamed(element).map(({ model, id }) => recordKey(model, id))
      : touched(commit);
    const blocker = keys.map((key) => blockers.get(key)).find((found) => found !== undefined);
    if (!isRefusal(commit) && blocker !== undefined) blocked.set(index, blocker);
    if (isRefusal(commit) || blocker !== undefined)
      for (const key of keys) if (!blockers.has(key)) blockers.set(key, index);
  }
  return blocked;
}

/** A receipt or an envelope, with the status that it would have as a single response. */
function itemOf({ decision, body }: Judged, indexOf: (position: number) => number, docUrl: DocUrl): string {
  if (decision.kind !== "refused") return `${body.slice(0, -1)},"httpStatus":200}`;
  const { blockedBy } = decision.refusal;
  return refusedItem(
    blockedBy === undefined ? decision.refusal : { ...decision.refusal, blockedBy: indexOf(blockedBy) },
    docUrl,
    body,
  );
}

const refusedItem = (refusal: Refusal, docUrl: DocUrl, receipt?: string): string =>
  `${envelopeText(refusal, undefined, docUrl, receipt).slice(0, -1)},"httpStatus":${statusOf(refusal)}}`;
