import type { RoomPeer } from "@holdfast/sdk";
import { useOthers, usePresenceStatus, useSelf } from "../sync.ts";
import { useNames } from "./people.ts";

export const roomOf = (deckId: string): string => `deck:${deckId}`;

/** Everybody who looks at this deck now, oneself first. */
export function Peers({ deckId }: { deckId: string }) {
  const room = roomOf(deckId);
  const self = useSelf(room);
  const others = useOthers(room);
  const isLive = usePresenceStatus(room) === "live";
  if (!self && others.length === 0) return null;
  return (
    <ul className="peers" aria-label="Who is here" data-live={isLive}>
      {self && <Avatar peer={self} isSelf />}
      {others.map((peer) => (
        <Avatar key={peer.participant} peer={peer} />
      ))}
    </ul>
  );
}

type BySlide = ReadonlyMap<string, readonly RoomPeer[]>;

/** Who of the others is at which slide, asked once for all of them. */
export const usePeersBySlide = (deckId: string): BySlide => useOthers(roomOf(deckId), bySlide, samePeers);

function bySlide(others: readonly RoomPeer[]): BySlide {
  const groups = new Map<string, RoomPeer[]>();
  for (const peer of others) {
    const { slide } = peer.state;
    if (typeof slide === "string") groups.set(slide, [...(groups.get(slide) ?? []), peer]);
  }
  return groups;
}

const samePeers = (a: BySlide, b: BySlide): boolean =>
  a.size === b.size && [...a].every(([slide, peers]) => names(peers) === names(b.get(slide) ?? []));

const names = (peers: readonly RoomPeer[]): string => peers.map(({ participant }) => participant).join();

/** Those of the others who are at one slide. */
export function PeersAt({ here }: { here: readonly RoomPeer[] | undefined }) {
  if (!here) return null;
  return (
    <ul className="peers small" aria-label="Who is at this slide">
      {here.map((peer) => (
        <Avatar key={peer.participant} peer={peer} />
      ))}
    </ul>
  );
}

function Avatar({ peer, isSelf }: { peer: RoomPeer; isSelf?: boolean }) {
  const nameOf = useNames();
  const name = isSelf ? "You" : nameOf(peer.participant);
  return (
    <li className="avatar" data-kind={peer.participantKind} data-hue={hueOf(peer.participant)} title={name}>
      <span aria-hidden="true">
        {peer.participantKind === "agent" ? "✦" : peer.participantId.charAt(0).toUpperCase()}
      </span>
      <span className="unseen">{name}</span>
    </li>
  );
}

/** One of six colours, the same for a participant in every window. */
const hueOf = (participant: string): number => [...participant].reduce((sum, char) => sum + char.charCodeAt(0), 0) % 6;
