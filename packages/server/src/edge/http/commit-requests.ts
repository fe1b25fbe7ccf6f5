import { hash } from "node:crypto";
import {
  type AcceptBody,
  type BareWriteBody,
  CommitBody,
  type CreateBody,
  commitProblem,
  type EndpointName,
  isRecordId,
  type OperationBody,
  operationParam,
  type UpdateBody,
} from "@holdfast/sdk/protocol";
import { newId } from "../../ids.ts";
import type {
  CommitAction,
  CommitOperation,
  CommitRequest,
  ProposalDecision,
} from "../../kernel/commits/rules/commit-request.ts";
import { isVisibleName, requestKey } from "../../kernel/commits/rules/idempotency-key.ts";
import { canonical } from "../../kernel/json/canonical.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import type { SpokenSchema } from "../../kernel/schema/flows/client-schemas.ts";
import { commitIn } from "../../kernel/schema/rules/translate.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import { shapeCheck } from "../payload/shape-check.ts";
import { type AttributionHeaders, readAttribution } from "./attribution.ts";
import { isObject, translateCommit } from "./dialect.ts";

export interface Sender {
  readonly principal: Principal;
  /** The Idempotency-Key header. */
  readonly keyHeader: string | undefined;
  /** The headers that say why a write is made. */
  readonly attribution?: AttributionHeaders | undefined;
  readonly spoken?: SpokenSchema | undefined;
}

type SingleEndpoint = "createRecord" | "updateRecord" | "deleteRecord" | "archiveRecord" | "unarchiveRecord";
/** The endpoint of a single-record route. Erasing is a delete with a query parameter. */
type SingleRoute = SingleEndpoint | "eraseRecord";
type SingleBody = Partial<CreateBody & UpdateBody & BareWriteBody>;

const ACTION_OF = {
  createRecord: "create",
  updateRecord: "update",
  deleteRecord: "delete",
  eraseRecord: "erase",
  archiveRecord: "archive",
  unarchiveRecord: "unarchive",
} as const satisfies Record<SingleRoute, CommitAction>;

/** Turns a single-record request into a batch of one. `path` has the model and, except for a create, the id. */
export function singleCommit(
  sender: Sender,
  route: SingleRoute,
  path: { model: string; id?: string },
  body: SingleBody,
): CommitRequest | Refusal {
  const model = path.model.toLowerCase();
  // JSON bodies with a NUL are refused earlier, but paths may contain one, and Postgres cannot store it.
  if (model.includes("\0")) return refuse("unknown_model", { param: "model" });
  if (path.id !== undefined && body.id !== undefined && body.id !== path.id)
    return refuse("id_mismatch", { param: "id" });
  const names = commitNames(sender, body);
  if (isRefusal(names)) return names;
  const said = readAttribution(sender.attribution, body);
  if (isRefusal(said)) return said;
  const id = path.id ?? body.id;
  const endpoint = route === "eraseRecord" ? "deleteRecord" : route;
  const operation = operationOn({
    action: ACTION_OF[route],
    model,
    ...(id !== undefined && { id }),
    ...dataOf(endpoint, model, body),
    ...(body.changes !== undefined && { changes: body.changes }),
    ...(body.claim !== undefined && { claim: body.claim }),
    ...(body.fenceToken !== undefined && { fenceToken: body.fenceToken }),
    ...(body.onStale !== undefined && { onStale: body.onStale }),
    ...(body.readAt !== undefined && { readAt: body.readAt }),
  });
  if (isRefusal(operation)) return operation;
  return inCurrentNames(sender, {
    principal: sender.principal,
    endpoint,
    single: true,
    operations: [operation],
    reads: [],
    clientId: body.clientId ?? null,
    logId: body.logId,
    ...said,
    ...proposed(body),
    ...names,
    serverTxId: newId("stx_"),
    fingerprint: fingerprint(
      endpoint,
      [model, ...(path.id === undefined ? [] : [path.id]), ...(route === "eraseRecord" ? ["erase"] : [])],
      { ...body, ...said.attribution },
    ),
  });
}

const proposed = ({
  propose,
  decide,
}: Pick<CommitBody, "propose" | "decide">): Pick<CommitRequest, "propose" | "decides"> => ({
  ...(propose !== undefined && { propose: propose === true ? {} : propose }),
  ...(decide && { decides: { id: decide.proposal, how: decide.how, reason: decide.reason } }),
});

/** After the fingerprint: a commit that is repeated after a push is the same as before. */
function inCurrentNames({ spoken }: Sender, commit: CommitRequest): CommitRequest | Refusal {
  if (!spoken) return commit;
  const translated = spoken.names ? commitIn(spoken.names, commit) : commit;
  return isRefusal(translated) ? translated : { ...translated, schemaVersion: spoken.version };
}

/** A favorite may be updated without data; the update then changes nothing. */
function dataOf(endpoint: SingleEndpoint, model: string, body: SingleBody): { data?: Record<string, unknown> } {
  if (body.data !== undefined) return { data: body.data };
  return endpoint === "updateRecord" && model === "favorite" ? { data: {} } : {};
}

/** Turns a body of `POST /v1/commits` that has passed its shape check into a commit. */
export function batchCommit(sender: Sender, body: CommitBody): CommitRequest | Refusal {
  const names = commitNames(sender, body);
  if (isRefusal(names)) return names;
  const said = readAttribution(sender.attribution, body);
  if (isRefusal(said)) return said;
  const problem = commitProblem(body);
  if (problem) return refuse(problem.code, problem);
  if (body.decide && body.propose)
    return refuse("invalid_value", { param: "propose", message: "A decision about a proposal cannot be proposed." });
  const operations: CommitOperation[] = [];
  for (const [index, asked] of body.operations.entries()) {
    const operation = operationOn({ ...asked, model: asked.model.toLowerCase() });
    if (isRefusal(operation)) return { ...operation, param: operationParam(index, operation.param) };
    operations.push(operation);
  }
  const reads = (body.reads ?? []).map((read) =>
    read.model === undefined ? read : { ...read, model: read.model.toLowerCase() },
  );
  return inCurrentNames(sender, {
    principal: sender.principal,
    endpoint: "commit",
    single: false,
    operations,
    reads,
    clientId: body.clientId ?? null,
    logId: body.logId,
    ...said,
    ...proposed(body),
    ...names,
    serverTxId: newId("stx_"),
    fingerprint: fingerprint("commit", [], { ...body, ...said.attribution }),
  });
}

const checkShape = shapeCheck(CommitBody);

const DECIDING = { accept: "acceptProposal", reject: "rejectProposal", withdraw: "withdrawProposal" } as const;

/** A commit that decides a proposal by its route. */
export function decidingCommit(
  { principal, keyHeader }: Pick<Sender, "principal" | "keyHeader">,
  body: AcceptBody,
  how: ProposalDecision["how"],
  id: string,
): CommitRequest | Refusal {
  if (!isRecordId(id)) return refuse("proposal_not_found", { param: "id" });
  const names = commitNames({ keyHeader }, body);
  if (isRefusal(names)) return names;
  const endpoint = DECIDING[how];
  return {
    ...{ principal, endpoint, single: false, reads: [], clientId: null, logId: body.logId },
    ...{ operations: [], decides: { id, how, reason: body.reason, taking: body } },
    ...names,
    serverTxId: newId("stx_"),
    fingerprint: fingerprint(endpoint, [id], body),
  };
}

/** Turns one element of a bulk into a commit. It must have its own name, because the request has no key. */
export function bulkCommit(sender: Sender, element: unknown): CommitRequest | Refusal {
  const body = translateCommit(element);
  const refusal = checkShape(body);
  if (refusal) return refusal;
  const commit = body as CommitBody;
  if (commit.idempotencyKey === undefined && commit.clientTxId === undefined)
    return refuse("missing_field", { param: "clientTxId" });
  return batchCommit(sender, commit);
}

/** The records that a malformed commit names, as far as they can be read: later commits on them are blocked too. */
export function recordsNamed(element: unknown): { model: string; id: string }[] {
  const operations = isObject(element) && Array.isArray(element.operations) ? element.operations : [];
  return operations.flatMap((operation: unknown) =>
    isObject(operation) && typeof operation.model === "string" && typeof operation.id === "string"
      ? [{ model: operation.model.toLowerCase(), id: operation.id }]
      : [],
  );
}

function commitNames(
  { keyHeader }: Pick<Sender, "keyHeader">,
  body: { idempotencyKey?: string; clientTxId?: string },
): Pick<CommitRequest, "idempotencyKey" | "clientTxId"> | Refusal {
  const found = requestKey(keyHeader, body.idempotencyKey);
  if (isRefusal(found)) return found;
  if (body.clientTxId !== undefined && !isVisibleName(body.clientTxId))
    return refuse("invalid_value", {
      param: "clientTxId",
      message: "clientTxId must be 1 to 255 visible ASCII characters.",
    });
  return { idempotencyKey: found.key, clientTxId: body.clientTxId ?? found.key ?? newId("ctx_") };
}

type RequestedOperation = Omit<OperationBody, "action"> & { action: CommitAction };

/** Turns an operation as requested into one for the lane. A favorite that is created without an id gets one. */
function operationOn(asked: RequestedOperation): CommitOperation | Refusal {
  const { id, idempotencyKey } = asked;
  const makesId = id === undefined && asked.action === "create" && asked.model === "favorite";
  if (id === undefined && !makesId) return refuse("missing_field", { param: "id" });
  if (id !== undefined && !isRecordId(id)) return refuse("invalid_id", { param: "id" });
  if (idempotencyKey !== undefined && !isVisibleName(idempotencyKey))
    return refuse("invalid_idempotency_key", { param: "idempotencyKey" });
  return {
    ...asked,
    id: id ?? newId("fav_"),
    ...(makesId && { makesId }),
    // Hash the operation as requested: a retry gets a different generated id but must have the same fingerprint.
    ...(idempotencyKey !== undefined && { fingerprint: sha256(canonical(asked, "idempotencyKey")) }),
  };
}

/**
 * Hashes the meaning of a request, not its spelling: aliases resolved, nulls dropped, keys sorted, the key itself left
 * out. The log's id is left out too: a write that was committed before a restore and is sent again afterwards is the
 * same write.
 */
function fingerprint(
  endpoint: EndpointName,
  path: readonly string[],
  { logId: _, ...body }: { logId?: string },
): string {
  return sha256(`${endpoint}\n${path.join("/")}\n${canonical(body, "idempotencyKey")}`);
}

const sha256 = (text: string): string => hash("sha256", text, "base64");
