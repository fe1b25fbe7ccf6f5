import { limits } from "@holdfast/sdk/protocol";
import { presenceFrame } from "./presence-frame.ts";
import { createPresenceMesh, type PresenceTimes } from "./presence-mesh.ts";
import type { PresenceMessage } from "./presence-message.ts";
import type { Attendee } from "./presence-room.ts";

/** Receives a frame for one socket. `isFirst`: the frame has all members of the room. */
export type FrameListener = (frame: Buffer, isFirst: boolean) => void;

/** The presence rooms of this process, joined with those of the other processes. */
export interface PresenceRooms {
  update(tenant: number, room: string, attendee: Omit<Attendee, "spokeAt">, listener: FrameListener): void;
  /** The client left by itself: sent at once. */
  leave(tenant: number, room: string, session: string): void;
  /** The socket is closed, but the client may reconnect soon. */
  breakOff(tenant: number, room: string, session: string): void;
  /** Sends a goodbye to the other processes. Later changes are not sent. */
  close(): Promise<void>;
}

/** A channel to the other processes. It may lose messages, but keeps them in order. */
export interface PresenceChannel {
  /** The name of this process towards the others. */
  readonly self: string;
  send(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface PresenceOptions {
  readonly times: PresenceTimes;
  openChannel(on: { received(from: string, text: string): void; opened(): void }): PresenceChannel;
  /** Monotonic: sessions and processes expire by it. */
  now(): number;
  failed(error: unknown): void;
}

/** The sockets of one room in this process. */
interface Audience {
  readonly room: string;
  readonly listeners: Map<string, FrameListener>;
  /** Members that have not received the member list yet. */
  readonly entrants: Map<string, FrameListener>;
  notifiedAt: number;
  timer: NodeJS.Timeout | undefined;
}

/** The shortest time between two updates of a room, to members and between processes. */
const FLUSH_MS = 1_000 / limits.presencePerSecond;
const SETTLING_MS = 10;
/** How much longer a grace period can last, because it is checked at this interval. */
const TICK_MS = 100;

export function openPresenceRooms({ times, openChannel, now, failed }: PresenceOptions): PresenceRooms {
  const audiences = new Map<string, Audience>();
  let closed = false;
  let sentAt = 0;
  let sending: NodeJS.Timeout | undefined;
  let flight: Promise<void> | undefined;
  const ticking = setInterval(() => act(() => mesh.tick(now())), TICK_MS).unref();
  const beating = setInterval(() => act(() => mesh.beat(now())), times.beatMs).unref();
  const channel = openChannel({
    received: (from, text) => {
      // During an upgrade, another process may run a different version. Ignore messages that cannot be read.
      try {
        const message = JSON.parse(text) as PresenceMessage;
        act(() => mesh.receive(from, message, now()));
      } catch (error) {
        failed(error);
      }
    },
    opened: () => act(() => mesh.listening(now())),
  });
  const mesh = createPresenceMesh(channel.self, times);

  /** Runs a change of the mesh, then schedules updates for the affected members and processes. */
  function act(change: () => void): void {
    if (closed) return;
    change();
    for (const key of mesh.changedRooms()) notifySoon(key);
    if (mesh.hasOutgoing) sendSoon();
  }

  function notifySoon(key: string): void {
    const audience = audiences.get(key);
    if (audience && audience.timer === undefined) schedule(key, audience, audience.notifiedAt + FLUSH_MS - now());
  }

  function schedule(key: string, audience: Audience, delayMs: number): void {
    audience.timer = setTimeout(() => notify(key, audience), Math.max(0, delayMs)).unref();
  }

  /** Sends one update of one room. Each frame is built once, however many members receive it. */
  function notify(key: string, audience: Audience): void {
    audience.timer = undefined;
    const { room, listeners, entrants } = audience;
    if (!mesh.isSettled(key, now())) return schedule(key, audience, SETTLING_MS);
    audience.notifiedAt = now();
    const news = mesh.news(key);
    if (news && listeners.size > 0) {
      const frame = presenceFrame(room, news);
      for (const listener of [...listeners.values()]) listener(frame, false);
    }
    if (entrants.size === 0) return;
    const whole = presenceFrame(room, { joined: mesh.participants(key), updated: [], left: [] });
    const entering = [...entrants];
    entrants.clear();
    for (const [session, listener] of entering) listeners.set(session, listener);
    for (const [, listener] of entering) listener(whole, true);
  }

  function sendSoon(): void {
    if (flight) return;
    sending ??= setTimeout(() => void send(), Math.max(0, sentAt + FLUSH_MS - now())).unref();
  }

  /** One send at a time: later changes go with the next one, in their latest state. */
  async function send(): Promise<void> {
    sending = undefined;
    sentAt = now();
    flight = sendAll(mesh.outgoing()).catch(failed);
    await flight;
    flight = undefined;
    if (mesh.hasOutgoing && !closed) sendSoon();
  }

  async function sendAll(messages: readonly PresenceMessage[]): Promise<void> {
    for (const message of messages) await channel.send(JSON.stringify(message));
  }

  function forget(key: string, session: string): void {
    const audience = audiences.get(key);
    if (!audience) return;
    audience.listeners.delete(session);
    audience.entrants.delete(session);
    if (audience.listeners.size + audience.entrants.size > 0) return;
    clearTimeout(audience.timer);
    audiences.delete(key);
  }

  return {
    update(tenant, room, attendee, listener) {
      if (closed) return;
      const key = keyOf(tenant, room);
      let audience = audiences.get(key);
      if (!audience) {
        audience = { room, listeners: new Map(), entrants: new Map(), notifiedAt: 0, timer: undefined };
        audiences.set(key, audience);
      }
      const isNew = !audience.listeners.has(attendee.session);
      if (isNew) audience.entrants.set(attendee.session, listener);
      act(() => mesh.update(key, attendee, now()));
      // The state may be unchanged, but a new member still needs the member list.
      if (isNew) notifySoon(key);
    },
    leave(tenant, room, session) {
      const key = keyOf(tenant, room);
      forget(key, session);
      act(() => mesh.leave(key, session));
    },
    breakOff(tenant, room, session) {
      const key = keyOf(tenant, room);
      forget(key, session);
      act(() => mesh.breakOff(key, session, now()));
    },
    async close() {
      if (closed) return;
      closed = true;
      clearInterval(ticking);
      clearInterval(beating);
      clearTimeout(sending);
      for (const { timer } of audiences.values()) clearTimeout(timer);
      await flight;
      await sendAll(mesh.hasRooms ? [...mesh.outgoing(), { kind: "bye" }] : mesh.outgoing()).catch(failed);
      await channel.close();
    },
  };
}

const keyOf = (tenant: number, room: string): string => `${tenant} ${room}`;
