import {
  type Action,
  type ChangeAttribution,
  type Json,
  type JsonObject,
  ownValue,
  type Proposal,
  type ProposalStatus,
  type ProposedOperation,
  writtenFields,
} from "@holdfast/sdk/protocol";
import { type CommitOperation, type CommitRequest, recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { NewEntry, TenantState } from "../../../kernel/commits/rules/tenant-state.ts";
import type { DeclaredModel } from "../../../kernel/schema/rules/declared-model.ts";
import type { Scope } from "../../../kernel/tokens/rules/participant.ts";
import { canOf, isWithin, type Lack, may } from "../../../kernel/tokens/rules/scope.ts";

/** An operation as it is stored: the model in lower case, and the names of the schema at present. */
export type StoredOperation = ProposedOperation;

/** A record of a proposal, and its groups before and after it. Null: there is no record. */
export interface ProposedRecord {
  readonly model: string;
  readonly id: string;
  readonly groupsBefore: readonly string[] | null;
  readonly groupsAfter: readonly string[] | null;
}

/** How a proposal was decided. */
export type ProposalEnd = Omit<NonNullable<Proposal["decision"]>, "by" | "at">;

export interface StoredProposal {
  readonly id: string;
  readonly status: ProposalStatus;
  readonly author: string;
  readonly clientTxId: string;
  readonly branch: string | null;
  readonly attribution: ChangeAttribution | null;
  readonly operations: readonly StoredOperation[];
  readonly readAt: number;
  readonly createdAt: string;
  /** When it expires; when it was decided. */
  readonly endsAt: string;
  readonly decidedBy: string | null;
  readonly decision: ProposalEnd | null;
  readonly records: readonly ProposedRecord[];
}

/** The operations of a commit that becomes a proposal, with what they would change. */
export const proposedOperations = (state: TenantState, { operations }: CommitRequest): readonly StoredOperation[] =>
  operations.map((operation) => {
    const { action, model, id, data, changes } = operation;
    const base = action === "update" ? baseOf(state, operation) : undefined;
    return {
      ...{ action: action as Action, model, id },
      ...(data && { data }),
      ...(changes && { changes }),
      ...(base && { base }),
    };
  });

function baseOf({ records }: TenantState, { model, id, data, changes }: CommitOperation): JsonObject | undefined {
  const before = records.get(recordKey(model, id));
  if (!before) return undefined;
  return Object.fromEntries(
    writtenFields({ data, changes }).flatMap((field): [string, Json][] => {
      const value = ownValue(before.data, field);
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** The records that it names, and those that change with what it deletes. */
export function proposedRecords({ records }: TenantState, entries: readonly NewEntry[]): readonly ProposedRecord[] {
  const last = new Map(entries.map((entry) => [recordKey(entry.model, entry.id), entry]));
  return [...last].map(([key, { model, id, groups, after }]) => ({
    ...{ model, id },
    groupsBefore: records.get(key)?.groups ?? null,
    groupsAfter: after && groups,
  }));
}

/**
 * Whether a reader may see all of it: each record where it is, where it was when it was proposed, and where it would be.
 * `present`: the groups of those that there are.
 */
export const isVisibleTo = (
  scope: Scope | undefined,
  { records }: Pick<StoredProposal, "records">,
  present: ReadonlyMap<string, readonly string[]>,
): boolean =>
  scope === undefined ||
  records.every(
    ({ model, id, groupsBefore, groupsAfter }) =>
      may(scope, model, "read") &&
      [groupsBefore, groupsAfter, present.get(recordKey(model, id))].every(
        (groups) => !groups || isWithin(scope, groups),
      ),
  );

/** What a participant lacks to decide it: those may who may write all of it. */
export const lackToDecide = (
  scope: Scope | undefined,
  { operations }: Pick<StoredProposal, "operations">,
): Pick<Lack, "can" | "model"> | undefined =>
  operations
    .map(({ action, model }) => ({ can: canOf(action), model }))
    .find(({ can, model }) => scope !== undefined && !may(scope, model, can));

export function presentProposal(
  { attribution, decidedBy, decision, endsAt, operations, records: _, ...rest }: StoredProposal,
  models: ReadonlyMap<string, DeclaredModel>,
  logId: string,
): Proposal {
  return {
    object: "proposal",
    ...rest,
    operations: operations.map((operation) => ({
      ...operation,
      model: models.get(operation.model)?.name ?? operation.model,
    })),
    logId,
    ...attribution,
    expiresAt: endsAt,
    decision: decidedBy === null ? null : { by: decidedBy, at: endsAt, ...decision },
  };
}
