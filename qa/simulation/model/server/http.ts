import type { Reply } from "../../../../packages/sdk/src/core/queue/outcome.ts";
import type { LogPage, Server, Snapshot, TokenSource } from "../../../../packages/sdk/src/engine/ports.ts";
import { type ErrorCode, errorCodes } from "../../../../packages/sdk/src/protocol/errors/error-codes.ts";
import { errorSentences } from "../../../../packages/sdk/src/protocol/errors/error-sentences.ts";
import { followedPart } from "../../../../packages/sdk/src/testing/followed-part.ts";
import type { EventSchedule, Owner, Task } from "../schedule.ts";
import { schema } from "../schema.ts";
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
  /** Whether the network is up. */
  isUp(): boolean;
  /** Called with every bulk that a tab sends, before the server receives it. */
  sending(body: string, tab: Owner): void;
}

/** Each client gets objects of its own, as on any wire: the client adds to those that it gives to the app. */
export const asSent = <T>(records: readonly T[]): T[] => structuredClone(records) as T[];

type Result<T> = T | Reply;

interface Flight {
  readonly what: string;
  readonly by: Owner;
  /** How long the devices had slept when it was sent. */
  readonly slept: number;
  /** The delivery to the server, until it happens. */
  up: Task | undefined;
  /** The delivery of the response. */
  down: Task | undefined;
  readonly deliver: () => void;
  readonly end: (reply: Reply) => void;
}

/** The requests of one tab. The schedule decides when a request and its response arrive, or that one is lost. */
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
        this.#request(
          "a bulk",
          token,
          signal,
          (bearer): Reply => ({ kind: "answer", status: 200, body: service.receive(body, actor, bearer) }),
          () => this.#link.sending(body, this.#tab),
        ),
      readLog: (after, signal, scope) =>
        this.#request("the log", token, signal, ({ model, introduction, sees }): Result<LogPage> => {
          if (after > model.head) return refusal("read_at_in_future");
          const { entries, ...page } = model.readLog(after, PAGE);
          return {
            kind: "log",
            ...page,
            ...introduction,
            entries: asSent(followedPart(entries.filter(sees), scope?.where, schema.models)),
          };
        }),
      readSnapshot: (cursor, signal, scope) =>
        this.#request("a snapshot", token, signal, ({ model, introduction, sees }): Result<Snapshot> => {
          const { lines, ...page } = model.snapshotPage(cursor, SNAPSHOT_PAGE);
          // It was begun before the server was restored.
          if (page.stamp > model.head) return refusal("resync_required");
          return {
            kind: "snapshot",
            ...page,
            ...introduction,
            lines: asSent(followedPart(lines.filter(sees), scope?.where, schema.models)),
          };
        }),
      request: (name, { params: { clientTxId = "" } = {} }, signal) =>
        name === "readIdentity"
          ? this.#request("whose token it is", token, signal, ({ introduction, model: { logId } }): Reply => {
              return { kind: "answer", status: 200, body: { ...introduction, logId } };
            })
          : this.#request("a receipt", token, signal, ({ model, participant }): Reply => {
              const receipt = model.receiptOf(participant, clientTxId);
              return receipt ? { kind: "answer", status: 200, body: receipt } : refusal("commit_not_found");
            }),
    };
  }

  get inFlight(): number {
    return this.#flights.length;
  }

  /** Requests that have not arrived yet. */
  get waiting(): readonly { readonly what: string }[] {
    return this.#flights;
  }

  /** The request does not reach the server; or it does, and the answer does not come back. */
  lose(at: number): string | undefined {
    const flight = this.#flights[at];
    if (!flight) return undefined;
    const lost = flight.up ? "up" : "down";
    this.#takeOff(flight);
    this.#fail(flight, { kind: "silence", timedOut: false, reason: "The line broke." });
    return `${flight.what} of ${this.#tab.name} on its way ${lost}`;
  }

  /** Delivers a request twice, like a proxy that sends it again. */
  repeat(at: number): string | undefined {
    const flight = this.#flights[at];
    if (!flight) return undefined;
    this.#late(flight);
    return `${flight.what} of ${this.#tab.name}`;
  }

  /** A proxy answers, or a failing server. The client cannot tell whether the request was processed. */
  spoil(at: number, isDelivered: boolean, kind: keyof typeof SPOILT): string | undefined {
    const flight = this.#flights[at];
    if (!flight?.up) return undefined;
    if (isDelivered) flight.deliver();
    this.#takeOff(flight);
    this.#fail(flight, SPOILT[kind]());
    return `${flight.what} of ${this.#tab.name}: ${kind}${isDelivered ? ", though it was heard" : ""}`;
  }

  /** The tab was closed. Requests that it had sent may still arrive. */
  leave(arrives: () => boolean): void {
    for (const flight of this.#flights) {
      const had = flight.up;
      this.#takeOff(flight);
      if (had && arrives()) this.#late(flight);
    }
    this.#flights = [];
  }

  /** The network fails: every request ends, whether or not it had arrived. */
  breakAll(arrives: () => boolean): void {
    for (const flight of [...this.#flights]) {
      const had = flight.up;
      this.#takeOff(flight);
      if (had && arrives()) this.#late(flight);
      this.#fail(flight, { kind: "silence", timedOut: false, reason: "The network went away." });
    }
  }

  async #request<T>(
    what: string,
    token: TokenSource,
    signal: AbortSignal,
    answer: (bearer: Bearer) => Result<T>,
    leaves: () => void = () => {},
  ): Promise<Result<T>> {
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
    answer: (bearer: Bearer) => Result<T>,
    resolve: (result: Result<T>) => void,
  ): void {
    const { schedule, service, actor } = this.#link;
    const judged = (): Result<T> => {
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
    const end = (result: Result<T>) => {
      timeUp();
      signal.removeEventListener("abort", givenUp);
      this.#flights = this.#flights.filter((one) => one !== flight);
      resolve(result);
    };
    const { slept } = schedule;
    const deliver = () => void judged();
    const flight: Flight = { what, by: this.#tab, slept, up: undefined, down: undefined, deliver, end };
    this.#flights.push(flight);
    signal.addEventListener("abort", givenUp);
    if (!this.#link.isUp())
      return this.#fail(flight, { kind: "silence", timedOut: false, reason: "There is no network." });
    flight.up = schedule.add(`the server hears ${what} of ${this.#tab.name}`, undefined, () => {
      flight.up = undefined;
      const result = judged();
      flight.down = schedule.add(`${this.#tab.name} hears the answer to ${what}`, this.#tab, () => end(result));
    });
  }

  #takeOff({ up, down }: Flight): void {
    if (up) this.#link.schedule.drop(up);
    if (down) this.#link.schedule.drop(down);
  }

  #fail(flight: Flight, reply: Reply): void {
    flight.up = undefined;
    flight.down = this.#link.schedule.add(`${this.#tab.name} hears that ${flight.what} failed`, this.#tab, () =>
      flight.end(reply),
    );
  }

  /** The request arrives at some time, although its client has given up; but not after a sleep of weeks. */
  #late(flight: Flight): void {
    const { schedule } = this.#link;
    schedule.add(`the server hears ${flight.what} of ${this.#tab.name} late`, undefined, () => {
      if (schedule.slept === flight.slept) flight.deliver();
    });
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
