import { refuse } from "../../refusal.ts";
import { AMPLE_ROOM, type AnswerRoom, answerBytes, fullFor, noRoom } from "./answer-room.ts";
import { isForLater } from "./commit-bytes.ts";
import { type CommitRequest, namesOf, operationKeyName, recordKey, touched, writerOf } from "./commit-request.ts";
import { decideCommit } from "./decide-commit.ts";
import { entriesOf } from "./dry-run.ts";
import { groupHeadOf } from "./premises.ts";
import { confirmedReceipt, rejectedReceipt } from "./receipt.ts";
import { keptReceipt } from "./short-receipt.ts";
import { hasMoved, policyOf } from "./stale.ts";
import {
  type Decision,
  groupsTouched,
  type NewEntry,
  type NewReceipt,
  nextGroupHead,
  receiptKey,
  type TenantState,
  writerName,
} from "./tenant-state.ts";
import { noteValues } from "./value-holders.ts";

/** The result of one commit, with the serialized receipt. */
export interface Judged {
  readonly commit: CommitRequest;
  readonly decision: Decision;
  /** The receipt as JSON, sent now and again on every retry. For a refusal: the rejected receipt. */
  readonly body: string;
  /** What it adds to the answer. */
  readonly bytes: number;
}

/**
 * Judges the commits of one request in order, and applies each confirmed commit to the state. If a commit is not
 * confirmed, later commits that touch one of its records are refused without being judged: they build on a change that
 * did not happen. Continues after the commits that earlier rounds judged, and stops early when the round is full: see
 * commit-bytes.ts. From the first commit on whose receipt has no room in the answer, no commit is tried: see
 * answer-room.ts.
 */
export function judgeInOrder(
  state: TenantState,
  commits: readonly CommitRequest[],
  earlier: readonly Judged[] = [],
  room: AnswerRoom = AMPLE_ROOM,
): Judged[] {
  const judged = [...earlier];
  const blockers = new Map<string, number>();
  const block = ({ commit, decision }: Judged, index: number) => {
    if (!isSettled(decision)) for (const key of touched(commit)) if (!blockers.has(key)) blockers.set(key, index);
  };
  earlier.forEach(block);
  let used = earlier.reduce((sum, { bytes }) => sum + bytes, 0);
  let full = earlier.map(({ decision }) => fullFor(decision)).find((found) => found !== undefined);
  for (const commit of commits.slice(earlier.length)) {
    const blocker = touched(commit)
      .map((key) => blockers.get(key))
      .find((found) => found !== undefined);
    const isTried = blocker === undefined && full === undefined;
    if (isTried && (isForLater(state, commit) || isLocked(state, commit))) break;
    const decided = isTried ? decideCommit(state, commit) : refused(full, blocker);
    const decision = full === undefined ? settled(state, commit, decided) : decided;
    if (decision === "later") break;
    const fitted = fit(judgedAs(commit, decision), room, used);
    const one = apply(state, fitted);
    full ??= fullFor(one.decision);
    used += one.bytes;
    block(one, judged.length);
    judged.push(one);
  }
  return judged;
}

function settled(state: TenantState, commit: CommitRequest, decided: Decision): Decision | "later" {
  let decision = decided;
  for (const { settle } of state.modules.values()) {
    const next = settle?.(state, commit, decision) ?? decision;
    if (next === "later") return next;
    decision = next;
  }
  return decision;
}

function refused(full: ReturnType<typeof fullFor>, blockedBy: number | undefined): Decision {
  const refusal = full ? refuse(full) : refuse("dependency_blocked", blockedBy === undefined ? {} : { blockedBy });
  return { kind: "refused", refusal };
}

/** The commit as not tried, if its receipt does not fit behind `used` bytes of others. */
function fit(judged: Judged, room: AnswerRoom, used: number): Judged {
  const { commit, decision } = judged;
  const code = fullFor(decision) ? undefined : noRoom(room, used, judged.bytes, decision);
  return code === undefined ? judged : judgedAs(commit, { kind: "refused", refusal: refuse(code) });
}

/** Whether another transaction has locked a row that the commit writes. */
export const isLocked = ({ modules }: TenantState, commit: CommitRequest): boolean =>
  [...modules.values()].some(({ isLocked: has }) => has && touched(commit).some(has));

/**
 * Records changes that have already happened in a table of the caller's, and applies them to the state. No receipt is
 * kept, because the caller's SQL cannot ask for it.
 */
export function appendHappened(state: TenantState, commits: readonly CommitRequest[]): Judged[] {
  return commits.map((commit) => {
    const entries = entriesOf(state, commit);
    for (const entry of entries) append(state, commit, entry);
    const { logId, syncId } = state.head;
    const receipt = confirmedReceipt(commit, { lastSyncId: syncId, logId, missingIds: [], madeId: undefined });
    return { commit, decision: { kind: "confirmed", receipt, entries }, body: "", bytes: 0 };
  });
}

/** Applies a decision to the state, if there is room for its receipt. */
export const conclude = (
  state: TenantState,
  commit: CommitRequest,
  decision: Decision,
  room: AnswerRoom = AMPLE_ROOM,
): Judged => apply(state, fit(judgedAs(commit, decision), room, 0));

function apply(state: TenantState, judged: Judged): Judged {
  const { commit, decision } = judged;
  if (decision.kind === "confirmed") applyCommit(state, judged, decision.entries);
  if (decision.kind === "conflicted") countReturned(state, judged);
  if (decision.kind === "proposed") {
    for (const module of state.modules.values()) module.proposed?.(state, commit, decision.entries);
    remember(state, judged);
  }
  return judged;
}

export function judgedAs(commit: CommitRequest, decision: Decision): Judged {
  const body = bodyOf(commit, decision);
  return { commit, decision, body, bytes: answerBytes(decision, body) };
}

/** Whether later commits on its records can be tried. A replay of a conflicted receipt is no more settled than the original. */
const isSettled = (decision: Decision): boolean =>
  decision.kind === "confirmed" ||
  decision.kind === "proposed" ||
  (decision.kind === "replayed" && !decision.receipt.conflicted);

function bodyOf(commit: CommitRequest, decision: Decision): string {
  switch (decision.kind) {
    case "confirmed":
    case "proposed":
    case "conflicted":
      return JSON.stringify(decision.receipt);
    case "replayed":
      return decision.receipt.body;
    case "refused":
      return JSON.stringify(rejectedReceipt(commit, decision.refusal));
  }
}

function applyCommit(state: TenantState, judged: Judged, entries: readonly NewEntry[]): void {
  for (const entry of entries) append(state, judged.commit, entry);
  for (const module of state.modules.values()) module.committed?.(state, judged.commit);
  remember(state, judged);
}

/** Its receipt has values of records. */
function countReturned(state: TenantState, judged: Judged): void {
  state.bytes.used += judged.body.length;
  remember(state, judged);
}

function append(state: TenantState, commit: CommitRequest, entry: NewEntry): void {
  state.bytes.used += entry.text?.length ?? 0;
  const key = recordKey(entry.model, entry.id);
  const writer = writerOf(commit);
  const name = writerName(writer);
  state.records.set(key, entry.after);
  noteValues(state.values, entry);
  for (const module of state.modules.values()) module.applied?.(state, entry);
  state.authors.set(entry.syncId, { model: entry.model, id: entry.id, writtenBy: writer.writtenBy });
  const filed = {
    syncId: entry.syncId,
    verb: entry.verb,
    changedFields: entry.changedFields,
    groups: entry.groups,
    ...writer,
  };
  const past = state.history.get(key);
  if (past) past.push(filed);
  else state.history.set(key, [filed]);
  state.head = { ...state.head, ...nextGroupHead(state.head, entry.syncId, name) };
  for (const group of groupsTouched(entry))
    state.groupHeads.set(group, nextGroupHead(state.groupHeads.get(group), entry.syncId, name));
}

function remember(state: TenantState, { commit, decision, body }: Judged): void {
  const { writtenBy: participant } = writerOf(commit);
  if (decision.kind === "replayed" || decision.kind === "refused") return;
  const conflicted = decision.kind === "conflicted";
  const { fingerprint } = commit;
  for (const name of namesOf(commit))
    addReceipt(
      state,
      { participant, name, fingerprint, kept: keptReceipt(body, name, decision.receipt), conflicted },
      body,
    );
  if (decision.kind !== "confirmed") return;
  const keyed = commit.operations.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  const own = new Map(keyed.map(({ idempotencyKey = "", fingerprint = "" }) => [idempotencyKey, fingerprint]));
  for (const [key, fingerprint] of own)
    addReceipt(state, { participant, name: operationKeyName(key), fingerprint, kept: null, conflicted }, "");
}

/** If the operation's key already has a receipt, the operation is a repetition and the older receipt stays. */
function addReceipt({ receipts, newReceipts }: TenantState, receipt: NewReceipt, body: string): void {
  const key = receiptKey(receipt.participant, receipt.name);
  if (receipts.has(key)) return;
  receipts.set(key, { fingerprint: receipt.fingerprint, body, conflicted: receipt.conflicted });
  newReceipts.push(receipt);
}

/** What a round has to query from the log before it can judge. Usually nothing. */
export interface Lookup {
  /** Per record that has moved: the oldest `readAt` in question. */
  readonly history: ReadonlyMap<string, RecordQuestion>;
  /** The newest positions of the groups that `reads` name. */
  readonly authors: ReadonlySet<number>;
}

interface RecordQuestion {
  readonly model: string;
  readonly id: string;
  readonly after: number;
}

export function lookupFor(state: TenantState, commits: readonly CommitRequest[]): Lookup {
  const history = new Map<string, RecordQuestion>();
  const authors = new Set<number>();
  const ask = (model: string, id: string, readAt: number | undefined) => {
    const key = recordKey(model, id);
    if (readAt === undefined || readAt >= state.head.syncId || !hasMoved(state.records.get(key), readAt)) return;
    history.set(key, { model, id, after: Math.min(readAt, history.get(key)?.after ?? readAt) });
  };
  for (const { operations, reads } of commits) {
    // An operation with `overwrite` needs no staleness check.
    for (const operation of operations) {
      const { action, model, id, readAt } = operation;
      if (policyOf(operation) !== "overwrite") ask(model, id, readAt);
      // The log may still hold the values of a deleted record.
      if (action === "erase" && !state.records.has(recordKey(model, id))) ask(model, id, 0);
    }
    for (const { model, id, group, readAt } of reads) {
      if (model !== undefined && id !== undefined) ask(model, id, readAt);
      const head = group === undefined ? undefined : groupHeadOf(state, group);
      for (const position of head ? [head.syncId, head.otherSyncId] : []) if (position > readAt) authors.add(position);
    }
  }
  return { history, authors };
}
