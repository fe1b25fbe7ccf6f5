import type { Attendee } from "./presence-room.ts";

/**
 * The messages between processes about the sockets that they hold. A version counts the changes of one process in one
 * room: a process that has not received `after` has missed a message and requests the whole state.
 */
export type PresenceMessage =
  | RoomMessage
  /** The heartbeat: rooms with their versions. */
  | { readonly kind: "beat"; readonly rooms: readonly (readonly [room: string, version: number])[] }
  /** This process shuts down. */
  | { readonly kind: "bye" };

/** A message about one room. */
export type RoomMessage =
  /**
   * All sockets of a process in a room; an empty list means it has left. `asks`: the receiver sends its own list back.
   */
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
  /** Asks one process for its whole list. */
  | { readonly kind: "ask"; readonly room: string; readonly of: string };
