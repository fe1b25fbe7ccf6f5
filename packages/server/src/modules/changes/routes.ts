import {
  type AcceptBody,
  attributionProblem,
  limits,
  PROPOSAL_STATUSES,
  type RevertBody,
} from "@holdfast/sdk/protocol";
import type { ApiRequest, Handlers, Query } from "../../edge/http/answer.ts";
import { decidingCommit } from "../../edge/http/commit-requests.ts";
import { readInteger } from "../../edge/http/query.ts";
import { submitOne } from "../../edge/http/routes/commits.ts";
import type { SubmitCommits } from "../../kernel/commits/flows/submit-commits.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import type { ClientNames } from "../../kernel/schema/rules/client-names.ts";
import { nameIn } from "../../kernel/schema/rules/translate.ts";
import { type Principal, readParticipantName } from "../../kernel/tokens/rules/participant.ts";
import type { AskedProposals, ProposalFlows } from "./flows/proposal-flows.ts";
import type { RevertChanges } from "./flows/revert-changes.ts";

type ChangesHandlers = Pick<
  Handlers,
  "listProposals" | "readProposal" | "acceptProposal" | "rejectProposal" | "withdrawProposal" | "revertChanges"
>;

/** Proposals: list, read, accept, reject and withdraw. They are made by commits. And changes that are taken back. */
export function changesRoutes(flows: ProposalFlows, submit: SubmitCommits, revert: RevertChanges): ChangesHandlers {
  /** The fields that a client with an older schema takes. */
  async function inCurrentNames(
    by: Principal,
    id: string,
    body: AcceptBody,
    names: ClientNames,
  ): Promise<AcceptBody | Refusal> {
    const found = await flows.find(by, id);
    if (isRefusal(found)) return found;
    const take = body.take?.map(({ operation, fields }) => {
      const named = nameIn(names, found.operations[operation]?.model ?? "");
      return { operation, ...(fields && { fields: fields.map((field) => named(field) ?? field) }) };
    });
    return { ...body, ...(take && { take }) };
  }

  const ending =
    (how: "reject" | "withdraw") => async (asked: ApiRequest<"rejectProposal"> | ApiRequest<"withdrawProposal">) => {
      const { principal, params, body = {}, bodyBytes, answer, keyHeader } = asked;
      const { id = "" } = params;
      const commit = checkReason(body.reason) ?? decidingCommit({ principal, keyHeader }, body, how, id);
      const done = await submitOne(submit, commit, { bytes: bodyBytes, answer, names: undefined });
      return "refusal" in done ? { refusal: done.refusal } : valued(await flows.read(principal, id));
    };

  return {
    listProposals: async ({ principal, query: { one } }) => {
      const asked = readQuestion(one);
      if (isRefusal(asked)) return { refusal: asked };
      const found = await flows.list(principal, asked);
      if (isRefusal(found)) return { refusal: found };
      const { proposals, nextCursor } = found;
      return {
        value: {
          object: "list" as const,
          data: [...proposals],
          has_more: nextCursor !== null,
          next_cursor: nextCursor,
        },
      };
    },
    readProposal: async ({ principal, params: { id = "" } }) => valued(await flows.read(principal, id)),
    acceptProposal: async ({
      principal,
      params: { id = "" },
      body: sent = {},
      bodyBytes,
      answer,
      keyHeader,
      spoken,
    }) => {
      const names = spoken?.names;
      const body = names && sent.take ? await inCurrentNames(principal, id, sent, names) : sent;
      if (isRefusal(body)) return { refusal: body };
      const commit = checkReason(body.reason) ?? decidingCommit({ principal, keyHeader }, body, "accept", id);
      return await submitOne(submit, commit, { bytes: bodyBytes, answer, names });
    },
    rejectProposal: ending("reject"),
    revertChanges: async ({ principal, body }) => {
      const unfit = checkReason(body.reason) ?? checkSelection(body);
      return valued(unfit ?? (await revert(principal, body)));
    },
    withdrawProposal: ending("withdraw"),
  };
}

const valued = <T extends object>(result: T | Refusal) => (isRefusal(result) ? { refusal: result } : { value: result });

function checkReason(reason: string | undefined): Refusal | undefined {
  const problem = attributionProblem({ reason }, Buffer.byteLength);
  return problem && refuse(problem.code, problem);
}

function readQuestion({
  status = "open",
  model,
  id,
  author,
  run,
  branch,
  ...page
}: Query["one"]): AskedProposals | Refusal {
  const limit = readInteger(page.limit, { name: "limit", min: 1, max: limits.listMax, absent: limits.listDefault });
  if (isRefusal(limit)) return limit;
  if (id !== undefined && model === undefined) return refuse("missing_field", { param: "model" });
  if (!isStatus(status)) return invalid("status", `must be ${PROPOSAL_STATUSES.join(", ")} or all.`);
  if (author !== undefined && !readParticipantName(author))
    return invalid("author", "must be a participant, like user:ann.");
  for (const [name, text] of Object.entries({ model, id, run, branch }))
    if (text !== undefined && (text === "" || text.length > limits.runLength || text.includes("\0")))
      return invalid(name, `must have 1 to ${limits.runLength} characters.`);
  return { status, model: model?.toLowerCase(), id, author, run, branch, limit, cursor: page.starting_after };
}

const isStatus = (text: string): text is AskedProposals["status"] =>
  text === "all" || (PROPOSAL_STATUSES as readonly string[]).includes(text);

const invalid = (param: string, what: string): Refusal =>
  refuse("invalid_value", { param, message: `"${param}" ${what}` });

function checkSelection({ run, clientTxId, entries, actor }: RevertBody): Refusal | undefined {
  const given = [run, clientTxId, entries].filter((one) => one !== undefined);
  if (given.length === 0) return refuse("missing_field", { param: "run" });
  if (given.length > 1)
    return invalid("run", "cannot be beside another selection: give one of run, clientTxId and entries.");
  for (const [name, text] of Object.entries({ run, clientTxId, actor }))
    if (text?.includes("\0")) return invalid(name, "cannot contain NUL.");
  return undefined;
}
