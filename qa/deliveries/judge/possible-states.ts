import type { LogEntry } from "@holdfast/sdk/protocol";
import type { Action, Endpoint, Evidence, Named, Received } from "./evidence.ts";
import { headAt, type Positions, positionsOf } from "./positions.ts";
import { settledAt } from "./troubles.ts";

/**
 * A possible state of the sender for one endpoint. Its cursor is invisible: if it was killed just after a request was
 * accepted, the cursor may be before or after the batch. So all possible states are kept, and every request rules
 * some of them out.
 *
 *   request accepted, no fault                  ──► after the range
 *   request accepted, then a fault              ──► after the range, or unchanged
 *   request failed                              ──► unchanged
 *   action of the owner                         ──► before or after it; soon only after it
 */
export interface PossibleState {
  /** The cursor is between these positions: no events in between are subscribed to. */
  readonly low: number;
  readonly high: number;
  /** How many of the owner's actions have taken effect. */
  readonly done: number;
  readonly disabled: boolean;
  /** When the previous request ended, or the endpoint was made. */
  readonly at: number;
  /** The attempts seen at this cursor: a lower bound. */
  readonly attempts: number;
  /** Whether there were no other attempts. */
  readonly sure: boolean;
  /** The largest possible batch. */
  readonly limit: number;
  /** The last batch from this cursor, and its first size. */
  readonly batch?: { readonly to: number; readonly first: number };
  /** When the last attempt failed, if that is certain. */
  readonly failed?: { readonly at: number; readonly retryAfterMs?: number };
  /** The newest seen revision, and whether it may have been raised since. */
  readonly revision?: number;
  readonly since: "same" | "maybe raised" | "raised";
}

export const FULL = 100;

export interface Tenant {
  readonly evidence: Evidence;
  positions(models: readonly string[]): Positions;
  entryAt(syncId: number): LogEntry | undefined;
}

export function tenantOf(evidence: Evidence): Tenant {
  const byId = new Map(evidence.log.map((entry) => [entry.syncId, entry]));
  return { evidence, positions: positionsOf(evidence.log), entryAt: (syncId) => byId.get(syncId) };
}

export const initialState = ({ cursor, made }: Endpoint): PossibleState => ({
  low: cursor,
  high: cursor,
  done: 0,
  disabled: false,
  at: made.asked,
  attempts: 0,
  sure: true,
  limit: FULL,
  since: "same",
});

/** The subscribed models after `done` actions. */
export function modelsAfter({ models, actions }: Endpoint, done: number): readonly string[] {
  const newest = actions.slice(0, done).findLast((action) => action.what === "subscribe");
  return newest?.what === "subscribe" ? newest.models : models;
}

/** The possible states at a time, from those before it. */
export function possible(
  possibleStates: readonly PossibleState[],
  endpoint: Endpoint,
  tenant: Tenant,
  time: number,
): PossibleState[] {
  const { troubles } = tenant.evidence;
  const all: PossibleState[] = [];
  const add = (state: PossibleState): void => {
    all.push(state);
    const next = endpoint.actions[state.done];
    if (next && next.asked <= time) add(after(state, next, endpoint, tenant));
  };
  for (const state of possibleStates) add(state);
  const settled = endpoint.actions.filter((action) => settledAt(action, troubles) <= time).length;
  return distinct(all.filter(({ done }) => done >= settled));
}

function distinct(possibleStates: readonly PossibleState[]): PossibleState[] {
  return [...new Map(possibleStates.map((one) => [JSON.stringify(one), one])).values()];
}

/** The state after an action of the owner. */
function after(state: PossibleState, action: Action, endpoint: Endpoint, tenant: Tenant): PossibleState {
  const { batch: _batch, failed: _failed, ...rest } = state;
  const loose = rest.since === "same" ? "maybe raised" : rest.since;
  const fresh: PossibleState = { ...rest, done: state.done + 1, since: loose };
  switch (action.what) {
    case "roll":
      return { ...state, done: state.done + 1, since: loose };
    case "push":
    case "move":
      return { ...fresh, attempts: 0, sure: false, limit: FULL, since: "raised" };
    case "subscribe": {
      const models = modelsAfter(endpoint, state.done);
      // An unchanged subscription has no effect.
      if (String(models) === String(action.models)) return { ...state, done: state.done + 1 };
      const high = drifted(state.high, models, action, tenant);
      return { ...fresh, high, attempts: 0, sure: false, limit: FULL, since: "raised" };
    }
    case "enable":
      return { ...fresh, disabled: false, attempts: 0, sure: false, limit: FULL };
    case "disable":
    case "remove":
      return { ...fresh, disabled: true };
    case "skip": {
      const [low, high] = [Math.max(state.low, action.to), Math.max(state.high, action.to)];
      return { ...fresh, low, high, attempts: 0, sure: false, limit: FULL };
    }
  }
}

/** How far a cursor may have moved over unsubscribed positions. */
function drifted(cursor: number, models: readonly string[], { answered }: Action, { evidence, positions }: Tenant) {
  const head = headAt(evidence.log, answered + evidence.times.epochMs + 1_000);
  return Math.max(cursor, Math.min(positions(models).next(cursor) - 1, head));
}

/** Whether a request for this range may follow in this state. */
export function fits(state: PossibleState, { from, to }: Named, endpoint: Endpoint, tenant: Tenant): boolean {
  const positions = tenant.positions(modelsAfter(endpoint, state.done));
  return (
    from > state.low && positions.has(from) && positions.before(from) <= state.high && to >= from && positions.has(to)
  );
}

/** The state, narrowed by what the request has shown. */
export function narrowed(state: PossibleState, { from }: Named, endpoint: Endpoint, tenant: Tenant): PossibleState {
  const before = tenant.positions(modelsAfter(endpoint, state.done)).before(from);
  return { ...state, low: Math.max(state.low, before), high: Math.min(state.high, from - 1) };
}

/** The state with the request in flight. */
export function sending(state: PossibleState, { to, revision }: Named, size: number): PossibleState {
  const { failed: _failed, ...rest } = state;
  const shrunk = state.batch !== undefined && to < state.batch.to;
  return {
    ...rest,
    attempts: state.attempts + 1,
    batch: { to, first: state.batch?.first ?? size },
    limit: shrunk ? size : state.limit,
    revision,
    since: "same",
  };
}

/** The state after a 2xx has moved the cursor. */
export function moved({ batch, failed: _failed, ...rest }: PossibleState, at: number): PossibleState {
  const to = batch?.to ?? rest.high;
  return { ...rest, low: to, high: to, at, attempts: 0, sure: true, limit: Math.min(FULL, rest.limit * 2) };
}

/** The state if the cursor has not moved; sure: the request certainly failed. */
export function stayed(
  { failed: _failed, ...rest }: PossibleState,
  { ended: at, retryAfterMs }: Received,
  sure: boolean,
): PossibleState {
  if (!sure) return { ...rest, at, sure: false };
  return { ...rest, at, failed: { at, ...(retryAfterMs !== undefined && { retryAfterMs }) } };
}
