import type { Read, StaleNotification } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import { organizationGroup } from "../../schema/rules/sync-group.ts";
import type { Scope } from "../../tokens/rules/participant.ts";
import { may } from "../../tokens/rules/scope.ts";
import { type CommitRequest, recordKey, writerOf } from "./commit-request.ts";
import { judgePremise, policyOf, type StaleConflict, type Writer } from "./stale.ts";
import { type GroupHead, newerEntries, newestOfOthers, type TenantState, writerName } from "./tenant-state.ts";

export interface Premises {
  readonly conflicts: readonly StaleNotification[];
  readonly refusal?: Refusal;
}

/** Judges the `reads` of a batch: if a premise has moved, its policy applies to the whole batch. */
export function judgeReads(state: TenantState, commit: CommitRequest): Premises {
  if (commit.reads.length === 0) return { conflicts: [] };
  const conflicts: StaleNotification[] = [];
  const writer = writerOf(commit);
  const { scope } = commit.principal;
  for (const [index, read] of commit.reads.entries()) {
    const policy = policyOf(read);
    if (policy === "overwrite") continue;
    const notice =
      read.group === undefined
        ? rowPremise(state, read, writer, scope)
        : groupPremise(state, read, read.group, writer, scope);
    if (notice && policy === "notify") conflicts.push(notice);
    else if (notice) return { conflicts, refusal: refuse("stale_context", { param: `reads[${index}]` }) };
  }
  return { conflicts };
}

/** The head for a group premise. The organization's group covers the whole log. */
export const groupHeadOf = (state: TenantState, group: string): GroupHead | undefined =>
  group === organizationGroup(state.organization) ? state.head : state.groupHeads.get(group);

function rowPremise(
  state: TenantState,
  read: Read,
  writer: Writer,
  scope: Scope | undefined,
): StaleNotification | undefined {
  const model = read.model as string;
  const id = read.id as string;
  const key = recordKey(model, id);
  const record = state.records.get(key);
  const newer = newerEntries(state, key, read.readAt, writer, scope);
  const conflict =
    (newer.length > 0 ? judgePremise(read.fields, record?.data, newer) : undefined) ??
    (record ? undefined : goneUnseen(state, read));
  return (
    conflict && {
      object: "stale_notification",
      model: state.models.get(model)?.name ?? model,
      id,
      readAt: read.readAt,
      ...conflict,
    }
  );
}

/** The record is missing and the log is trimmed beyond `readAt`, so a deletion after `readAt` cannot be ruled out. */
function goneUnseen(state: TenantState, { readAt, fields = [] }: Read): StaleConflict | undefined {
  const { trimmedTo } = state.head;
  return readAt < trimmedTo
    ? { writtenBy: "", observedSyncId: trimmedTo, conflictingFields: [...fields], currentValues: {} }
    : undefined;
}

function groupPremise(
  state: TenantState,
  read: Read,
  group: string,
  writer: Writer,
  scope: Scope | undefined,
): StaleNotification | undefined {
  const newest = newestOfOthers(groupHeadOf(state, group), writerName(writer));
  if (newest <= read.readAt) return undefined;
  const author = state.authors.get(newest);
  // Every writer learns that the group has changed. Only a writer who may read the model learns which record changed.
  const isTold = author && (scope === undefined || may(scope, author.model, "read"));
  const { model, id, writtenBy } = isTold ? author : NOT_TOLD;
  return {
    object: "stale_notification",
    model: state.models.get(model)?.name ?? model,
    id,
    writtenBy,
    group,
    readAt: read.readAt,
    observedSyncId: newest,
    conflictingFields: [],
    currentValues: {},
  };
}

const NOT_TOLD = { model: "", id: "", writtenBy: "" };
