import type { SyncError } from "../../errors.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ParticipantKind } from "../../protocol/log/log.ts";
import type { PeerSession } from "../../protocol/presence/presence.ts";

/** Somebody in a room, once, however many windows they have open. */
export interface RoomPeer {
  /** `<participantKind>:<participantId>` */
  readonly participant: string;
  readonly participantKind: ParticipantKind;
  readonly participantId: string;
  /** What they said last, in whichever window. */
  readonly state: JsonObject;
  /** Each window, the one that spoke last first. */
  readonly sessions: readonly PeerSession[];
}

/** A room of people and agents who see each other. It is entered with the first `set` or `subscribe`. */
export interface Presence {
  readonly room: string;
  /** Says something of this client to the others; replaces what was said before. Up to 4 KiB of JSON, up to 20 times a second: of more, the last counts. */
  set(state: JsonObject): void;
  /** What this client said last. */
  state(): JsonObject;
  /** Everybody in the room, oneself included. */
  peers(): readonly RoomPeer[];
  others(): readonly RoomPeer[];
  /** This participant as the others see it. */
  self(): RoomPeer | undefined;
  /**
   * `live`: what is shown is how it is. `connecting`: not inside, or the line is gone; who was there stands still for
   * a few seconds, then nobody is shown. `denied`: the token does not reach this room; `error` says more.
   */
  status(): "live" | "connecting" | "denied";
  error(): SyncError | undefined;
  /** Called after every change of the answers above. */
  subscribe(listener: () => void): () => void;
  /** Ends what this object has to do with the room; the room is left when nothing else in the app is in it. */
  leave(): void;
}
