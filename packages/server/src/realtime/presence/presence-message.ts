import type { Attendee } from "./presence-room.ts";

/**
 * What processes tell each other of the sockets that they hold. Versions count the changes of one process in one room:
 * who has not heard `after` missed something, and asks.
 */
export type PresenceMessage =
  | RoomMessage
  /** The heartbeat: rooms, and their versions. */
  | { readonly kind: "beat"; readonly rooms: readonly (readonly [room: string, version: number])[] }
  /** This process ends. */
  | { readonly kind: "bye" };

/** Of one room. */
export type RoomMessage =
  /** All that a process holds in a room; nobody: it has left the room. `asks`: and who do you have there? */
  | {
      readonly kind: "whole";
      readonly room: string;
      readonly version: number;
      readonly attendees: readonly Attendee[];
      readonly asks: boolean;
    }
  | {
      readonly kind: "change";
      readonly room: string;
      readonly after: number;
      readonly version: number;
      readonly said: readonly Attendee[];
      readonly gone: readonly string[];
    }
  /** To one process: tell me wholly. */
  | { readonly kind: "ask"; readonly room: string; readonly of: string };
