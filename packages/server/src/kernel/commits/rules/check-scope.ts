import { applyOperation, operationParam, type RequiredCapability, type Row } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import { groupsOf, organizationGroup } from "../../schema/rules/sync-group.ts";
import type { Scope } from "../../tokens/rules/participant.ts";
import { canOf, deny, isWithin, type Lack, may, mayWriteFor } from "../../tokens/rules/scope.ts";
import { type CommitOperation, type CommitRequest, momentOf, recordKey, stepOf } from "./commit-request.ts";
import { proposes } from "./proposes.ts";
import { isRepeated } from "./replay.ts";
import type { TenantState } from "./tenant-state.ts";

/**
 * Whether the token covers a commit. Each operation needs its verb, the record's groups before the commit, and any
 * group that it adds; each premise needs read. This check comes before any response that depends on the records
 * themselves.
 */
export function checkScope(state: TenantState, commit: CommitRequest): Refusal | undefined {
  const { scope } = commit.principal;
  if (scope === undefined) return undefined;
  const { onBehalfOf } = commit.attribution ?? {};
  // Of a proposal that is decided, its author was allowed to say it.
  if (onBehalfOf !== undefined && !commit.decides && !mayWriteFor(scope, onBehalfOf))
    return refuse("on_behalf_of_denied", { param: "onBehalfOf" });
  return checkOperations(state, commit, scope) ?? checkReads(state, commit, scope);
}

/** A record in the course of the commit: its values and groups. */
interface Filed extends Row {
  readonly groups: readonly string[];
}

function checkOperations(state: TenantState, commit: CommitRequest, scope: Scope): Refusal | undefined {
  // Later operations of a commit see the results of earlier ones.
  const filed = new Map<string, Filed | undefined>();
  for (const [index, operation] of commit.operations.entries()) {
    if (isRepeated(state, commit, operation)) continue;
    const key = recordKey(operation.model, operation.id);
    const before = filed.has(key) ? filed.get(key) : (state.records.get(key) ?? undefined);
    // If the caller may not see the record, no further check may depend on its values.
    const after = before && !isWithin(scope, before.groups) ? before : outcome(state, commit, operation, before);
    filed.set(key, after);
    const lack = lackOf(state, commit, scope, operation, before, after);
    if (!lack) continue;
    const isNew = after && !before && may(scope, operation.model, "create");
    const unfiled = isNew ? unfiledField(state, operation, after) : undefined;
    if (unfiled !== undefined) return missingGroup(commit, index, lack, unfiled);
    return denyOperation(state, commit, operation, index, lack);
  }
  return undefined;
}

function outcome(
  state: TenantState,
  commit: CommitRequest,
  operation: CommitOperation,
  before: Filed | undefined,
): Filed | undefined {
  const model = state.models.get(operation.model)?.model;
  if (model === undefined || (operation.action === "create" && before)) return before;
  const row = applyOperation(before, stepOf(operation), model, momentOf(state, commit));
  return row && { ...row, groups: groupsOf(model, row.data) };
}

function lackOf(
  state: TenantState,
  commit: CommitRequest,
  scope: Scope,
  operation: CommitOperation,
  before: Filed | undefined,
  after: Filed | undefined,
): Lack | undefined {
  const { organization } = commit.principal;
  const can = canOf(operation.action);
  const model = state.models.get(operation.model)?.name ?? operation.model;
  const whole = organizationGroup(organization);
  const own = scope.groups?.values().next().value ?? whole;
  const isAllowed =
    may(scope, operation.model, can) || (proposes(commit) && can !== "erase" && may(scope, operation.model, "propose"));
  if (!isAllowed) return { can, model, syncGroup: own };
  if (scope.groups === undefined) return undefined;
  // Does not reveal the groups of a record that the caller may not see. The organization's group would suffice in any
  // case.
  if (before && !isWithin(scope, before.groups)) return { can, model, syncGroup: whole };
  const added = after?.groups.filter((group) => !before?.groups.includes(group)) ?? [];
  const foreign = added.find((group) => !isWithin(scope, [group]));
  if (foreign !== undefined) return { can, model, syncGroup: foreign };
  // A new record without a group belongs to the whole organization.
  return after && !before && added.length === 0 ? { can, model, syncGroup: whole } : undefined;
}

/** The field that sets the group of a new record, if the caller omitted it. */
function unfiledField(state: TenantState, { model }: CommitOperation, after: Filed): string | undefined {
  if (after.groups.length > 0) return undefined;
  const fields = state.models.get(model)?.model.groups?.map(({ from }) => from) ?? [];
  return fields.find((field) => !Object.hasOwn(after.data, field));
}

const missingGroup = (commit: CommitRequest, index: number, { model }: Lack, field: string): Refusal =>
  refuse("missing_field", {
    param: commit.single ? `data.${field}` : operationParam(index, `data.${field}`),
    message: `"${field}" is missing. It names the group of a ${model}; without it the record belongs to the whole organization, which the token's scope does not cover.`,
  });

/**
 * On the update route, the denial for a favorite also names the issuer, the lifetime and a nonce for a capability
 * request.
 */
function denyOperation(
  state: TenantState,
  commit: CommitRequest,
  operation: CommitOperation,
  index: number,
  lack: Lack,
): Refusal {
  const denied = deny(lack, commit.single ? {} : { param: operationParam(index) });
  const refusal = { ...denied, message: `${denied.message}${causeInSchema(state, operation, lack)}` };
  if (commit.endpoint !== "updateRecord" || operation.model !== "favorite") return refusal;
  return {
    ...refusal,
    requiredCapability: {
      ...(refusal.requiredCapability as RequiredCapability),
      constraints: { model: lack.model, syncGroup: lack.syncGroup },
      issuer: commit.principal.organization,
      ttlSeconds: FAVORITE_TTL_SECONDS,
      nonce: commit.serverTxId,
    },
  };
}

/** Why the schema lets no token like this one write it, if that is so. Says the same whether the record exists or not. */
function causeInSchema({ models, organization }: TenantState, operation: CommitOperation, lack: Lack): string {
  const declared = models.get(operation.model);
  if (!declared) return ` The pushed schema has no model "${lack.model}".`;
  if (lack.syncGroup !== organizationGroup(organization) || declared.model.groups?.length) return "";
  return ` The model "${lack.model}" has no "groups", so its records belong to the whole organization.`;
}

/** The usual lifetime of a capability. */
const FAVORITE_TTL_SECONDS = 600;

function checkReads(state: TenantState, commit: CommitRequest, scope: Scope): Refusal | undefined {
  for (const [index, { model, id, group }] of commit.reads.entries()) {
    const lack = group === undefined ? rowLack(state, scope, model ?? "", id ?? "") : groupLack(scope, group);
    if (lack) return deny(lack, { param: `reads[${index}]` });
  }
  return undefined;
}

function rowLack(state: TenantState, scope: Scope, model: string, id: string): Lack | undefined {
  const name = state.models.get(model)?.name ?? model;
  const whole = organizationGroup(state.organization);
  if (!may(scope, model, "read"))
    return { can: "read", model: name, syncGroup: scope.groups?.values().next().value ?? whole };
  const record = state.records.get(recordKey(model, id));
  return record && !isWithin(scope, record.groups) ? { can: "read", model: name, syncGroup: whole } : undefined;
}

const groupLack = (scope: Scope, group: string): Lack | undefined =>
  isWithin(scope, [group]) ? undefined : { can: "read", model: "*", syncGroup: group };
