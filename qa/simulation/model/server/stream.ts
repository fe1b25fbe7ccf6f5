import type { Scope } from "../../../../packages/sdk/src/core/log/rows.ts";
import type { Stream, StreamListener } from "../../../../packages/sdk/src/engine/ports.ts";
import { closeCodes } from "../../../../packages/sdk/src/protocol/stream/close-codes.ts";
import type { FrameDown } from "../../../../packages/sdk/src/protocol/stream/frames-down.ts";
import type { FrameUp } from "../../../../packages/sdk/src/protocol/stream/frames-up.ts";
import type { Part } from "../../../../packages/sdk/src/protocol/stream/part-frames.ts";
import { STREAM_PROTOCOL } from "../../../../packages/sdk/src/protocol/version.ts";
import { followedPart } from "../../../../packages/sdk/src/testing/followed-part.ts";
import { scopeOfParts } from "../../../../packages/sdk/src/testing/followed-scope.ts";
import type { SeededRandom } from "../../../support/seeded-random.ts";
import type { Owner } from "../schedule.ts";
import { schema } from "../schema.ts";
import { asSent, type Link } from "./http.ts";
import type { Bearer } from "./tenants.ts";

/** How long a client takes to notice a dead connection: its ping interval, and the time for a pong. */
const NOTICED_AFTER_MS = 25_000;
const FRAME_ENTRIES = 3;

/** Of a model without a part nothing is followed. */
const whereOf = (parts: ReadonlyMap<string, Part>): Scope["where"] => {
  const { models = [], where = {} } = scopeOfParts(parts.values());
  const others = Object.keys(schema.models).filter((model) => !models.includes(model));
  return { ...where, ...Object.fromEntries(others.map((model) => [model, []])) };
};

type Greeting = Parameters<Stream["hello"]>[0];

interface Socket {
  readonly name: string;
  readonly listener: StreamListener;
  /** What the server has sent; undefined before the hello. */
  sent: { at: number; readonly logId: string; readonly bearer: Bearer; where: Scope["where"] } | undefined;
  /** Undefined: the client named models and conditions. */
  parts: Map<string, Part> | undefined;
  /** The client has not named all of its parts yet. */
  waits: boolean;
  /** A range is scheduled to be sent. */
  isSending: boolean;
  over: boolean;
  /** The connection is dead, and the client has not noticed yet. */
  dead: boolean;
  /** Cancels the time at which the client would notice. */
  unnoticed: () => void;
}

/** The sockets of one tab, one at a time. Frames of a socket come in order, whole, or not at all. */
export class SimulatedStream {
  readonly #link: Link;
  readonly #tab: Owner;
  /** For random faults of a connection. */
  readonly #chance: () => SeededRandom;
  #socket: Socket | undefined;
  #opened = 0;

  constructor(link: Link, tab: Owner, chance: () => SeededRandom) {
    this.#link = link;
    this.#tab = tab;
    this.#chance = chance;
    for (const model of [link.service.model, link.service.tenants.elsewhere]) model.onCommit(() => this.news());
  }

  get isOpen(): boolean {
    return this.#socket !== undefined && !this.#socket.dead;
  }

  /** The connection is dead, and neither side has noticed. */
  get isDead(): boolean {
    return this.#socket?.dead === true;
  }

  /** The server has been greeted, or is about to be, and has not said a word. */
  get isWaited(): boolean {
    return this.#socket !== undefined && !this.#socket.dead && this.#socket.sent === undefined;
  }

  port(): Stream {
    return {
      open: (listener) => this.#open(listener),
      hello: (greeting) => this.#hello(greeting),
      send: (frame) => this.#hear(frame),
      close: () => this.leave(),
    };
  }

  /** The connection breaks. The client is notified at once, or has to notice by a timeout. */
  cut(code: number, isNotified: boolean): void {
    const socket = this.#socket;
    if (!socket || socket.dead) return;
    socket.dead = true;
    const { schedule } = this.#link;
    const closed = () => this.#closed(socket, code, "cut");
    if (isNotified) schedule.add(`${this.#tab.name} hears that ${socket.name} is cut`, this.#tab, closed, socket.name);
    else
      socket.unnoticed = schedule.after(
        NOTICED_AFTER_MS,
        `${this.#tab.name} notices that ${socket.name} is silent`,
        this.#tab,
        closed,
      );
  }

  leave(): void {
    if (this.#socket) this.#socket.over = true;
    this.#socket?.unnoticed();
    this.#socket = undefined;
  }

  #open(listener: StreamListener): void {
    this.leave();
    this.#opened += 1;
    const name = `socket ${this.#opened} of ${this.#tab.name}`;
    const socket: Socket = {
      name,
      listener,
      sent: undefined,
      parts: undefined,
      isSending: false,
      waits: false,
      over: false,
      dead: false,
      unnoticed: () => {},
    };
    this.#socket = socket;
    this.#down(socket, "opens", () => {
      if (this.#link.isUp()) listener.opened();
      else this.#closed(socket, 1006, "There is no network.");
    });
  }

  #hello(greeting: Greeting): void {
    const socket = this.#socket;
    if (!socket) return;
    this.#link.schedule.add(`the server hears the hello of ${socket.name}`, undefined, () => {
      if (!socket.over && !socket.dead) this.#welcome(socket, greeting);
    });
  }

  /** Frames of a socket arrive in order. Only those about parts concern the log. */
  #hear(frame: FrameUp): void {
    const socket = this.#socket;
    if (!socket || (frame.frame !== "subscribe" && frame.frame !== "unsubscribe")) return;
    const hears = `the server hears ${frame.frame} of ${socket.name}`;
    this.#link.schedule.add(hears, undefined, () => this.#changeParts(socket, frame), `${socket.name} up`);
  }

  #changeParts(socket: Socket, frame: Extract<FrameUp, { frame: "subscribe" | "unsubscribe" }>): void {
    const { sent, parts } = socket;
    if (socket.over || socket.dead || !sent || !parts) return;
    const subscribed = frame.frame === "subscribe" ? frame.parts : [];
    const { waits } = socket;
    for (const part of subscribed) parts.set(part.id, part);
    if (frame.frame === "unsubscribe") for (const id of frame.ids) parts.delete(id);
    sent.where = whereOf(parts);
    for (const { id, since } of subscribed)
      if (!waits || since === null) this.#send(socket, { frame: "subscribed", id, position: sent.at, read: true });
    if (frame.frame === "unsubscribe" || !frame.more) socket.waits = false;
    if (waits && !socket.waits) this.#scheduleNews(socket);
    if (frame.frame === "unsubscribe") this.#send(socket, { frame: "unsubscribed", ids: [...frame.ids] });
  }

  #welcome(socket: Socket, { token, logId, since, scope, parts, more = false }: Greeting): void {
    const { service, actor } = this.#link;
    const bearer = service.bearer(actor, token);
    if (!bearer) return this.#down(socket, "is refused", () => this.#closed(socket, closeCodes.token, "token"));
    const { model } = bearer;
    if (bearer.signedIn !== "owner") this.#send(socket, this.#welcomeFrame(socket, bearer, since));
    if (logId !== model.logId || since > model.head)
      return this.#send(socket, { frame: "resync", reason: logId === model.logId ? "ahead" : "other_log" });
    socket.waits = more;
    socket.parts = parts && new Map(parts.map((part) => [part.id, part]));
    socket.sent = { at: since, logId, bearer, where: socket.parts ? whereOf(socket.parts) : scope?.where };
    if (bearer.signedIn === "owner") this.#send(socket, this.#welcomeFrame(socket, bearer, since));
    for (const { id, since: read } of parts ?? [])
      if (read === null) this.#send(socket, { frame: "subscribed", id, position: since, read: true });
    this.#scheduleNews(socket);
  }

  #welcomeFrame(socket: Socket, { model, introduction }: Bearer, since: number): FrameDown {
    return {
      frame: "welcome",
      stamp: model.head,
      logId: model.logId,
      session: socket.name,
      participant: `user:${this.#link.actor}`,
      ...introduction,
      protocol: STREAM_PROTOCOL,
      resumeFrom: since,
      expiresAt: null,
      expiresInMs: null,
      schema: null,
      rowsVersion: model.rowsVersion,
    };
  }

  /** The server has news: entries, or another log. */
  news(): void {
    if (this.#socket) this.#scheduleNews(this.#socket);
  }

  #scheduleNews(socket: Socket): void {
    if (socket.isSending || socket.over || socket.dead || !socket.sent || socket.waits) return;
    socket.isSending = true;
    this.#link.schedule.add(`the server tells ${socket.name} what is new`, undefined, () => {
      socket.isSending = false;
      if (!socket.over && !socket.dead) this.#sendNews(socket);
    });
  }

  /** Usually the next few entries; now and then some again, or some left out. */
  #sendNews(socket: Socket): void {
    const { sent } = socket;
    if (!sent) return;
    const { model, sees } = sent.bearer;
    if (sent.logId !== model.logId || sent.at > model.head)
      return this.#send(socket, { frame: "resync", reason: "other_log" });
    const chance = this.#chance();
    const odd = chance.below(20);
    const begin = odd === 0 ? Math.max(0, sent.at - 2) : odd === 1 ? Math.min(sent.at + 1, model.head) : sent.at;
    const { from, to, entries } = model.readLog(begin, 1 + chance.below(FRAME_ENTRIES));
    if (to > from) {
      sent.at = Math.max(sent.at, to);
      this.#send(socket, {
        frame: "entries",
        from,
        to,
        entries: asSent(followedPart(entries.filter(sees), sent.where, schema.models)),
      });
    }
    if (sent.at < model.head) this.#scheduleNews(socket);
  }

  #send(socket: Socket, frame: FrameDown): void {
    const range = frame.frame === "entries" ? ` ${frame.from}–${frame.to}` : "";
    this.#down(socket, `brings ${frame.frame}${range}`, () => {
      if (!socket.dead) socket.listener.frame(frame);
    });
  }

  #down(socket: Socket, what: string, then: () => void): void {
    this.#link.schedule.add(`${socket.name} ${what}`, this.#tab, () => socket.over || then(), socket.name);
  }

  #closed(socket: Socket, code: number, reason: string): void {
    if (socket.over) return;
    socket.over = true;
    socket.unnoticed();
    if (this.#socket === socket) this.#socket = undefined;
    socket.listener.closed(code, reason);
  }
}
