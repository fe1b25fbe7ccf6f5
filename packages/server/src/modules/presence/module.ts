import { limits as agreed } from "@holdfast/sdk/protocol";
import type { Module } from "../module.ts";
import { openPresenceChannel } from "./db/presence-channel.ts";
import type { PresenceTimes } from "./rooms/presence-mesh.ts";
import { openPresenceRooms } from "./rooms/presence-rooms.ts";
import { createRoomMembership } from "./rooms/room-membership.ts";

/** The members of a killed process stay visible for at most `silentMs` plus one `beatMs`. */
const TIMES: PresenceTimes = {
  graceMs: agreed.presenceGraceMs,
  beatMs: 10_000,
  silentMs: 25_000,
  settleMs: 150,
};

/** Who is in which room, among all processes. */
export const presence = {
  name: "presence",
  open({ options, report }) {
    const rooms = openPresenceRooms({
      times: { ...TIMES, ...options.presenceTimes },
      openChannel: (on) => openPresenceChannel(options.databaseUrl, on),
      // Monotonic: if the wall clock were set back, departed members would stay visible.
      now: () => Math.floor(performance.timeOrigin + performance.now()),
      failed: report("presence_failed"),
    });
    return {
      sockets: { frames: ["presence"], open: (session, send) => createRoomMembership(rooms, session, send) },
      stop: rooms.close,
    };
  },
} satisfies Module;
