import type { JsonObject } from "../../protocol/json.ts";
import { closeCodes } from "../../protocol/stream/close-codes.ts";
import type { ClaimFrame, ClaimsFrame, ErrorFrame, PresenceFrame } from "../../protocol/stream/frames-down.ts";
import type { FrameUp } from "../../protocol/stream/frames-up.ts";
import { claimsDue, claimsDueAt } from "../claims/claim-due.ts";
import * as claims from "../claims/claim-events.ts";
import type { ClaimDraft, ClaimEffect, ConnectionState, Holds, Instant, Target, Terms } from "../claims/claim-state.ts";
import * as watched from "../claims/watched.ts";
import * as presence from "../presence/presence.ts";
import { type Failure, readFailure } from "../queue/failure.ts";
import type { Reply } from "../queue/outcome.ts";

/* Claims and presence, as a state machine beside the client's own. Rows and queue do not depend on it. */

/** The frames of claims and presence. */
export type CollabFrame = ClaimsFrame | ClaimFrame | PresenceFrame | ErrorFrame;

export interface CollabState {
  readonly holds: Holds;
  readonly asked: number;
  readonly watched: watched.Watched;
  readonly presence: presence.PresenceState;
  readonly line: Line;
  /** The page is hidden: requests wait until it is shown again. */
  readonly away: boolean;
  /** The failure in the last error frame. It explains the close that follows. */
  readonly complaint: Failure | undefined;
}

export interface Line extends ConnectionState {
  /** `<kind>:<id>` of this client, once the server has named it. */
  readonly participant: string | undefined;
  readonly session: string | undefined;
}

export const emptyCollab: CollabState = {
  holds: new Map(),
  asked: 0,
  watched: new Map(),
  presence: presence.noPresence,
  line: { mayTalk: false, live: false, clientId: "", participant: undefined, session: undefined },
  away: false,
  complaint: undefined,
};

export type CollabEvent = CollabHappening & { readonly now: Instant; readonly roll: number; readonly readTo: number };

export type CollabHappening =
  | { readonly type: "line"; readonly line: Line }
  | { readonly type: "lineClosed"; readonly code: number }
  | { readonly type: "woke" }
  | { readonly type: "goes"; readonly reason: "hidden" | "closed" }
  | { readonly type: "due" }
  | { readonly type: "heard"; readonly frame: CollabFrame }
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

export type CollabEffect = ClaimEffect | { readonly do: "say"; readonly frame: FrameUp };

/** Takes the collab state and an event, and returns the next state and the effects to perform. */
export function collabStep(state: CollabState, event: CollabEvent): readonly [CollabState, readonly CollabEffect[]] {
  const effects: CollabEffect[] = [];
  const line = event.type === "line" ? event.line : state.line;
  const draft: ClaimDraft = {
    holds: new Map(state.holds),
    asked: state.asked,
    line,
    now: event.now,
    roll: event.roll,
    readTo: event.readTo,
    effects: effects as ClaimEffect[],
  };
  hearClaims(draft, event, state.line);
  const away = event.type === "goes" || (event.type !== "woke" && state.away);
  if (!away) claimsDue(draft);
  const now = event.now.at;
  const looking = hearWatched(state, event);
  const looked = line.live ? watched.sayWatched(looking, now) : { watched: looking, frames: [] };
  const rooms = presence.presenceDue(hearPresence(state, event), line.live, now);
  const frames = [...looked.frames, ...rooms.frames];
  // A hidden page loses its connection anyway. Its user should not disappear for others when it only reloads.
  if (event.type === "goes" && event.reason === "closed") frames.push(...presence.goodbyes(state.presence));
  for (const frame of frames) effects.push({ do: "say", frame });
  const next: CollabState = {
    holds: draft.holds,
    asked: draft.asked,
    watched: looked.watched,
    presence: rooms.presence,
    line,
    away,
    complaint: complaintAfter(state.complaint, event),
  };
  return [next, effects];
}

export function collabDueAt(state: CollabState, now: Instant): number | undefined {
  const { line } = state;
  const times = [
    state.away ? undefined : claimsDueAt(state.holds, line, now),
    ...(line.live ? watched.watchDueAt(state.watched) : []),
    ...presence.presenceDueAt(state.presence, line.live),
  ].filter((at) => at !== undefined) as number[];
  return times.length > 0 ? Math.min(...times) : undefined;
}

function hearClaims(draft: ClaimDraft, event: CollabEvent, before: Line): void {
  switch (event.type) {
    case "claimed":
      return claims.onClaimed(draft, event.target, event.terms, event.lease, event.queue);
    case "left":
      return claims.onLeft(draft, event.lease);
    case "answered":
      return claims.onAnswered(draft, event.key, event.n, event.reply);
    case "heard":
      if (event.frame.frame === "error" && event.frame.code === "token_revoked") return claims.onRevoked(draft);
      return event.frame.frame === "claim" ? claims.onClaimFrame(draft, event.frame) : undefined;
    case "line":
      // Frames were missed while no stream was open.
      return event.line.live !== before.live || event.line.mayTalk !== before.mayTalk
        ? claims.onDoubted(draft)
        : undefined;
    case "woke":
      return claims.onDoubted(draft);
    case "goes":
      return claims.onLetGo(draft, event.reason);
    case "lineClosed":
    case "due":
    case "watch":
    case "unwatch":
    case "entered":
    case "stated":
    case "leftRoom":
      return;
  }
}

function hearWatched({ watched: before, line, complaint }: CollabState, event: CollabEvent): watched.Watched {
  if (event.type === "watch") return watched.watch(before, event.model, event.ids, event.now.at);
  if (event.type === "unwatch") return watched.unwatch(before, event.model, event.ids, event.now.at);
  if (event.type === "heard" && event.frame.frame === "claims") return watched.onClaimsFrame(before, event.frame);
  const denied = event.type === "lineClosed" && REFUSING.has(event.code) && complaint?.requiredCapability?.model;
  if (denied && complaint?.param !== "room") return watched.denied(before, denied, event.now.at);
  const cut = event.type === "line" && event.line.live !== line.live;
  return cut ? watched.forgotten(before) : before;
}

function hearPresence({ presence: before, line, complaint }: CollabState, event: CollabEvent): presence.PresenceState {
  const now = event.now.at;
  if (event.type === "entered") return presence.onEntered(before, event.room, now);
  if (event.type === "stated") return presence.onStated(before, event.room, event.state, now);
  if (event.type === "leftRoom") return presence.onLeftRoom(before, event.room, now);
  if (event.type === "heard" && event.frame.frame === "presence")
    return presence.onPresenceFrame(before, event.frame, line.participant);
  if (event.type === "lineClosed") {
    const denied = REFUSING.has(event.code) && complaint?.param === "room" ? complaint : undefined;
    return denied ? presence.onRoomDenied(before, denied, now) : before;
  }
  if (event.type !== "line" || event.line.live === line.live) return before;
  return event.line.live ? presence.onConnected(before, now) : presence.onDisconnected(before, now);
}

/** Close codes of a connection that the server closed because of a request on it. */
const REFUSING: ReadonlySet<number> = new Set([closeCodes.forbidden, closeCodes.badFrame]);

function complaintAfter(before: Failure | undefined, event: CollabEvent): Failure | undefined {
  if (event.type === "heard" && event.frame.frame === "error") return readFailure(event.frame, 403);
  return event.type === "line" && event.line.live ? undefined : before;
}
