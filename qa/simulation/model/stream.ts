import type { Stream, StreamListener } from "../../../packages/sdk/src/engine/ports.ts";
import { closeCodes } from "../../../packages/sdk/src/protocol/stream/close-codes.ts";
import type { FrameDown } from "../../../packages/sdk/src/protocol/stream/frames-down.ts";
import { STREAM_PROTOCOL } from "../../../packages/sdk/src/protocol/version.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import type { Link } from "./http.ts";
import type { Owner } from "./schedule.ts";
import type { Bearer } from "./tenants.ts";

/** How long a client takes to notice that nothing comes any more: its ping, and the time for a pong. */
const NOTICED_AFTER_MS = 25_000;
const FRAME_ENTRIES = 3;

type Greeting = Parameters<Stream["hello"]>[0];

interface Socket {
  readonly name: string;
  readonly listener: StreamListener;
  /** What the server has told; undefined until it has heard a hello. */
  told: { at: number; readonly logId: string; readonly bearer: Bearer } | undefined;
  /** A range is on its way to being told. */
  telling: boolean;
  over: boolean;
  /** Nothing gets through any more, and the client does not know it yet. */
  dead: boolean;
  /** Calls off the moment in which the client would notice. */
  unnoticed: () => void;
}

/** The sockets of one tab, one at a time. Frames of a socket come in order, whole, or not at all. */
export class SimulatedStream {
  readonly #link: Link;
  readonly #tab: Owner;
  /** For what goes wrong on a line by itself. */
  readonly #chance: () => SeededRandom;
  #socket: Socket | undefined;
  #opened = 0;

  constructor(link: Link, tab: Owner, chance: () => SeededRandom) {
    this.#link = link;
    this.#tab = tab;
    this.#chance = chance;
    link.service.model.onCommit(() => this.news());
  }

  get isOpen(): boolean {
    return this.#socket !== undefined && !this.#socket.dead;
  }

  /** Nothing comes through any more, and nobody has noticed. */
  get isDead(): boolean {
    return this.#socket?.dead === true;
  }

  /** The server has been greeted, or is about to be, and has not said a word. */
  get isWaited(): boolean {
    return this.#socket !== undefined && !this.#socket.dead && this.#socket.told === undefined;
  }

  port(): Stream {
    return {
      open: (listener) => this.#open(listener),
      hello: (greeting) => this.#hello(greeting),
      send: () => {},
      close: () => this.leave(),
    };
  }

  /** The line breaks. Either the client is told at once, or it has to notice by the silence. */
  cut(code: number, isTold: boolean): void {
    const socket = this.#socket;
    if (!socket || socket.dead) return;
    socket.dead = true;
    const { schedule } = this.#link;
    const closed = () => this.#closed(socket, code, "cut");
    if (isTold) schedule.add(`${this.#tab.name} hears that ${socket.name} is cut`, this.#tab, closed, socket.name);
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
      told: undefined,
      telling: false,
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

  #welcome(socket: Socket, { token, logId, since }: Greeting): void {
    const { service, actor } = this.#link;
    const bearer = service.bearer(actor, token);
    if (!bearer) return this.#down(socket, "is refused", () => this.#closed(socket, closeCodes.token, "token"));
    const { model } = bearer;
    if (bearer.signedIn !== "owner") this.#say(socket, this.#introduced(socket, bearer, since));
    if (logId !== model.logId || since > model.head)
      return this.#say(socket, { frame: "resync", reason: logId === model.logId ? "ahead" : "other_log" });
    socket.told = { at: since, logId, bearer };
    if (bearer.signedIn === "owner") this.#say(socket, this.#introduced(socket, bearer, since));
    this.#tellOn(socket);
  }

  #introduced(socket: Socket, { model, introduction }: Bearer, since: number): FrameDown {
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

  /** The server has something to tell: entries, or that it has another log. */
  news(): void {
    if (this.#socket) this.#tellOn(this.#socket);
  }

  #tellOn(socket: Socket): void {
    if (socket.telling || socket.over || socket.dead || !socket.told) return;
    socket.telling = true;
    this.#link.schedule.add(`the server tells ${socket.name} what is new`, undefined, () => {
      socket.telling = false;
      if (!socket.over && !socket.dead) this.#tell(socket);
    });
  }

  /** Usually the next few entries; now and then some again, or some left out. */
  #tell(socket: Socket): void {
    const { told } = socket;
    if (!told) return;
    const { model, sees } = told.bearer;
    if (told.logId !== model.logId || told.at > model.head)
      return this.#say(socket, { frame: "resync", reason: "other_log" });
    const chance = this.#chance();
    const odd = chance.below(20);
    const begin = odd === 0 ? Math.max(0, told.at - 2) : odd === 1 ? Math.min(told.at + 1, model.head) : told.at;
    const { from, to, entries } = model.readLog(begin, 1 + chance.below(FRAME_ENTRIES));
    if (to > from) {
      told.at = Math.max(told.at, to);
      this.#say(socket, { frame: "entries", from, to, entries: entries.filter(sees) });
    }
    if (told.at < model.head) this.#tellOn(socket);
  }

  #say(socket: Socket, frame: FrameDown): void {
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
