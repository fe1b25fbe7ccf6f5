import { type Refusal, refuse } from "../../refusal.ts";
import { isWithin } from "../../tokens/rules/scope.ts";
import { type CommitOperation, type CommitRequest, recordKey, rowAction } from "./commit-request.ts";
import { mayBeStale } from "./stale.ts";
import type { RecordState, TenantState } from "./tenant-state.ts";
import { tooLargeToRead } from "./unreadable-record.ts";

/** Whether judging the operation needs the record's values. A delete needs only its position and groups. */
const asksValues = (operation: CommitOperation, record: Pick<RecordState, "syncId">): boolean =>
  rowAction(operation.action) !== "delete" || mayBeStale(operation, record);

/** The records whose values a commit needs, in order. A record that it names twice appears twice. */
export function valuesAsked<R extends Pick<RecordState, "syncId">>(
  { operations, reads }: CommitRequest,
  recordAt: (model: string, id: string) => R | null | undefined,
): R[] {
  const asked: R[] = [];
  for (const operation of operations) {
    const record = recordAt(operation.model, operation.id);
    if (record && asksValues(operation, record)) asked.push(record);
  }
  for (const read of reads) {
    if (read.model === undefined || read.id === undefined) continue;
    const record = recordAt(read.model, read.id);
    if (record && mayBeStale(read, record)) asked.push(record);
  }
  return asked;
}

/** Whether a commit has to wait for a later round: its values were not read, or this round is full. */
export function isForLater(state: TenantState, commit: CommitRequest): boolean {
  const { first, used, roundBytes } = state.bytes;
  if (commit === first) return false;
  const asked = bytesAsked(state, commit);
  return asked === "not read" || (used > 0 && used + asked > roundBytes);
}

export function checkCommitBytes(state: TenantState, commit: CommitRequest): Refusal | undefined {
  const unreadable = recordsAsked(state, commit).find((record) => record.unreadable !== undefined)?.unreadable;
  if (unreadable !== undefined) return refuse("record_too_large", { message: tooLargeToRead(unreadable || undefined) });
  const asked = bytesAsked(state, commit);
  const { commitBytes } = state.bytes;
  return asked === "not read" || asked > commitBytes ? tooLargeCommit(commitBytes) : undefined;
}

export const tooLargeCommit = (commitBytes: number): Refusal =>
  refuse("commit_too_large", {
    message: `The records that this commit names have more than ${commitBytes} bytes of JSON together. Use several commits.`,
  });

/** Without those that the caller may not see: their size is not revealed, and the scope check refuses the commit. */
function recordsAsked(state: TenantState, commit: CommitRequest): readonly RecordState[] {
  const { scope } = commit.principal;
  const asked = valuesAsked(commit, (model, id) => state.records.get(recordKey(model, id)));
  return scope === undefined ? asked : asked.filter(({ groups }) => isWithin(scope, groups));
}

/** Counts only records that were read by name. Small ones are loaded in any case. */
function bytesAsked(state: TenantState, commit: CommitRequest): number | "not read" {
  let bytes = 0;
  for (const record of recordsAsked(state, commit)) {
    if (record.unreadable !== undefined) continue;
    if (record.bytes === "not read") return "not read";
    bytes += record.bytes ?? 0;
  }
  return bytes;
}
