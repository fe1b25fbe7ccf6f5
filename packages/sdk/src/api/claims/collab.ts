import { type Ignorance, knowledgeOf } from "../../core/claims/watched.ts";
import { type CollabEngine, type CollabEngineDeps, createCollabEngine } from "../../engine/collab-engine.ts";
import type { Claim } from "../../protocol/claims/claim.ts";
import { type RoomUse, roomsOn } from "../presence/presence-rooms.ts";
import type { ClaimOptions, Lease, OwnClaim, RecordClaims, SeenClaim } from "./claims-api.ts";
import { Leases, type LeasesDeps } from "./leases.ts";
import { ownClaims } from "./own-claims.ts";

/** Claims and presence as the client sees them. Loaded on first use. */
export interface Collab {
  claim(model: string, id: string, options: ClaimOptions): Promise<Lease>;
  watch(model: string, ids: readonly string[]): () => void;
  claimsOf(model: string, id: string): RecordClaims;
  ownClaims(): Promise<readonly OwnClaim[]>;
  room(name: string): RoomUse;
  /** Called when a result of `claimsOf` may have changed. */
  subscribe(listener: () => void): () => void;
  close(): Promise<void>;
}

export function openCollab(deps: LeasesDeps, engineDeps: CollabEngineDeps): Collab {
  const leases = new Leases(deps, () => loop);
  const loop: CollabEngine = createCollabEngine(engineDeps, (lease, news) => leases.notify(lease, news));
  const seen = new WeakMap<Claim, SeenClaim>();
  const answers = new WeakMap<object, { readonly me: string | undefined; readonly answer: RecordClaims }>();

  const asSeen = (claim: Claim): SeenClaim => {
    const isMine = `${claim.participantKind}:${claim.actor}` === loop.state().connection.participant;
    const known = seen.get(claim);
    if (known?.isMine === isMine) return known;
    const made = { ...claim, isMine };
    seen.set(claim, made);
    return made;
  };

  return {
    claim: (model, id, options) => leases.claim(model, id, options),
    watch(model, given) {
      const ids = [...new Set(given)];
      let isOver = false;
      loop.dispatch({ type: "watch", model, ids });
      return () => {
        if (isOver) return;
        isOver = true;
        loop.dispatch({ type: "unwatch", model, ids });
      };
    },
    claimsOf(model, id) {
      const { watched, connection } = loop.state();
      const known = knowledgeOf(watched, connection.live, model, id);
      if (known.state === "unknown") return IGNORANCE[known.why];
      // The server sends the whole state each time, as a new list. So the same list means the same result.
      const before = answers.get(known.claims);
      if (before && before.me === connection.participant) return before.answer;
      const answer: RecordClaims = {
        state: "known",
        holders: known.claims.map(asSeen),
        queue: known.queue.map(asSeen),
      };
      answers.set(known.claims, { me: connection.participant, answer });
      return answer;
    },
    ownClaims: () => ownClaims(deps, engineDeps, loop),
    room: roomsOn(loop),
    subscribe: (listener) =>
      loop.subscribe((state, before) => {
        if (state.watched !== before.watched || state.connection !== before.connection) listener();
      }),
    close: () => {
      const closed = loop.close();
      leases.close();
      return closed;
    },
  };
}

const nothing = (why: Ignorance): RecordClaims => ({ state: "unknown", why, holders: [], queue: [] });

/** One object per reason, because views compare by identity. */
const IGNORANCE: Readonly<Record<Ignorance, RecordClaims>> = {
  "not-watched": nothing("not-watched"),
  connection: nothing("connection"),
  asking: nothing("asking"),
  "too-many": nothing("too-many"),
  denied: nothing("denied"),
};
