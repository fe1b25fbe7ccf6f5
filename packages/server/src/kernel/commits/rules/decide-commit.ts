import type { JsonObject } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import { checkGroups } from "../../schema/rules/sync-group.ts";
import { checkPayload, writesNothing } from "./check-payload.ts";
import { checkScope } from "./check-scope.ts";
import { checkValues } from "./check-values.ts";
import { checkCommitBytes } from "./commit-bytes.ts";
import { type CommitOperation, type CommitRequest, recordKey, rowAction } from "./commit-request.ts";
import { at, type DryRun, dryRunCommit } from "./dry-run.ts";
import { judgeReads } from "./premises.ts";
import { proposes } from "./proposes.ts";
import { confirmedReceipt, conflictedReceipt, proposedReceipt } from "./receipt.ts";
import { isRepeated, replayOf } from "./replay.ts";
import { type Decision, firstOf, judgeByModules, type TenantState } from "./tenant-state.ts";

/**
 * Judges one commit against its tenant: replay → names → size → scope → payload → modules → positions → exists → stale → premises →
 * record rules → conflicts → unique values and references. Each check up to the positions covers every operation before the
 * next one starts; a dry run of the operations then finds the rest. A refusal takes precedence over a conflict.
 */
export function decideCommit(state: TenantState, commit: CommitRequest): Decision {
  const { missing, incomplete, ended } = state.values;
  const { times } = missing;
  const decision = ended.has(commit) ? TOO_LONG : decide(state, commit);
  if (missing.times > times) incomplete.add(commit);
  return decision;
}

const TOO_LONG: Decision = {
  kind: "refused",
  refusal: refuse("too_many_dependents", {
    message:
      "Finding the records that reference the deleted records takes too long. Delete some of the referencing records first.",
  }),
};

function decide(state: TenantState, commit: CommitRequest): Decision {
  const replay = replayOf(state, commit);
  // The receipt of a conflicted commit has values of records, and another token of the participant may see less.
  const isConflicted = replay?.kind === "replayed" && replay.receipt.conflicted;
  const hidden = isConflicted ? checkScope(state, commit) : undefined;
  if (hidden) return { kind: "refused", refusal: hidden };
  if (replay) return replay;
  const whole = commit.decides?.problem ?? firstOf(state, (module) => module.judgeCommit?.(commit));
  if (whole) return { kind: "refused", refusal: whole };
  if (commit.decides && commit.decides.how !== "accept") return endProposal(state, commit);
  const refusal =
    checkNames(state, commit) ??
    checkCommitBytes(state, commit) ??
    checkScope(state, commit) ??
    checkPayloads(state, commit) ??
    checkModules(state, commit) ??
    checkPositions(state, commit);
  if (refusal) return { kind: "refused", refusal };
  const dryRun = dryRunCommit(state, commit);
  const premises = judgeReads(state, commit);
  const refused = dryRun.exists ?? dryRun.stale ?? premises.refusal ?? dryRun.unfit;
  if (refused) return { kind: "refused", refusal: refused };
  const conflicts = [...dryRun.conflicts, ...premises.conflicts];
  if (conflicts.length > 0)
    return { kind: "conflicted", receipt: conflictedReceipt(commit, state.head.logId, state.head.syncId, conflicts) };
  // What a conflicted commit leaves is not known yet.
  const unkept = dryRun.unkept ?? checkLeft(state, commit, dryRun);
  if (unkept) return { kind: "refused", refusal: unkept };
  const { head } = state;
  const lastSyncId = dryRun.entries.at(-1)?.syncId ?? dryRun.createdAt ?? head.syncId;
  const { entries, missingIds, madeId } = dryRun;
  if (entries.length > 0 && proposes(commit))
    return { kind: "proposed", entries, receipt: proposedReceipt(commit, head) };
  return {
    kind: "confirmed",
    entries,
    receipt: confirmedReceipt(commit, { lastSyncId, logId: head.logId, missingIds, madeId }),
  };
}

/** Those may reject it who may write all of it. Its author can withdraw it, whatever the token may write. */
function endProposal(state: TenantState, commit: CommitRequest): Decision {
  const refusal = commit.decides?.how === "reject" ? checkScope(state, commit) : undefined;
  if (refusal) return { kind: "refused", refusal };
  const { syncId: lastSyncId, logId } = state.head;
  return {
    kind: "confirmed",
    entries: [],
    receipt: confirmedReceipt(commit, { lastSyncId, logId, missingIds: [], madeId: undefined }),
  };
}

/** A push has come between: its names may mean other fields now. The edge translates it again. */
const checkNames = (
  { head }: TenantState,
  { schemaVersion = head.schemaVersion }: CommitRequest,
): Refusal | undefined =>
  schemaVersion === head.schemaVersion ? undefined : refuse("unavailable", { message: "The schema has just changed." });

function checkLeft(state: TenantState, commit: CommitRequest, dryRun: DryRun): Refusal | undefined {
  const found = checkValues(state, commit, dryRun);
  if (!found?.of) return found?.refusal;
  const { model, id } = found.of;
  const index = commit.operations
    .map(({ model: of, id: named }) => recordKey(of, named))
    .lastIndexOf(recordKey(model, id));
  return at(commit, index, found.refusal);
}

function checkPayloads(state: TenantState, commit: CommitRequest): Refusal | undefined {
  for (const [index, operation] of commit.operations.entries()) {
    const refusal = checkOperation(state, commit, operation);
    if (refusal) return at(commit, index, refusal);
  }
  return undefined;
}

function checkOperation(state: TenantState, commit: CommitRequest, operation: CommitOperation): Refusal | undefined {
  const declared = state.models.get(operation.model);
  if (!declared) return refuse("unknown_model", commit.single ? { param: "model" } : { param: "model", status: 400 });
  const data = operation.data as JsonObject | undefined;
  const refusal =
    checkPayload(declared.model, rowAction(operation.action), operation.id, data, operation.changes) ??
    (data && checkGroups(declared.model, data));
  if (refusal) return refusal;
  if (operation.action === "erase" && commit.propose) return refuse("invalid_value", ERASED_AT_ONCE);
  if (operation.action === "update" && writesNothing(operation) && operation.model !== "favorite")
    return refuse("empty_update", { param: "data" });
  return firstOf(state, (module) => module.check?.(operation, declared.name));
}

const ERASED_AT_ONCE = { param: "propose", message: "An erasure cannot be proposed. Propose a delete." };

function checkModules(state: TenantState, commit: CommitRequest): Refusal | undefined {
  for (const [index, operation] of commit.operations.entries()) {
    const refusal = judgeByModules(state, commit, operation);
    if (refusal) return at(commit, index, refusal);
  }
  return undefined;
}

/** Refuses positions of another log, and positions beyond the log's end. */
function checkPositions(state: TenantState, commit: CommitRequest): Refusal | undefined {
  const isOther = commit.logId !== undefined && commit.logId !== state.head.logId;
  if (isOther && !commit.operations.every((operation) => isRepeated(state, commit, operation)))
    return refuse("other_log", { param: "logId" });
  const index = commit.operations.findIndex(({ readAt }) => readAt !== undefined && readAt > state.head.syncId);
  if (index >= 0) return at(commit, index, refuse("read_at_in_future", { param: "readAt" }));
  const read = commit.reads.findIndex(({ readAt }) => readAt > state.head.syncId);
  return read < 0 ? undefined : refuse("read_at_in_future", { param: `reads[${read}].readAt` });
}
