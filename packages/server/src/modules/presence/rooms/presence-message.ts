import type { Attendee } from "./presence-room.ts";

/** The messages between processes about the sockets that they hold. */
export type PresenceMessage =
  /** `number` rises with what a process sends: what is older than what arrived before is dropped. */
  | { readonly kind: "rooms"; readonly number: number; readonly rooms: readonly RoomMessage[] }
  /** This process shuts down. */
  | { readonly kind: "bye" };

/** A message about one room. */
export type RoomMessage =
  /** All sockets of a process in a room; an empty list means that it has none. `asks`: the receiver sends its own. */
  | {
      readonly kind: "whole";
      readonly room: string;
      readonly attendees: readonly Attendee[];
      readonly asks: boolean;
    }
  /** Only what changed. Without a change it says that the process is in the room. */
  | {
      readonly kind: "change";
      readonly room: string;
      readonly said: readonly Attendee[];
      readonly gone: readonly string[];
    };
