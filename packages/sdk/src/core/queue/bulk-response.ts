import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { heldForClaim } from "../conflicts/claim-conflict.ts";
import { tokenRefused, tokenWorks } from "../connection/auth.ts";
import { sendPace, waitAfter } from "../connection/retry.ts";
import { ask, keep, set, type Turn, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { isOtherLog, resync } from "../log/reading.ts";
import type { Failure } from "./failure.ts";
import type { Mutation } from "./mutation.ts";
import { type Outcome, outcomesOf, verdictOf } from "./outcome.ts";
import { changed, find } from "./queue.ts";
import { missed, settleAll } from "./settle.ts";

type Answered = Extract<ClientEvent, { type: "answered" }>;

/** Hears the answer to a bulk: to our own request, or to one of the tab that sends. */
export function hearAnswer(turn: Turn, event: Answered): void {
  const own = event.request === turn.state.sending.request && turn.state.sending.names !== undefined;
  const writes = event.names.map((name) => find(turn.state.queue, name));
  const verdict = verdictOf(event.reply);
  if (own) set(turn, { sending: { ...turn.state.sending, names: undefined } });
  switch (verdict.then) {
    case "read": {
      const outcomes = outcomesOf(verdict.body, event.names.length);
      if (!outcomes) return own ? tryAgain(turn, writes, "The answer to a bulk could not be read.") : undefined;
      if (own) tokenWorks(turn);
      return hearOutcomes(turn, writes, outcomes, own);
    }
    case "again":
      return own ? tryAgain(turn, writes, verdict.reason, verdict) : undefined;
    case "sign-in":
      if (!own) return;
      requeue(turn, writes);
      return tokenRefused(turn, verdict.reason);
    case "refused":
      return own ? hearRefusal(turn, writes, verdict.failure) : undefined;
  }
}

type Writes = readonly (Mutation | undefined)[];

function hearOutcomes(turn: Turn, writes: Writes, outcomes: readonly Outcome[], own: boolean): void {
  const news: Mutation[] = [];
  const kept: Mutation[] = [];
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
        const failure = missed(write, outcome.receipt);
        tell(turn, write, failure ? { kind: "failed", failure } : { kind: "confirmed", receipt: outcome.receipt });
        return;
      }
      case "held": {
        progress = true;
        const { notifications = [] } = outcome.receipt;
        kept.push({ ...write, stage: { phase: "held", notifications, heldAfter: turn.state.queue.lastSeq } });
        tell(turn, write, { kind: "failed", failure: outcome.failure });
        return;
      }
      case "refused":
        // Offered again when the rows of the other log are read.
        if (isOfOtherLog(turn, write, outcome.failure)) {
          isAhead = true;
          again = outcome.failure.message;
          break;
        }
        progress = true;
        kept.push(stoppedBy(turn, write, outcome.failure));
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
    // One that was not tried has no answer to wait for.
    const attempts = outcome.kind === "blocked" ? write.attempts - 1 : write.attempts;
    if (own) news.push({ ...write, attempts, stage: { phase: "queued" } });
  });
  set(turn, { queue: changed(turn.state.queue, [...news, ...kept]) });
  // That a write was confirmed changes nothing that is shown.
  for (const write of kept) touch(turn, write.keys);
  keep(turn, kept);
  settleAll(turn);
  // A receipt of another log than the rows are of: the server was restored between two frames of the stream, or it
  // remembers an answer from before it was.
  const { logId = "", position = 0 } = turn.state.rows;
  for (const { stage } of news)
    if (stage.phase === "confirmed") isOtherLog(turn, stage.receipt.logId ?? logId, position);
  if (isAhead) resync(turn, "suspect");
  if (!own) return;
  if (signIn !== undefined) tokenRefused(turn, signIn);
  const { sending } = turn.state;
  // An answer that moved nothing must not be asked for again at once.
  if (progress)
    set(turn, {
      sending: { ...sending, wait: undefined, size: Math.min(limits.commitsPerBulk, sending.size * 2) },
      trouble: again,
    });
  else delay(turn, again ?? "The server answered without taking a write.", 0);
}

/** Whether a write was refused because it was made in view of another log than the server has now. */
const isOfOtherLog = (turn: Turn, write: Mutation, { code }: Failure): boolean =>
  code === "other_log" || (code === "read_at_in_future" && isRead(turn, write));

/** We have read as far as it says. If that lies beyond the server's head, the log is another one. */
function isRead({ state: { rows } }: Turn, { operations, reads }: Mutation): boolean {
  return [...operations, ...reads].every(({ readAt = 0 }) => readAt <= (rows.position ?? 0));
}

/** The outcome is unknown, or nothing happened: the same bytes again, later. */
function tryAgain(turn: Turn, writes: Writes, reason: string, more = { atLeastMs: 0, smaller: false }): void {
  requeue(turn, writes);
  const { sending } = turn.state;
  if (more.smaller) set(turn, { sending: { ...sending, size: Math.max(1, Math.floor(writes.length / 2)) } });
  delay(turn, reason, more.atLeastMs);
}

/** The request as a whole was refused: which of its writes is to blame shows when they go one by one. */
function hearRefusal(turn: Turn, writes: Writes, failure: Failure): void {
  const only = writes.length === 1 ? writes[0] : undefined;
  if (only && (failure.type === "validation_error" || failure.type === "too_large_error"))
    return park(turn, [only], failure);
  requeue(turn, writes);
  set(turn, { sending: { ...turn.state.sending, size: Math.max(1, Math.floor(writes.length / 2)) } });
  delay(turn, failure.message, 0);
}

/** They wait for a person from now on. */
export function park(turn: Turn, writes: readonly Mutation[], failure: Failure): void {
  const parked = writes.map((write) => parkedBy(turn, write, failure));
  set(turn, { queue: changed(turn.state.queue, parked) });
  touch(
    turn,
    parked.flatMap((m) => m.keys),
  );
  keep(turn, parked);
}

/** A claim that stood against it is a matter between people: a conflict. All else is parked. */
function stoppedBy(turn: Turn, write: Mutation, failure: Failure): Mutation {
  const held = heldForClaim(write, failure, turn.state);
  if (!held) return parkedBy(turn, write, failure);
  tell(turn, write, { kind: "failed", failure });
  return held;
}

function parkedBy(turn: Turn, write: Mutation, failure: Failure): Mutation {
  tell(turn, write, { kind: "failed", failure });
  return { ...write, stage: { phase: "parked", failure } };
}

export function requeue(turn: Turn, writes: Writes): void {
  const back = writes.filter((m) => m?.stage.phase === "sending") as Mutation[];
  set(turn, {
    queue: changed(
      turn.state.queue,
      back.map((m) => ({ ...m, stage: { phase: "queued" } })),
    ),
  });
}

function delay(turn: Turn, reason: string, atLeastMs: number): void {
  const { sending } = turn.state;
  const wait = waitAfter(sending.wait, sendPace, turn.now, turn.roll, atLeastMs);
  set(turn, { sending: { ...sending, wait }, trouble: reason });
}

/** Another tab may hear of an answer before it hears that the write was on its way, or after it was decided. */
const mayBeAnswered = ({ stage: { phase } }: Mutation) =>
  phase === "sending" || phase === "queued" || phase === "saving";

type News = Extract<Turn["effects"][number], { do: "tell" }>["news"];
const tell = (turn: Turn, { clientTxId }: Mutation, news: News) => ask(turn, { do: "tell", clientTxId, news });
