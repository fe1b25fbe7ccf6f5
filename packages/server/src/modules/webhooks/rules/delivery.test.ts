import { webhookLimits } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  beginAttempt,
  type DeliveryOutcome,
  type DeliveryState,
  type DeliveryTimes,
  disable,
  dueAt,
  dueIn,
  enable,
  endAttempt,
  passOver,
  revise,
  type SentBatch,
} from "./delivery.ts";
import { interrupted } from "./delivery-outcome.ts";

const times: DeliveryTimes = { schedule: webhookLimits.schedule, requestMs: 15_000, leaseMs: 20_000 };
const start: DeliveryState = {
  disabledReason: null,
  revision: 1,
  cursor: 0,
  attempt: 0,
  batchTo: null,
  batchSize: 100,
  nextAttemptAt: null,
  lease: null,
  lastError: null,
  lastSuccessAt: null,
};
const failed: DeliveryOutcome = {
  kind: "failed",
  code: "unexpected_status",
  message: "The receiver answered 500.",
  status: 500,
};
const succeeded: DeliveryOutcome = { kind: "succeeded", status: 204 };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A log of `head` positions, all of them subscribed to: what is sent next. */
function nextOf(state: DeliveryState, head: number): number[] {
  const end = Math.min(state.batchTo ?? head, state.cursor + state.batchSize);
  return Array.from({ length: end - state.cursor }, (_, i) => state.cursor + 1 + i);
}

function begin(
  state: DeliveryState,
  positions: readonly number[],
  now: number,
): { state: DeliveryState; sent: SentBatch } {
  const token = `del_${now}_${state.attempt}`;
  return {
    state: beginAttempt(state, positions.at(-1) as number, token, now, times),
    sent: { lease: token, revision: state.revision, cursor: state.cursor, positions },
  };
}

/** Goes from one due time to the next, each attempt taking `tookMs`, until it sleeps. */
function run(
  from: DeliveryState,
  head: () => number,
  answer: (positions: number[]) => DeliveryOutcome,
  random = 0,
  tookMs = 250,
) {
  const attempts: { at: number; end: number; positions: number[] }[] = [];
  let [state, now] = [from, 1_000_000];
  for (let guard = 0; guard < 2_000 && state.cursor < head(); guard++) {
    const due = dueAt(state);
    if (due === undefined) break;
    now = Math.max(now, due);
    const positions = nextOf(state, head());
    const begun = begin(state, positions, now);
    attempts.push({ at: now, end: now + tookMs, positions });
    now += tookMs;
    state = endAttempt(begun.state, begun.sent, answer(positions), { now, random, times }) as DeliveryState;
  }
  return { attempts, state };
}

test("[W10] [W11] eight attempts over 27 h 35 min 5 s, exactly as listed, then it is disabled and there is no ninth", () => {
  const { attempts, state } = run(
    start,
    () => 1_000,
    () => failed,
  );
  const waits = attempts.map(({ at }, i) => at - (attempts[i - 1]?.end ?? at));
  expect(waits).toEqual([0, 5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR]);
  expect(waits.reduce((sum, wait) => sum + wait)).toBe(27 * HOUR + 35 * MINUTE + 5_000);
  expect(state).toMatchObject({ disabledReason: "attempts_exhausted", attempt: 8, cursor: 0, nextAttemptAt: null });
  expect(dueAt(state)).toBeUndefined();
});

test("[W10] jitter only makes it later, by a tenth at most", () => {
  const { attempts } = run(
    start,
    () => 1_000,
    () => failed,
    1,
  );
  for (const [i, { at }] of attempts.entries()) {
    const wait = at - (attempts[i - 1]?.end ?? at);
    expect(wait).toBe(Math.round((webhookLimits.schedule[i] as number) * 1.1));
  }
});

test.each([
  [1_000, 5_000],
  [7_000, 7_000],
  [10_000, 10_000],
  [3_600_000, 10_000],
])("[W10] a receiver that asks for %i ms instead of 5 s waits %i ms", (retryAfterMs, wait) => {
  const { state, sent } = begin(start, [1], 0);
  const next = endAttempt(state, sent, { ...failed, retryAfterMs } as DeliveryOutcome, { now: 100, random: 0, times });
  expect(next?.nextAttemptAt).toBe(100 + wait);
});

test("[W12] from the third failure on a third of the events, so that the eighth attempt names one", () => {
  const { attempts, state } = run(
    start,
    () => 1_000,
    () => failed,
  );
  expect(attempts.map(({ positions }) => positions.length)).toEqual([100, 100, 100, 34, 12, 4, 2, 1]);
  expect(state.lastError).toMatchObject({ code: "unexpected_status", status: 500, from: 1, to: 1 });
});

test("[W12] a batch that fails stays as it was, however the log grows; after a success it doubles up to a hundred", () => {
  let head = 40;
  const seen: number[][] = [];
  const answer = (positions: number[]) => {
    seen.push(positions);
    head += 1_000;
    return seen.length <= 4 ? failed : succeeded;
  };
  const { attempts, state } = run(start, () => (seen.length < 5 ? head : 2_000), answer);
  expect(attempts.slice(0, 5).map(({ positions }) => positions.length)).toEqual([40, 40, 40, 14, 5]);
  expect(attempts.slice(5, 11).map(({ positions }) => positions.length)).toEqual([10, 20, 40, 80, 100, 100]);
  expect(state).toMatchObject({ cursor: 2_000, attempt: 0, batchTo: null });
});

test("[W8] [W12] with random failures the cursor moves only over accepted events, in order, without a gap", () => {
  const outcome = fc.constantFrom<DeliveryOutcome>(failed, succeeded, interrupted);
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 60 }), fc.integer({ min: 1, max: 700 }), (outcomes, head) => {
      let at = 0;
      const accepted: number[] = [];
      const tried: number[][] = [];
      const { state } = run(
        start,
        () => head,
        (positions) => {
          tried.push(positions);
          const given = outcomes[at++] ?? succeeded;
          if (given.kind === "succeeded") accepted.push(...positions);
          return given;
        },
      );
      expect(accepted).toEqual(Array.from({ length: state.cursor }, (_, i) => i + 1));
      for (const [i, positions] of tried.entries()) {
        const before = tried[i - 1];
        if (before?.[0] === positions[0]) expect(positions.length).toBeLessThanOrEqual(before?.length as number);
      }
      expect(state.disabledReason !== null || state.cursor === head).toBe(true);
    }),
    { seed: 20_260_131 },
  );
});

test("[W14] a sender without the lease changes nothing; an abandoned request is an attempt with unknown outcome", () => {
  const { state, sent } = begin(start, [1, 2], 0);
  expect(dueAt(state)).toBe(20_000);
  expect(endAttempt({ ...state, lease: null }, sent, succeeded, { now: 9, random: 0, times })).toBeUndefined();
  const other = { ...state, lease: { token: "another", at: 5, until: 50 } };
  expect(endAttempt(other, sent, succeeded, { now: 9, random: 0, times })).toBeUndefined();
  const lost = endAttempt(state, sent, interrupted, { now: 15_000, random: 0, times }) as DeliveryState;
  expect(lost).toMatchObject({ cursor: 0, attempt: 1, batchTo: 2, lease: null, nextAttemptAt: 20_000 });
  expect(lost.lastError).toMatchObject({ code: "interrupted", from: 1, to: 2 });
});

test("[W16] changes by the owner during a request take precedence over its response", () => {
  const { state, sent } = begin({ ...start, attempt: 3, batchTo: 9 }, [1, 2], 0);
  const ended = (now: DeliveryState, outcome: DeliveryOutcome) =>
    endAttempt(now, sent, outcome, { now: 100, random: 0, times });

  // Another subscription: the positions now give other events, and are tried at once.
  expect(ended(revise(state), succeeded)).toMatchObject({ cursor: 0, revision: 2, attempt: 0, nextAttemptAt: null });
  expect(ended(revise(state), failed)).toMatchObject({ cursor: 0, revision: 2, attempt: 0, nextAttemptAt: null });
  // Skipped: the cursor stays where the owner put it.
  expect(ended(passOver(state, 50), succeeded)).toMatchObject({ cursor: 50, attempt: 0, batchTo: null });
  expect(ended(passOver(state, 50), failed)).toMatchObject({ cursor: 50, attempt: 0, nextAttemptAt: null });
  // Disabled: an accepted batch counts, and the reason stays.
  expect(ended(disable(state), succeeded)).toMatchObject({ cursor: 2, disabledReason: "owner" });
  expect(ended(disable(state), failed)).toMatchObject({ cursor: 0, disabledReason: "owner" });
  expect(ended(disable({ ...state, attempt: 8 }), failed)).toMatchObject({ disabledReason: "owner" });
  // Enabled: the attempts begin anew.
  expect(ended(enable(state), failed)).toMatchObject({ attempt: 0, nextAttemptAt: 100, disabledReason: null });
});

test("[W11] a re-enabled endpoint continues from its cursor, at once, with all its attempts", () => {
  const { state } = run(
    start,
    () => 500,
    () => failed,
  );
  const again = enable(state);
  expect(dueAt(again)).toBe(0);
  const { attempts, state: done } = run(
    again,
    () => 500,
    () => succeeded,
  );
  expect(attempts.flatMap(({ positions }) => positions)).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
  expect(done).toMatchObject({ cursor: 500, attempt: 0, disabledReason: null });
});

test("[W9] skipped events leave no attempt behind", () => {
  expect(passOver({ ...start, attempt: 2, batchTo: 9, nextAttemptAt: 7 }, 9)).toEqual({ ...start, cursor: 9 });
});

test("[W25] a time that no schedule can have set was set by a clock that was ahead: it is due", () => {
  const now = 1_000_000_000;
  for (let attempt = 1; attempt < times.schedule.length; attempt += 1) {
    const longest = 2.1 * (times.schedule[attempt] as number);
    const waiting = { ...start, attempt, nextAttemptAt: now + longest };
    expect(dueIn(waiting, now, times)).toBe(longest);
    expect(dueIn(waiting, now - HOUR - longest, times)).toBe(0);
    expect(dueIn(waiting, now + longest, times)).toBe(0);
  }
  const sending = { ...start, lease: { token: "del_1", at: now, until: now + times.leaseMs } };
  expect(dueIn(sending, now, times)).toBe(times.leaseMs);
  // A small step back: its sender may well be at it.
  expect(dueIn(sending, now - times.leaseMs, times)).toBe(2 * times.leaseMs);
  expect(dueIn(sending, now - HOUR, times)).toBe(0);
  expect(dueIn(disable(start), now, times)).toBeUndefined();
});
