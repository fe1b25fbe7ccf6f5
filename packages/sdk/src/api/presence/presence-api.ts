import type { SyncError } from "../../errors.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ParticipantKind } from "../../protocol/log/log.ts";
import type { PeerSession } from "../../protocol/presence/presence.ts";

/** A participant in a room, listed once for all its windows. */
export interface RoomPeer {
  /** `<participantKind>:<participantId>` */
  readonly participant: string;
  readonly participantKind: ParticipantKind;
  readonly participantId: string;
  /** The participant's last state, from any window. */
  readonly state: JsonObject;
  /** The participant's windows, most recently updated first. */
  readonly sessions: readonly PeerSession[];
}

/** A room in which people and agents see each other. The first `set` or `subscribe` enters it. */
export interface Presence {
  readonly room: string;
  /**
   * Sets this client's state in the room and replaces the previous one. Up to 4 KiB of JSON and 20 updates a second; if
   * there are more, the last one wins.
   */
  set(state: JsonObject): void;
  /** The last state that this client set. */
  state(): JsonObject;
  /** All participants in the room, including this one. */
  peers(): readonly RoomPeer[];
  others(): readonly RoomPeer[];
  /** This participant as the others see it. */
  self(): RoomPeer | undefined;
  /**
   * - `live`: the peers are up to date.
   * - `connecting`: not inside, or the connection is lost. The last known peers are shown for a few seconds, then none.
   * - `denied`: the token does not allow this room; see `error`.
   */
  status(): "live" | "connecting" | "denied";
  error(): SyncError | undefined;
  /** Called after every change of the results above. */
  subscribe(listener: () => void): () => void;
  /** Ends this object's use of the room. The client leaves the room with the last use. */
  leave(): void;
}
