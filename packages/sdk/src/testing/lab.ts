import type { SyncClient } from "../api/sync-client.ts";
import { alone } from "../browser/tabs.ts";
import { createClientOn, type Platform } from "../client.ts";
import type { Reply } from "../core/outcome.ts";
import type { LogPage, Server, Snapshot, Stream, StreamListener } from "../engine/ports.ts";
import type { ClientOptions } from "../options.ts";
import type { FrameDown } from "../protocol/frames-down.ts";
import type { ModelSchema } from "../protocol/model-schema.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { ModelServer } from "./model-server.ts";

/** The line of one client: what it sends, and what becomes of it. */
export class Line {
  /** Bodies of the bulks that were sent, in order. */
  readonly sent: string[] = [];
  /** How often a snapshot, the log, or a socket was asked for. */
  readonly asked = { snapshot: 0, log: 0, socket: 0 };
  /** What the next bulks are answered with instead; "lost": the server hears it, its receipt is lost. */
  readonly answers: (Reply | "lost" | "held back")[] = [];
  /** Tokens that are refused, whatever is asked. */
  readonly badTokens = new Set<string>();
  up = true;
  socketUp = true;
  /** While true, commits are not told on the stream. */
  quiet = false;
  readonly #held: (() => void)[] = [];

  holdBack(then: () => void): void {
    this.#held.push(then);
  }

  /** Lets through what was held back. */
  release(): void {
    for (const then of this.#held.splice(0)) then();
  }

  /** Set while a socket is open. */
  cut: ((code?: number) => void) | undefined;
  /** Brings the stream up to the head. */
  flush: () => void = () => {};
  /** Sends what lies behind a position, as if what lies before it had been delivered. */
  skip: (to: number) => void = () => {};
  /** Sends a frame. */
  say: (frame: FrameDown) => void = () => {};
}

export interface Lab<S extends ModelSchema> {
  readonly server: ModelServer;
  readonly clock: FakeClock;
  /** A client on a line of its own. Handing in the disk of an earlier one is a reload. */
  client(options?: LabOptions): { client: SyncClient<S>; line: Line; disk: MemoryDisk; signals: LabSignals };
  /** Lets everything happen that waits for nothing but its turn. */
  settle(): Promise<void>;
}

export interface LabOptions extends Partial<Pick<ClientOptions<ModelSchema>, "paused" | "clientId" | "getToken">> {
  readonly actor?: string;
  readonly disk?: MemoryDisk;
  readonly platform?: Partial<Platform>;
}

export interface LabSignals {
  network(up: boolean): void;
  woke(): void;
}

const SILENCE: Reply = { kind: "silence", timedOut: false, reason: "The line is down." };
const REFUSED: Reply = {
  kind: "answer",
  status: 401,
  body: { type: "authentication_error", code: "token_expired", message: "The token's time is over." },
};

/** Counted over all laboratories of a test: a client that is reloaded into another must not repeat names. */
let namesMade = 0;

/** Clients against the model server, on lines that can be cut, with a clock that is moved by hand. */
export function lab<const S extends ModelSchema>(schema: S): Lab<S> {
  const server = new ModelServer(schema);
  const clock = fakeClock();

  return {
    server,
    clock,
    async settle() {
      for (let i = 0; i < 50; i++) await Promise.resolve();
      await new Promise((resolve) => setTimeout(resolve, 0));
      for (let i = 0; i < 50; i++) await Promise.resolve();
    },
    client({ actor = "ann", disk = new MemoryDisk(), platform = {}, getToken = () => "token", ...options } = {}) {
      const line = new Line();
      const signals: LabSignals = { network: () => {}, woke: () => {} };
      const client = createClientOn(
        {
          clock,
          dice: { roll: () => 0.5, id: () => `id-${++namesMade}` },
          storage: async () => memoryStorage(disk),
          tabs: alone,
          signals: () => ({ start: (listener) => void Object.assign(signals, listener), close: () => {} }),
          server: (token) => labServer(server, line, actor, () => token.current()),
          stream: () => labStream(server, line),
          ...platform,
        },
        { schema, url: "http://lab.test", getToken, ...options },
      );
      return { client, line, disk, signals };
    },
  };
}

function labServer(server: ModelServer, line: Line, actor: string, token: () => Promise<string>): Server {
  async function reach<T>(work: () => T | Reply): Promise<T | Reply> {
    let given: string;
    try {
      given = await token();
    } catch (error) {
      return { kind: "no-token", reason: String(error) };
    }
    if (!line.up) return SILENCE;
    return line.badTokens.has(given) ? REFUSED : work();
  }
  return {
    send: (body, signal) =>
      reach((): Reply => {
        line.sent.push(body);
        return { kind: "answer", status: 200, body: undefined };
      }).then((reached): Reply | Promise<Reply> => {
        if (reached !== undefined && (reached.kind !== "answer" || reached.status !== 200)) return reached;
        const answer = line.answers.shift();
        if (answer !== undefined && answer !== "lost" && answer !== "held back") return answer;
        const hear = (): Reply => ({ kind: "answer", status: 200, body: server.bulk(body, actor) });
        if (answer === "lost") {
          hear();
          return { kind: "silence", timedOut: false, reason: "The receipt was lost." };
        }
        if (answer === undefined) return hear();
        return new Promise((resolve) => {
          line.holdBack(() => resolve(hear()));
          signal.addEventListener("abort", () => resolve(SILENCE));
        });
      }),
    readLog: (after) =>
      reach((): LogPage => {
        line.asked.log += 1;
        return { kind: "log", ...server.readLog(after) };
      }),
    readSnapshot: () =>
      reach((): Snapshot => {
        line.asked.snapshot += 1;
        return { kind: "snapshot", ...server.snapshot() };
      }),
  };
}

function labStream(server: ModelServer, line: Line): Stream {
  let hearing: { listener: StreamListener; off: () => void } | undefined;
  const drop = () => {
    hearing?.off();
    hearing = undefined;
    line.cut = undefined;
    line.flush = () => {};
  };
  return {
    open(listener) {
      drop();
      line.asked.socket += 1;
      const own = { listener, off: () => {} };
      hearing = own;
      line.cut = (code = 1006) => {
        drop();
        listener.closed(code, "cut");
      };
      queueMicrotask(() => {
        if (hearing !== own) return;
        if (line.up && line.socketUp) listener.opened();
        else line.cut?.();
      });
    },
    hello({ token, logId, since }) {
      const own = hearing;
      if (!own) return;
      if (line.badTokens.has(token)) return line.cut?.(4401);
      if (logId !== server.logId || since > server.head)
        return own.listener.frame({ frame: "resync", reason: logId === server.logId ? "ahead" : "other_log" });
      let at = since;
      const flush = () => {
        if (hearing !== own || at >= server.head) return;
        const { to, entries } = server.readLog(at);
        const from = at;
        at = to;
        own.listener.frame({ frame: "entries", from, to, entries });
      };
      own.off = server.onCommit(() => void (line.quiet || flush()));
      line.flush = flush;
      line.skip = (to) => {
        at = to;
        flush();
      };
      line.say = (frame) => own.listener.frame(frame);
      own.listener.frame({
        frame: "welcome",
        stamp: server.head,
        logId: server.logId,
        session: "session",
        participant: "user:lab",
        protocol: "holdfast.v1",
        resumeFrom: since,
        expiresAt: null,
        schema: null,
      });
      flush();
    },
    close: drop,
  };
}
