import { odd } from "../../errors.ts";
import type { Proposal, ProposedOperation } from "../../protocol/changes/proposal.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { makeWrite, type WriteDeps } from "../writes/write.ts";
import type { OperationRequest, UndoableWrite } from "../writes/write-api.ts";
import type { AcceptOptions } from "./proposals-api.ts";

/** Makes the write that accepts or rejects a proposal. */
export function decideProposal(
  deps: WriteDeps,
  { id, operations, readAt }: Proposal,
  how: "accept" | "reject",
  { take = operations.map((_, operation) => ({ operation })), values = {}, reason, ...options }: AcceptOptions = {},
): UndoableWrite {
  if (take.length === 0)
    throw odd("take", "An acceptance takes at least one operation. To take nothing, use reject().");
  const taken = take.map(({ operation, fields }): OperationRequest => {
    const proposed = operations[operation];
    if (!proposed) throw odd("take", `The proposal has no operation ${operation}.`);
    return partOf(proposed, fields, values[operation]);
  });
  const decide = { proposal: id, how, ...(reason !== undefined && { reason }) };
  return makeWrite(deps, taken, { readAt, ...options }, [], false, { decide });
}

function partOf(
  { action, model, id, data, changes, base }: ProposedOperation,
  fields: readonly string[] | undefined,
  values: Readonly<Record<string, unknown>> | undefined,
): OperationRequest {
  const own = fields && new Set(fields);
  const only = <T>(all: Readonly<Record<string, T>> | undefined) =>
    all && own ? Object.fromEntries(Object.entries(all).filter(([field]) => own.has(field))) : all;
  const [taken, changed] = [only(data), only(changes)];
  return {
    ...{ action, model, id },
    ...((taken || values) && { data: { ...taken, ...values } }),
    ...(changed && Object.keys(changed).length > 0 && { changes: changed }),
    ...(base && { base: only(base) as JsonObject }),
  };
}
