import type { Reply } from "../../../packages/sdk/src/core/queue/outcome.ts";
import type { LogPage, Server, Snapshot, TokenSource } from "../../../packages/sdk/src/engine/ports.ts";
import { type ErrorCode, errorCodes } from "../../../packages/sdk/src/protocol/errors/error-codes.ts";
import { errorSentences } from "../../../packages/sdk/src/protocol/errors/error-sentences.ts";
import type { EventSchedule, Owner, Task } from "./schedule.ts";
import type { Service } from "./service.ts";
import type { Bearer } from "./tenants.ts";

/** How long a request may take by the client's own clock. */
const REQUEST_MS = 30_000;
/** Entries in one page of the log: few, so that reading takes more than one. */
const PAGE = 5;
/** Records in one page of a snapshot, for the same reason. */
const SNAPSHOT_PAGE = 3;

export interface Link {
  readonly schedule: EventSchedule;
  readonly service: Service;
  readonly actor: string;
  /** Whether anything gets through. */
  isUp(): boolean;
  /** Told of every bulk that leaves a tab, before anybody hears it. */
  sending(body: string, tab: Owner): void;
}

type Heard<T> = T | Reply;

interface Flight {
  readonly what: string;
  readonly by: Owner;
  /** On its way to the server: the server hears it when this happens. */
  up: Task | undefined;
  /** On its way back. */
  down: Task | undefined;
  readonly hear: () => void;
  readonly end: (reply: Reply) => void;
}

/** Requests of one tab. Each is heard when its turn comes and answered when that of the answer comes, or is lost. */
export class SimulatedHttp {
  readonly #link: Link;
  readonly #tab: Owner;
  #flights: Flight[] = [];

  constructor(link: Link, tab: Owner) {
    this.#link = link;
    this.#tab = tab;
  }

  port(token: TokenSource): Server {
    const { service, actor } = this.#link;
    return {
      send: (body, signal) =>
        this.#ask(
          "a bulk",
          token,
          signal,
          (bearer): Reply => ({ kind: "answer", status: 200, body: service.hearFrom(body, actor, bearer) }),
          () => this.#link.sending(body, this.#tab),
        ),
      readLog: (after, signal) =>
        this.#ask("the log", token, signal, ({ model, introduction, sees }): Heard<LogPage> => {
          if (after > model.head) return refusal("read_at_in_future");
          const { entries, ...page } = model.readLog(after, PAGE);
          return { kind: "log", ...page, ...introduction, entries: entries.filter(sees) };
        }),
      readSnapshot: (cursor, signal) =>
        this.#ask("a snapshot", token, signal, ({ model, introduction, sees }): Heard<Snapshot> => {
          const { lines, ...page } = model.snapshotPage(cursor, SNAPSHOT_PAGE);
          // It was begun before the server was restored.
          if (page.stamp > model.head) return refusal("resync_required");
          return { kind: "snapshot", ...page, ...introduction, lines: lines.filter(sees) };
        }),
      request: (_, { params: { clientTxId = "" } = {} }, signal) =>
        this.#ask("a receipt", token, signal, (): Reply => {
          const receipt = service.model.receiptOf(actor, clientTxId);
          return receipt ? { kind: "answer", status: 200, body: receipt } : refusal("commit_not_found");
        }),
    };
  }

  get inFlight(): number {
    return this.#flights.length;
  }

  /** What has been asked and not been heard yet. */
  get waiting(): readonly { readonly what: string }[] {
    return this.#flights;
  }

  /** The request does not reach the server; or it does, and the answer does not come back. */
  lose(at: number): string | undefined {
    const flight = this.#flights[at];
    if (!flight) return undefined;
    const lost = flight.up ? "up" : "down";
    this.#takeOff(flight);
    this.#tell(flight, { kind: "silence", timedOut: false, reason: "The line broke." });
    return `${flight.what} of ${this.#tab.name} on its way ${lost}`;
  }

  /** A request that the server hears twice: somebody between sent it again. */
  repeat(at: number): string | undefined {
    const flight = this.#flights[at];
    if (!flight) return undefined;
    this.#late(flight);
    return `${flight.what} of ${this.#tab.name}`;
  }

  /** Something between client and server answers, or the server while it is not well. Heard or not, nobody can tell. */
  spoil(at: number, heard: boolean, kind: keyof typeof SPOILT): string | undefined {
    const flight = this.#flights[at];
    if (!flight?.up) return undefined;
    if (heard) flight.hear();
    this.#takeOff(flight);
    this.#tell(flight, SPOILT[kind]());
    return `${flight.what} of ${this.#tab.name}: ${kind}${heard ? ", though it was heard" : ""}`;
  }

  /** The tab is gone. What had left it may still arrive. */
  leave(arrives: () => boolean): void {
    for (const flight of this.#flights) {
      const had = flight.up;
      this.#takeOff(flight);
      if (had && arrives()) this.#late(flight);
    }
    this.#flights = [];
  }

  /** The network is gone: every request ends, whether or not it was heard. */
  breakAll(arrives: () => boolean): void {
    for (const flight of [...this.#flights]) {
      const had = flight.up;
      this.#takeOff(flight);
      if (had && arrives()) this.#late(flight);
      this.#tell(flight, { kind: "silence", timedOut: false, reason: "The network went away." });
    }
  }

  async #ask<T>(
    what: string,
    token: TokenSource,
    signal: AbortSignal,
    answer: (bearer: Bearer) => Heard<T>,
    leaves: () => void = () => {},
  ): Promise<Heard<T>> {
    let given: string;
    try {
      given = await token.current();
    } catch (error) {
      return { kind: "no-token", reason: String(error) };
    }
    if (signal.aborted) return { kind: "silence", timedOut: false, reason: "It was given up." };
    leaves();
    return new Promise((resolve) => this.#fly(what, given, signal, answer, resolve));
  }

  #fly<T>(
    what: string,
    token: string,
    signal: AbortSignal,
    answer: (bearer: Bearer) => Heard<T>,
    resolve: (heard: Heard<T>) => void,
  ): void {
    const { schedule, service, actor } = this.#link;
    const judged = (): Heard<T> => {
      const bearer = service.bearer(actor, token);
      return bearer ? answer(bearer) : refusal("token_expired");
    };
    const timeUp = schedule.after(REQUEST_MS, `${what} of ${this.#tab.name} takes too long`, this.#tab, () => {
      this.#takeOff(flight);
      if (flight.up) this.#late(flight);
      flight.end({ kind: "silence", timedOut: true, reason: "No answer in time." });
    });
    const givenUp = () => {
      const had = flight.up;
      this.#takeOff(flight);
      if (had) this.#late(flight);
      flight.end({ kind: "silence", timedOut: false, reason: "It was given up." });
    };
    const end = (heard: Heard<T>) => {
      timeUp();
      signal.removeEventListener("abort", givenUp);
      this.#flights = this.#flights.filter((one) => one !== flight);
      resolve(heard);
    };
    const flight: Flight = { what, by: this.#tab, up: undefined, down: undefined, hear: () => void judged(), end };
    this.#flights.push(flight);
    signal.addEventListener("abort", givenUp);
    if (!this.#link.isUp())
      return this.#tell(flight, { kind: "silence", timedOut: false, reason: "There is no network." });
    flight.up = schedule.add(`the server hears ${what} of ${this.#tab.name}`, undefined, () => {
      flight.up = undefined;
      const heard = judged();
      flight.down = schedule.add(`${this.#tab.name} hears the answer to ${what}`, this.#tab, () => end(heard));
    });
  }

  #takeOff({ up, down }: Flight): void {
    if (up) this.#link.schedule.drop(up);
    if (down) this.#link.schedule.drop(down);
  }

  #tell(flight: Flight, reply: Reply): void {
    flight.up = undefined;
    flight.down = this.#link.schedule.add(`${this.#tab.name} hears that ${flight.what} failed`, this.#tab, () =>
      flight.end(reply),
    );
  }

  /** It arrives at some time, though nobody waits for an answer any more. */
  #late(flight: Flight): void {
    this.#link.schedule.add(`the server hears ${flight.what} of ${this.#tab.name} late`, undefined, flight.hear);
  }
}

const SPOILT = {
  "error page": (): Reply => ({ kind: "answer", status: 502, body: undefined }),
  overloaded: (): Reply => ({ ...refusal("rate_limited"), retryAfterMs: 2_000 }),
  unwell: (): Reply => refusal("unavailable"),
  "token doubted": (): Reply => refusal("token_expired"),
};

function refusal(code: ErrorCode): Reply & { kind: "answer" } {
  const { type, status } = errorCodes[code];
  return { kind: "answer", status, body: { type, code, message: errorSentences[code] } };
}
