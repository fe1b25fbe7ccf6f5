import type { Peer, PresenceFrame } from "@holdfast/sdk/protocol";
import type { TestStream } from "./stream.ts";

/** The members of a room as a correct client computes them: the first list, then every change. */
export function roomOf({ frames }: TestStream, room: string): ReadonlyMap<string, Peer> {
  const peers = new Map<string, Peer>();
  for (const frame of presenceFrames(frames, room)) {
    for (const peer of [...frame.joined, ...frame.updated]) peers.set(peer.participant, peer);
    for (const participant of frame.left) peers.delete(participant);
  }
  return peers;
}

/** All frames about a room, in order. */
export const presenceFrames = (frames: TestStream["frames"], room: string): PresenceFrame[] =>
  frames.filter((frame): frame is PresenceFrame => frame.frame === "presence" && frame.room === room);
