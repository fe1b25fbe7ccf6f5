import type { LogEntry } from "@holdfast/sdk/protocol";
import type { Action, Endpoint, Evidence, Named, Received } from "./evidence.ts";
import { headAt, type Positions, positionsOf } from "./positions.ts";
import { settledAt } from "./troubles.ts";

/**
 * Where the sender may stand with an endpoint. Nobody sees its cursor: of a request that was accepted just before the
 * sender was killed, the cursor may be in front or behind. So all that is possible is kept, and every request shows
 * which of it was so.
 *
 *   request accepted, nothing in between        ──► its cursor is behind the range
 *   request accepted, and then something struck ──► behind the range, or where it was
 *   request failed                              ──► where it was
 *   the owner did something                     ──► before it, or after it; soon only after it
 */
export interface PossibleState {
  /** The cursor lies from here to there: what is between is not subscribed to. */
  readonly low: number;
  readonly high: number;
  /** How many of the owner's actions have come to pass. */
  readonly done: number;
  readonly disabled: boolean;
  /** When the request before was over, or the endpoint was made. */
  readonly at: number;
  /** Seen at this cursor: at least so many there were. */
  readonly attempts: number;
  /** Whether there were no others. */
  readonly sure: boolean;
  /** A batch has no more events than that. */
  readonly limit: number;
  /** What was sent last from here, and how large it was at first. */
  readonly batch?: { readonly to: number; readonly first: number };
  /** When the last attempt failed, if it failed for certain. */
  readonly failed?: { readonly at: number; readonly retryAfterMs?: number };
  /** The newest one seen, and what may have come of it since. */
  readonly revision?: number;
  readonly since: "same" | "maybe raised" | "raised";
}

export const FULL = 100;

export interface Tenant {
  readonly evidence: Evidence;
  positions(models: readonly string[]): Positions;
  /** What is told of a position. */
  entriesAt(syncId: number): readonly LogEntry[];
}

export function tenantOf(evidence: Evidence): Tenant {
  const byId = new Map<number, LogEntry[]>();
  for (const log of [evidence.log, ...(evidence.earlier ?? [])])
    for (const entry of log) byId.set(entry.syncId, [...(byId.get(entry.syncId) ?? []), entry]);
  return { evidence, positions: positionsOf(evidence.log), entriesAt: (syncId) => byId.get(syncId) ?? [] };
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

/** What is subscribed to after so many actions. */
export function modelsAfter({ models, actions }: Endpoint, done: number): readonly string[] {
  const newest = actions.slice(0, done).findLast((action) => action.what === "subscribe");
  return newest?.what === "subscribe" ? newest.models : models;
}

/** All that may be so at a time, of what may have been so before. */
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

/** Where it stands when the owner has done that. */
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
      // The same as before is no other one.
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

/** How far a cursor may have gone over what is not subscribed to. */
function drifted(cursor: number, models: readonly string[], { answered }: Action, { evidence, positions }: Tenant) {
  const head = headAt(evidence.log, answered + evidence.times.epochMs + 1_000);
  return Math.max(cursor, Math.min(positions(models).next(cursor) - 1, head));
}

/** Whether a request from that position is the next one there. */
export function fits(state: PossibleState, { from, to }: Named, endpoint: Endpoint, tenant: Tenant): boolean {
  const positions = tenant.positions(modelsAfter(endpoint, state.done));
  return (
    from > state.low && positions.has(from) && positions.before(from) <= state.high && to >= from && positions.has(to)
  );
}

/** What the request has shown. */
export function narrowed(state: PossibleState, { from }: Named, endpoint: Endpoint, tenant: Tenant): PossibleState {
  const before = tenant.positions(modelsAfter(endpoint, state.done)).before(from);
  return { ...state, low: Math.max(state.low, before), high: Math.min(state.high, from - 1) };
}

/** With the request on its way. */
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

/** When a 2xx has moved the cursor. */
export function moved({ batch, failed: _failed, ...rest }: PossibleState, at: number): PossibleState {
  const to = batch?.to ?? rest.high;
  return { ...rest, low: to, high: to, at, attempts: 0, sure: true, limit: Math.min(FULL, rest.limit * 2) };
}

/** When it has not; sure: it failed, and that is known. */
export function stayed(
  { failed: _failed, ...rest }: PossibleState,
  { ended: at, retryAfterMs }: Received,
  sure: boolean,
): PossibleState {
  if (!sure) return { ...rest, at, sure: false };
  return { ...rest, at, failed: { at, ...(retryAfterMs !== undefined && { retryAfterMs }) } };
}
