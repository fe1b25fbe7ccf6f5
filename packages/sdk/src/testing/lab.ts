import type { SyncClient } from "../api/sync-client.ts";
import { alone } from "../browser/tabs.ts";
import type { Reply } from "../core/outcome.ts";
import type { Scope } from "../core/rows.ts";
import type { Asked, LogPage, Server, Snapshot, Stream, StreamListener } from "../engine/ports.ts";
import type { ClientOptions } from "../options.ts";
import { createClientOn, type Platform } from "../platform.ts";
import type { Claim, ClaimBody } from "../protocol/claim.ts";
import type { ClientEndpointName } from "../protocol/client-paths.ts";
import { errorCodes } from "../protocol/error-codes.ts";
import { errorSentences } from "../protocol/error-sentences.ts";
import type { FrameDown } from "../protocol/frames-down.ts";
import type { FrameUp } from "../protocol/frames-up.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ModelSchema } from "../protocol/model-schema.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { withoutToken } from "../transport/token.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import type { Answer } from "./model-claims.ts";
import { ModelServer } from "./model-server.ts";

/** The line of one client: what it sends, and what becomes of it. */
export class Line {
  /** Bodies of the bulks that were sent, in order. */
  readonly sent: string[] = [];
  /** How often a snapshot, the log, or a socket was asked for. */
  readonly asked = { snapshot: 0, log: 0, socket: 0 };
  /** Other requests that were made, in order, each with what came of it. */
  readonly requests: { readonly name: ClientEndpointName; readonly asked: Asked }[] = [];
  /** What the next of them are answered with instead; "lost": the server hears it, its answer is lost. */
  readonly replies: (Reply | "lost" | "held back")[] = [];
  /** Frames that were said, the greeting aside. */
  readonly frames: FrameUp[] = [];
  /** What the next bulks are answered with instead; "lost": the server hears it, its receipt is lost. */
  readonly answers: (Reply | "lost" | "held back")[] = [];
  /** Tokens that are refused, whatever is asked. */
  readonly badTokens = new Set<string>();
  /** Rooms and models that the server does not let it into. */
  readonly forbidden = new Set<string>();
  /** Records in a page of a snapshot. */
  snapshotPage = Number.POSITIVE_INFINITY;
  /** So many pages that go on from a cursor are refused. */
  cursorsRefused = 0;
  /** Who the server takes the token for. */
  actor = "";
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

export interface LabOptions
  extends Partial<
    Pick<ClientOptions<ModelSchema>, "paused" | "clientId" | "getToken" | "stream" | "upcast" | "follow">
  > {
  readonly actor?: string;
  readonly disk?: MemoryDisk;
  readonly platform?: Partial<Platform>;
}

export interface LabSignals {
  network(up: boolean): void;
  woke(): void;
  hidden(): void;
}

const SILENCE: Reply = { kind: "silence", timedOut: false, reason: "The line is down." };
const REFUSED: Reply = {
  kind: "answer",
  status: 401,
  body: { type: "authentication_error", code: "token_expired", message: "The token's time is over." },
};

const INVALID_CURSOR = { type: "validation_error", code: "invalid_cursor", message: "It is no cursor of this list." };

const DENIED = {
  type: "permission_error",
  code: "capability_scope_denied",
  message: "The token's scope does not cover this.",
  request_id: "req_lab",
  doc_url: "http://lab.test/docs/errors#capability_scope_denied",
} as const;

const needed = (model: string, syncGroup: string) => ({
  can: "read" as const,
  model,
  syncGroup,
  scope: `${model}.read`,
});

/** Counted over all laboratories of a test: a client that is reloaded into another must not repeat names. */
let namesMade = 0;

/** Clients against the model server, on lines that can be cut, with a clock that is moved by hand. */
export function lab<const S extends ModelSchema>(schema: S): Lab<S> {
  const clock = fakeClock();
  const server = new ModelServer(schema, () => clock.monotonic());

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
      line.actor = actor;
      const signals: LabSignals = { network: () => {}, woke: () => {}, hidden: () => {} };
      const client = createClientOn(
        {
          clock,
          dice: { roll: () => 0.5, id: () => `id-${++namesMade}` },
          storage: async () => memoryStorage(disk),
          tabs: alone,
          signals: () => ({ start: (listener) => void Object.assign(signals, listener), close: () => {} }),
          server: (token) => labServer(server, clock, line, () => token.current()),
          stream: () => labStream(server, line),
          ...platform,
        },
        { schema, url: "http://lab.test", getToken, ...options },
      );
      return { client, line, disk, signals };
    },
  };
}

function labServer(server: ModelServer, clock: FakeClock, line: Line, token: () => Promise<string>): Server {
  async function reach<T>(work: () => T | Reply): Promise<T | Reply> {
    let given: string;
    try {
      given = await token();
    } catch (error) {
      return withoutToken(error);
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
        const hear = (): Reply => ({ kind: "answer", status: 200, body: server.bulk(body, line.actor) });
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
    request: async (name, asked, signal) => {
      line.requests.push({ name, asked });
      const reached = await reach((): Reply => ({ kind: "answer", status: 200, body: undefined }));
      if (reached.kind !== "answer" || reached.status !== 200) return reached;
      const answer = line.replies.shift();
      if (answer !== undefined && answer !== "lost" && answer !== "held back") return answer;
      const hear = async (): Promise<Reply> =>
        name === "readCommit"
          ? receiptReply(server, line.actor, asked)
          : claimRequest(server, clock, line.actor, name, asked, signal);
      if (answer === "lost") {
        await hear();
        return { kind: "silence", timedOut: false, reason: "The answer was lost." };
      }
      if (answer === undefined) return hear();
      return new Promise((resolve) => {
        line.holdBack(() => resolve(hear()));
        signal.addEventListener("abort", () => resolve(SILENCE));
      });
    },
    readLog: (after, _, scope) =>
      reach((): LogPage => {
        line.asked.log += 1;
        const { entries, ...page } = server.readLog(after);
        return { kind: "log", ...page, entries: entries.filter(inScope(scope)) };
      }),
    readSnapshot: (cursor, _, scope) =>
      reach((): Snapshot | Reply => {
        line.asked.snapshot += 1;
        if (cursor !== null && line.cursorsRefused > 0) {
          line.cursorsRefused -= 1;
          return { kind: "answer", status: 400, body: INVALID_CURSOR };
        }
        const { lines, ...page } = server.snapshotPage(cursor, line.snapshotPage);
        return { kind: "snapshot", ...page, lines: lines.filter(inScope(scope)) };
      }),
  };
}

function receiptReply(server: ModelServer, actor: string, { params: { clientTxId = "" } = {} }: Asked): Reply {
  const receipt = server.receiptOf(actor, clientTxId);
  if (receipt) return { kind: "answer", status: 200, body: receipt };
  const { type, status } = errorCodes.commit_not_found;
  return { kind: "answer", status, body: { type, code: "commit_not_found", message: errorSentences.commit_not_found } };
}

async function claimRequest(
  { claims }: ModelServer,
  clock: FakeClock,
  actor: string,
  name: ClientEndpointName,
  { params: { model = "", id = "" } = {}, query, body }: Asked,
  signal: AbortSignal,
): Promise<Reply> {
  const answer = (): Answer | undefined => {
    if (name === "acquireClaim") return claims.acquire(actor, model, id, body as ClaimBody | undefined);
    if (name === "renewClaim") return claims.renew(actor, id);
    if (name === "readClaim") return claims.read(id);
    if (name === "releaseClaim") return claims.release(actor, id);
    if (name === "releaseRecord") return claims.releaseRecord(actor, model, id);
    return undefined;
  };
  const now = answer() ?? { status: 404, body: undefined };
  if (name !== "readClaim" || (now.body as Claim).status !== "queued") return { kind: "answer", ...now };
  return new Promise((resolve) => {
    const end = () => {
      off();
      late();
      signal.removeEventListener("abort", end);
      resolve(signal.aborted ? SILENCE : { kind: "answer", status: 200, body: claims.read(id).body });
    };
    const off = claims.onChange((claim) => claim.id === id && end());
    const late = clock.wait(Number(query?.wait ?? 0), end);
    signal.addEventListener("abort", end);
  });
}

/** The laboratory knows no groups: of a scope it looks at the models. */
const inScope =
  ({ models }: Scope = {}) =>
  ({ model }: { model: string }) =>
    !models || models.includes(model);

let sessionsMade = 0;

function labStream(server: ModelServer, line: Line): Stream {
  const watched = new Map<string, readonly string[]>();
  let hearing: { listener: StreamListener; off: () => void } | undefined;
  let session = "";
  const drop = () => {
    hearing?.off();
    watched.clear();
    server.rooms.gone(session);
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
    say(frame) {
      const own = hearing;
      if (!own) return;
      line.frames.push(frame);
      if (frame.frame === "watch" && line.forbidden.has(frame.model)) {
        own.listener.frame({ frame: "error", ...DENIED, requiredCapability: needed(frame.model, "org:lab") });
        return line.cut?.(4403);
      }
      if (frame.frame === "watch") {
        const before = watched.get(frame.model) ?? [];
        watched.set(frame.model, frame.ids);
        for (const id of frame.ids)
          if (!before.includes(id))
            own.listener.frame({ frame: "claims", model: frame.model, id, ...server.claims.of(frame.model, id) });
      }
      if (frame.frame !== "presence") return;
      if (line.forbidden.has(frame.room)) {
        own.listener.frame({ frame: "error", ...DENIED, param: "room", requiredCapability: needed("*", frame.room) });
        return line.cut?.(4403);
      }
      server.rooms.say(frame.room, session, line.actor, frame.state as JsonObject | null, (told) => {
        if (hearing === own) own.listener.frame(told);
      });
    },
    hello({ token, logId, since, scope }) {
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
        own.listener.frame({ frame: "entries", from, to, entries: entries.filter(inScope(scope)) });
      };
      session = `ses_${++sessionsMade}`;
      const offCommit = server.onCommit(() => void (line.quiet || flush()));
      const offClaims = server.claims.onChange((claim, { model, id }) => {
        if (hearing !== own) return;
        if (claim.actor === line.actor) own.listener.frame({ frame: "claim", claim });
        if (watched.get(model)?.includes(id))
          own.listener.frame({ frame: "claims", model, id, ...server.claims.of(model, id) });
      });
      own.off = () => {
        offCommit();
        offClaims();
      };
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
        session,
        participant: `user:${line.actor}`,
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
