import { closeCodes, type FrameUp, isSyncGroup, limits } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../rules/refusal.ts";
import { type Principal, participantName } from "../../rules/tokens/participant.ts";
import { deny, isWithin } from "../../rules/tokens/scope.ts";
import type { PresenceRooms } from "./presence-rooms.ts";

/** The presence rooms of one socket: which it may enter, and which it is in. */
export interface RoomMembership {
  /** Sets the socket's participant, and its device if given. Leaves rooms that the new token does not cover. */
  signIn(principal: Principal, clientId?: string | null): void;
  /** Enters a room, updates the state, or leaves. */
  update(frame: PresenceUp): { readonly refusal: Refusal; readonly closeCode: number } | undefined;
  /** The socket is closed. */
  breakOff(): void;
  /** Unsent bytes of first member lists. However large, they are no sign of a slow reader. */
  readonly greeting: number;
}

type PresenceUp = Extract<FrameUp, { frame: "presence" }>;

/** Sends a frame to the socket. `written` is called once it is written. */
type Send = (frame: Buffer, written: () => void) => void;

export function createRoomMembership(rooms: PresenceRooms, session: string, send: Send): RoomMembership {
  const entered = new Set<string>();
  /** Room → unsent bytes of its first member list. */
  const greetings = new Map<string, number>();
  let who: { readonly principal: Principal; readonly clientId: string | null } | undefined;
  let isOver = false;

  function leave(tenant: number, room: string): void {
    entered.delete(room);
    rooms.leave(tenant, room, session);
  }

  const listenerIn = (room: string) => (frame: Buffer, isFirst: boolean) => {
    // A client that re-enters before reading the first list does not get its second one excused too.
    const counts = isFirst && !greetings.has(room);
    if (counts) greetings.set(room, frame.length);
    send(frame, () => {
      if (counts) greetings.delete(room);
    });
  };

  return {
    signIn(principal, clientId = who?.clientId ?? null) {
      if (isOver) return;
      const before = who?.principal;
      who = { principal, clientId };
      if (!before) return;
      const isSame =
        before.tenant === principal.tenant &&
        participantName(before.participantKind, before.participantId) ===
          participantName(principal.participantKind, principal.participantId);
      for (const room of [...entered]) if (!isSame || !covers(principal, room)) leave(before.tenant, room);
    },
    update({ room, state }) {
      if (!who || isOver) return undefined;
      const { principal, clientId } = who;
      if (!isSyncGroup(room)) return badFrame(refuse("invalid_sync_group", { param: "room" }));
      // Leaving a room that the socket is not in is a no-op, whatever the token covers by now.
      if (state === null) {
        if (entered.has(room)) leave(principal.tenant, room);
        return undefined;
      }
      if (!covers(principal, room)) {
        const refusal = deny({ can: "read", model: "*", syncGroup: room }, { param: "room" });
        return { refusal, closeCode: closeCodes.forbidden };
      }
      const text = JSON.stringify(state);
      if (Buffer.byteLength(text) > limits.presenceStateBytes)
        return badFrame(tooMuch("state", `A state can have up to ${limits.presenceStateBytes} bytes of JSON.`));
      if (!entered.has(room) && entered.size >= limits.roomsPerSession)
        return badFrame(tooMuch("room", `A socket can be in up to ${limits.roomsPerSession} rooms.`));
      entered.add(room);
      const { tenant, participantKind, participantId } = principal;
      rooms.update(tenant, room, { session, clientId, participantKind, participantId, state: text }, listenerIn(room));
      return undefined;
    },
    breakOff() {
      // Frames that arrived before the close may be handled after it. They must not enter a room.
      isOver = true;
      if (who) for (const room of entered) rooms.breakOff(who.principal.tenant, room, session);
      entered.clear();
    },
    get greeting() {
      let bytes = 0;
      for (const more of greetings.values()) bytes += more;
      return bytes;
    },
  };
}

const covers = ({ scope }: Principal, room: string): boolean => scope === undefined || isWithin(scope, [room]);

const badFrame = (refusal: Refusal) => ({ refusal, closeCode: closeCodes.badFrame });

const tooMuch = (param: string, message: string): Refusal => refuse("invalid_value", { param, message });
