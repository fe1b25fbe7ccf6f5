import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { conflictedByClaim } from "../conflicts/claim-conflict.ts";
import { mayMerge, putMerged } from "../conflicts/merging.ts";
import { planMerge } from "../conflicts/plan-merge.ts";
import { onTokenAccepted, onTokenRefused } from "../connection/auth.ts";
import { sendPace, waitAfter } from "../connection/retry.ts";
import { noteTrouble } from "../connection/trouble.ts";
import { type Draft, emit, keep, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { isOtherLog, resync } from "../log/reading.ts";
import type { QueueState } from "../state.ts";
import type { Failure } from "./failure.ts";
import type { Mutation } from "./mutation.ts";
import { type Outcome, outcomesOf, verdictOf } from "./outcome.ts";
import { find } from "./queue.ts";
import { withChanged } from "./queue-changes.ts";
import { changeSending } from "./sending-state.ts";
import { missingRecordFailure, settleAll } from "./settle.ts";

type Answered = Extract<ClientEvent, { type: "answered" }>;

/** Handles the response to a bulk, sent by this tab or by the leader tab. */
export function onBulkResponse(draft: Draft, event: Answered): void {
  const own = event.request === draft.state.sending.request && draft.state.sending.names !== undefined;
  const writes = event.names.map((name) => find(draft.state.queue, name));
  const verdict = verdictOf(event.reply);
  if (own) changeSending(draft, { names: undefined });
  switch (verdict.then) {
    case "read": {
      const outcomes = outcomesOf(verdict.body, event.names.length);
      if (!outcomes) return own ? tryAgain(draft, writes, "The response to a bulk could not be parsed.") : undefined;
      if (own) onTokenAccepted(draft);
      return applyOutcomes(draft, writes, outcomes, own);
    }
    case "again":
      return own ? tryAgain(draft, writes, verdict.reason, verdict) : undefined;
    case "sign-in":
      if (!own) return;
      requeue(draft, writes);
      return onTokenRefused(draft, verdict.reason);
    case "refused":
      return own ? applyRefusal(draft, writes, verdict.failure) : undefined;
  }
}

type Writes = readonly (Mutation | undefined)[];

function applyOutcomes(draft: Draft, writes: Writes, outcomes: readonly Outcome[], own: boolean): void {
  const news: Mutation[] = [];
  const kept: Mutation[] = [];
  const stale: Stale[] = [];
  let signIn: string | undefined;
  let again: string | undefined;
  let progress = false;
  let isAhead = false;
  outcomes.forEach((outcome, i) => {
    const write = writes[i];
    if (!write || !mayBeAnswered(write)) return;
    switch (outcome.kind) {
      case "confirmed": {
        progress = true;
        news.push({ ...write, stage: { phase: "confirmed", receipt: outcome.receipt } });
        const failure = missingRecordFailure(write, outcome.receipt);
        notify(draft, write, failure ? { kind: "failed", failure } : { kind: "confirmed", receipt: outcome.receipt });
        return;
      }
      case "conflicted": {
        const { notifications = [] } = outcome.receipt;
        if (draft.merging === undefined || !mayMerge(draft.state, write, notifications)) {
          progress = true;
          kept.push(conflicted(draft, write, outcome));
          return;
        }
        // The server repeats its answer when the same bytes are sent again.
        if (draft.merging === "loading") again = "The code that merges texts is being loaded.";
        else {
          progress = true;
          stale.push({ clientTxId: write.clientTxId, outcome });
        }
        break;
      }
      case "refused":
        // The write is sent again after the rows of the other log have been read.
        if (isOfOtherLog(draft, write, outcome.failure)) {
          isAhead = true;
          again = outcome.failure.message;
          break;
        }
        progress = true;
        kept.push(stoppedBy(draft, write, outcome.failure));
        return;
      case "sign-in":
        signIn = outcome.reason;
        break;
      case "again":
        again = outcome.reason;
        break;
      case "blocked":
        break;
    }
    // The server did not try a blocked write, so this attempt does not count.
    const attempts = outcome.kind === "blocked" ? write.attempts - 1 : write.attempts;
    if (own) news.push({ ...write, attempts, stage: { phase: "queued" } });
  });
  set<QueueState>(draft, { queue: withChanged(draft.state.queue, [...news, ...kept]) });
  kept.push(...mergeStale(draft, stale, own));
  // A confirmation does not change what is shown, so only conflicted and rejected writes need a refresh.
  for (const write of kept) touch(draft, write.keys);
  keep(draft, kept);
  settleAll(draft);
  // The receipt belongs to another log than the rows: the server was restored between two stream frames, or it repeats
  // a receipt from before the restore.
  const { logId = "", position = 0 } = draft.state.rows;
  for (const { stage } of news)
    if (stage.phase === "confirmed") isOtherLog(draft, stage.receipt.logId ?? logId, position);
  if (isAhead) resync(draft, "suspect");
  if (!own) return;
  if (signIn !== undefined) onTokenRefused(draft, signIn);
  // If no write made progress, wait before the next attempt.
  if (progress) {
    changeSending(draft, { wait: undefined, size: Math.min(limits.commitsPerBulk, draft.state.sending.size * 2) });
    noteTrouble(draft, again);
  } else delay(draft, again ?? "The server answered, but accepted no write.", 0);
}

interface Stale {
  readonly clientTxId: string;
  readonly outcome: Extract<Outcome, { kind: "conflicted" }>;
}

/**
 * Merges the texts of stale writes, which are queued again by now, and so are those behind them. Returns the others,
 * which a person has to decide about. The tab that has sent them merges; the other tabs learn from it what follows.
 */
function mergeStale(draft: Draft, stale: readonly Stale[], own: boolean): readonly Mutation[] {
  const { merging } = draft;
  return stale.flatMap(({ clientTxId, outcome }) => {
    const write = find(draft.state.queue, clientTxId);
    if (!write || typeof merging !== "function") return [];
    const plan = planMerge(merging, draft.state, write, outcome.receipt.notifications ?? []);
    if (plan && own) putMerged(draft, plan);
    if (plan) return [];
    const left = conflicted(draft, write, outcome);
    set<QueueState>(draft, { queue: withChanged(draft.state.queue, [left]) });
    return [left];
  });
}

/** The write as it waits for a person. */
function conflicted(draft: Draft, write: Mutation, { receipt, failure }: Stale["outcome"]): Mutation {
  notify(draft, write, { kind: "failed", failure });
  const { notifications = [] } = receipt;
  return { ...write, stage: { phase: "conflicted", notifications, conflictedAfter: draft.state.queue.lastSeq } };
}

/** Whether the server refused a write because it was made against another log than the current one. */
const isOfOtherLog = (draft: Draft, write: Mutation, { code }: Failure): boolean =>
  code === "other_log" || (code === "read_at_in_future" && isRead(draft, write));

/**
 * The rows have reached every `readAt` of the write. If one lies beyond the server's head, the server has another log.
 */
function isRead({ state: { rows } }: Draft, { operations, reads }: Mutation): boolean {
  return [...operations, ...reads].every(({ readAt = 0 }) => readAt <= (rows.position ?? 0));
}

/** The outcome is unknown, or nothing happened: send the same bytes again later. */
function tryAgain(draft: Draft, writes: Writes, reason: string, more = { atLeastMs: 0, smaller: false }): void {
  requeue(draft, writes);
  if (more.smaller) changeSending(draft, { size: Math.max(1, Math.floor(writes.length / 2)) });
  delay(draft, reason, more.atLeastMs);
}

/** The server refused the whole request. Send its writes one by one to find the invalid one. */
function applyRefusal(draft: Draft, writes: Writes, failure: Failure): void {
  // The page is too old, and not its writes: a newer version of the app sends them.
  const only = writes.length === 1 && failure.code !== "schema_too_old" ? writes[0] : undefined;
  if (only && (failure.type === "validation_error" || failure.type === "too_large_error"))
    return reject(draft, [only], failure);
  requeue(draft, writes);
  changeSending(draft, { size: Math.max(1, Math.floor(writes.length / 2)) });
  delay(draft, failure.message, 0);
}

/** Moves writes to the attention list, where they wait for a person or the app. */
export function reject(draft: Draft, writes: readonly Mutation[], failure: Failure): void {
  const rejected = writes.map((write) => rejectedBy(draft, write, failure));
  set<QueueState>(draft, { queue: withChanged(draft.state.queue, rejected) });
  touch(
    draft,
    rejected.flatMap((m) => m.keys),
  );
  keep(draft, rejected);
}

/** A claim refusal becomes a conflict; every other refusal rejects the write. */
function stoppedBy(draft: Draft, write: Mutation, failure: Failure): Mutation {
  const conflicted = conflictedByClaim(write, failure, draft.state);
  if (!conflicted) return rejectedBy(draft, write, failure);
  notify(draft, write, { kind: "failed", failure });
  return conflicted;
}

function rejectedBy(draft: Draft, write: Mutation, failure: Failure): Mutation {
  notify(draft, write, { kind: "failed", failure });
  return { ...write, stage: { phase: "rejected", failure } };
}

/** This tab leads no more: whether what it sent is committed, another one finds out. */
export function leaveSending(draft: Draft): void {
  const { sending, queue } = draft.state;
  requeue(
    draft,
    (sending.names ?? []).map((name) => find(queue, name)),
  );
  changeSending(draft, { names: undefined, request: sending.request + 1 });
}

function requeue(draft: Draft, writes: Writes): void {
  const back = writes.flatMap((m): Mutation[] =>
    m?.stage.phase === "sending" ? [{ ...m, stage: { phase: "queued" } }] : [],
  );
  set<QueueState>(draft, { queue: withChanged(draft.state.queue, back) });
  keep(
    draft,
    back.filter(({ echoed }) => echoed.length > 0),
  );
}

function delay(draft: Draft, reason: string, atLeastMs: number): void {
  const wait = waitAfter(draft.state.sending.wait, sendPace, draft.now, draft.roll, atLeastMs);
  changeSending(draft, { wait });
  noteTrouble(draft, reason);
}

/**
 * A tab may receive a response before it learns that the write was sent, or after a person has decided about the write.
 * While it does not know the write's slot yet, a decision could not be stored: the leader's change brings both.
 */
const mayBeAnswered = ({ seq, stage: { phase } }: Mutation) =>
  phase === "sending" || phase === "queued" || (phase === "saving" && seq !== undefined);

type News = Extract<Draft["effects"][number], { do: "notify" }>["news"];
const notify = (draft: Draft, { clientTxId }: Mutation, news: News) => emit(draft, { do: "notify", clientTxId, news });
