import { setTimeout as pause } from "node:timers/promises";
import { type Pattern, someText } from "../assertions/pattern.ts";
import { NOTE } from "../environment/models.ts";
import type { Frame, Listener } from "../transport/stream.ts";
import type { Kit } from "./kit.ts";

const ENVELOPE = { frame: "error", type: someText, message: someText, code: someText };

export interface Person {
  readonly participantId: string;
  readonly stream: Listener;
}

interface Entering {
  readonly participantId?: string;
  readonly clientId?: string;
  readonly rooms?: readonly string[];
}

/** A participant that may read in some rooms; it has not entered one yet. */
export async function person(t: Kit, { participantId = t.id(), clientId, rooms = [] }: Entering): Promise<Person> {
  const { token } = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: rooms });
  return { participantId, stream: await t.connect({ token, ...(clientId !== undefined && { clientId }) }) };
}

export async function enter(t: Kit, room: string, state: object, entering: Entering = {}): Promise<Person> {
  const someone = await person(t, { rooms: [room], ...entering });
  someone.stream.send({ frame: "presence", room, state });
  await someone.stream.next("presence", { room });
  return someone;
}

interface Peer {
  readonly participant: string;
  readonly participantId: string;
  readonly sessions: readonly { readonly session: string; readonly clientId: string | null; readonly state: unknown }[];
}

export const peersOf = (frame: Frame, key: "joined" | "updated"): readonly Peer[] => frame[key] as readonly Peer[];
export const presenceFrames = ({ frames }: Listener, room: string) =>
  frames.filter(({ frame, room: of }) => frame === "presence" && of === room);

/** The members of a room, as a client computes them from its frames. */
export function peersIn(stream: Listener, room: string): ReadonlyMap<string, Peer> {
  const peers = new Map<string, Peer>();
  for (const frame of presenceFrames(stream, room)) {
    for (const peer of [...peersOf(frame, "joined"), ...peersOf(frame, "updated")]) peers.set(peer.participantId, peer);
    for (const participant of frame.left as readonly string[]) peers.delete(participant.replace(/^[a-z]+:/, ""));
  }
  return peers;
}

export const idsIn = (stream: Listener, room: string) => [...peersIn(stream, room).keys()].sort();
export const statesOf = (stream: Listener, room: string, { participantId }: Person) =>
  peersIn(stream, room)
    .get(participantId)
    ?.sessions.map(({ state }) => state);

/** Waits until a value is as expected, and reports the value if it never is. */
export async function becomes(
  t: Kit,
  look: () => unknown,
  expected: unknown,
  what: string,
  withinMs = 30_000,
): Promise<void> {
  const wanted = JSON.stringify(expected);
  for (const end = performance.now() + withinMs; performance.now() < end && JSON.stringify(look()) !== wanted; )
    await pause(20);
  t.is(look(), expected, what);
}

export async function isClosed(t: Kit, { stream }: Person, code: number, error: Pattern): Promise<void> {
  t.fits(await stream.next("error"), { ...ENVELOPE, ...(error as object) }, "the error frame");
  t.is((await stream.closes()).code, code, "the close code");
}
