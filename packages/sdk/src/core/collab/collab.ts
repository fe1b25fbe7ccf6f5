import type { JsonObject } from "../../protocol/json.ts";
import { closeCodes } from "../../protocol/stream/close-codes.ts";
import type { ClaimFrame, ClaimsFrame, ErrorFrame, PresenceFrame } from "../../protocol/stream/frames-down.ts";
import type { FrameUp } from "../../protocol/stream/frames-up.ts";
import { claimsDue, claimsDueAt } from "../claims/claim-due.ts";
import * as claims from "../claims/claim-events.ts";
import type { ClaimDraft, ClaimEffect, ConnectionState, Holds, Instant, Target, Terms } from "../claims/claim-state.ts";
import * as watched from "../claims/watched.ts";
import * as presence from "../presence/presence.ts";
import type { Failure } from "../queue/failure.ts";
import type { Reply } from "../queue/outcome.ts";
import { readFailure } from "../queue/read-failure.ts";

/* Claims and presence, as a state machine beside the client's own. Rows and queue do not depend on it. */

/** The frames of claims and presence. */
export type CollabFrame = ClaimsFrame | ClaimFrame | PresenceFrame | ErrorFrame;

export interface CollabState {
  readonly holds: Holds;
  readonly requestCount: number;
  readonly watched: watched.Watched;
  readonly presence: presence.PresenceState;
  readonly connection: CollabConnection;
  /** The page is hidden: requests wait until it is shown again. */
  readonly away: boolean;
  /** The failure in the last error frame. It explains the close that follows. */
  readonly lastError: Failure | undefined;
}

export interface CollabConnection extends ConnectionState {
  /** `<kind>:<id>` of this client, once the server has named it. */
  readonly participant: string | undefined;
  readonly session: string | undefined;
}

export const emptyCollab: CollabState = {
  holds: new Map(),
  requestCount: 0,
  watched: new Map(),
  presence: presence.noPresence,
  connection: { canRequest: false, live: false, clientId: "", participant: undefined, session: undefined },
  away: false,
  lastError: undefined,
};

export type CollabEvent = CollabHappening & { readonly now: Instant; readonly roll: number; readonly readTo: number };

export type CollabHappening =
  | { readonly type: "connection"; readonly connection: CollabConnection }
  | { readonly type: "connectionClosed"; readonly code: number }
  | { readonly type: "woke" }
  | { readonly type: "away"; readonly reason: "hidden" | "closed" }
  | { readonly type: "due" }
  | { readonly type: "received"; readonly frame: CollabFrame }
  // Claims
  | {
      readonly type: "claimed";
      readonly target: Target;
      readonly terms: Terms;
      readonly lease: string;
      readonly queue: boolean;
    }
  | { readonly type: "left"; readonly lease: string }
  | { readonly type: "answered"; readonly key: string; readonly n: number; readonly reply: Reply }
  | { readonly type: "watch" | "unwatch"; readonly model: string; readonly ids: readonly string[] }
  // Presence
  | { readonly type: "entered"; readonly room: string }
  | { readonly type: "stated"; readonly room: string; readonly state: JsonObject }
  | { readonly type: "leftRoom"; readonly room: string };

export type CollabEffect = ClaimEffect | { readonly do: "sendFrame"; readonly frame: FrameUp };

/** Takes the collab state and an event, and returns the next state and the effects to perform. */
export function collabStep(state: CollabState, event: CollabEvent): readonly [CollabState, readonly CollabEffect[]] {
  const effects: CollabEffect[] = [];
  const connection = event.type === "connection" ? event.connection : state.connection;
  const draft: ClaimDraft = {
    holds: new Map(state.holds),
    requestCount: state.requestCount,
    connection,
    now: event.now,
    roll: event.roll,
    readTo: event.readTo,
    effects: effects as ClaimEffect[],
  };
  handleClaimEvent(draft, event, state.connection);
  const away = event.type === "away" || (event.type !== "woke" && state.away);
  if (!away) claimsDue(draft);
  const now = event.now.at;
  const watchedNow = nextWatched(state, event);
  const watching = connection.live ? watched.watchDue(watchedNow, now) : { watched: watchedNow, frames: [] };
  const rooms = presence.presenceDue(nextPresence(state, event), connection.live, now);
  const frames = [...watching.frames, ...rooms.frames];
  // A hidden page loses its connection anyway. Its user should not disappear for others when it only reloads.
  if (event.type === "away" && event.reason === "closed") frames.push(...presence.leaveFrames(state.presence));
  for (const frame of frames) effects.push({ do: "sendFrame", frame });
  const next: CollabState = {
    holds: draft.holds,
    requestCount: draft.requestCount,
    watched: watching.watched,
    presence: rooms.presence,
    connection,
    away,
    lastError: nextError(state.lastError, event),
  };
  return [next, effects];
}

export function collabDueAt(state: CollabState, now: Instant): number | undefined {
  const { connection } = state;
  const times = [
    state.away ? undefined : claimsDueAt(state.holds, connection, now),
    ...(connection.live ? watched.watchDueAt(state.watched) : []),
    ...presence.presenceDueAt(state.presence, connection.live),
  ].filter((at) => at !== undefined) as number[];
  return times.length > 0 ? Math.min(...times) : undefined;
}

function handleClaimEvent(draft: ClaimDraft, event: CollabEvent, before: CollabConnection): void {
  switch (event.type) {
    case "claimed":
      return claims.onClaimed(draft, event.target, event.terms, event.lease, event.queue);
    case "left":
      return claims.onLeft(draft, event.lease);
    case "answered":
      return claims.onAnswered(draft, event.key, event.n, event.reply);
    case "received":
      if (event.frame.frame === "error" && event.frame.code === "token_revoked") return claims.onRevoked(draft);
      return event.frame.frame === "claim" ? claims.onClaimFrame(draft, event.frame) : undefined;
    case "connection":
      // Frames were missed while no stream was open.
      return event.connection.live !== before.live || event.connection.canRequest !== before.canRequest
        ? claims.recheckClaims(draft)
        : undefined;
    case "woke":
      return claims.recheckClaims(draft);
    case "away":
      return claims.releaseAll(draft, event.reason);
    case "connectionClosed":
    case "due":
    case "watch":
    case "unwatch":
    case "entered":
    case "stated":
    case "leftRoom":
      return;
  }
}

function nextWatched({ watched: before, connection, lastError }: CollabState, event: CollabEvent): watched.Watched {
  if (event.type === "watch") return watched.watch(before, event.model, event.ids, event.now.at);
  if (event.type === "unwatch") return watched.unwatch(before, event.model, event.ids, event.now.at);
  if (event.type === "received" && event.frame.frame === "claims") return watched.onClaimsFrame(before, event.frame);
  const denied = event.type === "connectionClosed" && REFUSING.has(event.code) && lastError?.requiredCapability?.model;
  if (denied && lastError?.param !== "room") return watched.withDenied(before, denied, event.now.at);
  const cut = event.type === "connection" && event.connection.live !== connection.live;
  return cut ? watched.withoutKnown(before) : before;
}

function nextPresence(
  { presence: before, connection, lastError }: CollabState,
  event: CollabEvent,
): presence.PresenceState {
  const now = event.now.at;
  if (event.type === "entered") return presence.onEntered(before, event.room, now);
  if (event.type === "stated") return presence.onStated(before, event.room, event.state, now);
  if (event.type === "leftRoom") return presence.onLeftRoom(before, event.room, now);
  if (event.type === "received" && event.frame.frame === "presence")
    return presence.onPresenceFrame(before, event.frame, connection.participant);
  if (event.type === "connectionClosed") {
    const denied = REFUSING.has(event.code) && lastError?.param === "room" ? lastError : undefined;
    return denied ? presence.onRoomDenied(before, denied, now) : before;
  }
  if (event.type !== "connection" || event.connection.live === connection.live) return before;
  return event.connection.live ? presence.onConnected(before, now) : presence.onDisconnected(before, now);
}

/** Close codes of a connection that the server closed because of a request on it. */
const REFUSING: ReadonlySet<number> = new Set([closeCodes.forbidden, closeCodes.badFrame]);

function nextError(before: Failure | undefined, event: CollabEvent): Failure | undefined {
  if (event.type === "received" && event.frame.frame === "error") return readFailure(event.frame, 403);
  return event.type === "connection" && event.connection.live ? undefined : before;
}
