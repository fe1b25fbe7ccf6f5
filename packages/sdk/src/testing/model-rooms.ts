import type { JsonObject } from "../protocol/json.ts";
import type { Peer } from "../protocol/presence/presence.ts";
import type { PresenceFrame } from "../protocol/stream/frames-down.ts";

interface Session {
  readonly actor: string;
  readonly state: JsonObject;
  readonly notify: (frame: PresenceFrame) => void;
}

/** The service's rooms in memory, for tests: the first frame holds all, later ones what changed. */
export class ModelRooms {
  readonly #rooms = new Map<string, Map<string, Session>>();

  set(room: string, session: string, actor: string, state: JsonObject | null, notify: Session["notify"]): void {
    const inside = this.#rooms.get(room) ?? new Map<string, Session>();
    this.#rooms.set(room, inside);
    const before = this.peers(room).some((peer) => peer.participantId === actor);
    const isNew = state !== null && !inside.has(session);
    inside.delete(session);
    if (state) inside.set(session, { actor, state, notify });
    const peers = this.peers(room);
    const peer = peers.find(({ participantId }) => participantId === actor);
    const news = {
      frame: "presence" as const,
      room,
      joined: [] as Peer[],
      updated: [] as Peer[],
      left: [] as string[],
    };
    if (!peer) news.left.push(`user:${actor}`);
    else if (before) news.updated.push(peer);
    else news.joined.push(peer);
    for (const [name, each] of inside) if (name !== session || !isNew) each.notify(news);
    if (isNew) notify({ frame: "presence", room, joined: peers, updated: [], left: [] });
  }

  /** A line that is gone is gone from all rooms. */
  gone(session: string): void {
    for (const [room, inside] of this.#rooms) {
      const known = inside.get(session);
      if (known) this.set(room, session, known.actor, null, known.notify);
    }
  }

  peers(room: string): Peer[] {
    const byActor = new Map<string, Peer>();
    for (const [session, { actor, state }] of [...(this.#rooms.get(room) ?? [])].reverse()) {
      const peer = byActor.get(actor) ?? {
        participant: `user:${actor}`,
        participantKind: "user",
        participantId: actor,
        sessions: [],
      };
      byActor.set(actor, { ...peer, sessions: [...peer.sessions, { session, clientId: null, state }] });
    }
    return [...byActor.values()].reverse();
  }
}
