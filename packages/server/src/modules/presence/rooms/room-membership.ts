import { closeCodes, isSyncGroup, limits } from "@holdfast/sdk/protocol";
import type { SocketModule } from "../../../edge/socket/socket-module.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import { type Principal, participantName } from "../../../kernel/tokens/rules/participant.ts";
import { deny, isWithin } from "../../../kernel/tokens/rules/scope.ts";
import type { PresenceRooms } from "./presence-rooms.ts";

/** Sends a frame to the socket. `written` is called once it is written. */
type Send = (frame: Buffer, written: () => void) => void;

/** The presence rooms of one socket: which it may enter, and which it is in. */
export function createRoomMembership(rooms: PresenceRooms, session: string, send: Send): SocketModule {
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
    /** Leaves rooms that the new token does not cover. */
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
    /** Enters a room, updates the state, or leaves. */
    receive(frame) {
      if (!who || isOver || frame.frame !== "presence") return undefined;
      const { room, state } = frame;
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
    close() {
      // Frames that arrived before the close may be handled after it. They must not enter a room.
      isOver = true;
      if (who) for (const room of entered) rooms.breakOff(who.principal.tenant, room, session);
      entered.clear();
    },
    /** Those of first member lists. */
    get excusedBytes() {
      let bytes = 0;
      for (const more of greetings.values()) bytes += more;
      return bytes;
    },
  };
}

const covers = ({ scope }: Principal, room: string): boolean => scope === undefined || isWithin(scope, [room]);

const badFrame = (refusal: Refusal) => ({ refusal, closeCode: closeCodes.badFrame });

const tooMuch = (param: string, message: string): Refusal => refuse("invalid_value", { param, message });
