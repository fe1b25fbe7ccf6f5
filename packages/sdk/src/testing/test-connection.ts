import type { Scope } from "../core/log/rows.ts";
import type { Reply } from "../core/queue/outcome.ts";
import type { Asked } from "../engine/ports.ts";
import type { ClientEndpointName } from "../protocol/client-paths.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { FrameDown, Welcome } from "../protocol/stream/frames-down.ts";
import type { FrameUp } from "../protocol/stream/frames-up.ts";
import { type Followable, followedPart } from "./followed-part.ts";

/**
 * The connection between one client and the test server. It records what the client sends, and a test can cut it, delay
 * or replace responses, and limit what the token may see.
 */
export class TestConnection {
  /** Bodies of the bulk requests so far, in order. */
  readonly sent: string[] = [];
  /** How many snapshot pages, log pages and sockets were requested. */
  readonly asked = { snapshot: 0, log: 0, socket: 0 };
  /** Ids of the records that snapshots contained, in order. */
  readonly rowsRead: string[] = [];
  /** How often the client asked whose token it has. */
  identities = 0;
  /** All other requests, in order. */
  readonly requests: { readonly name: ClientEndpointName; readonly asked: Asked }[] = [];
  /** Responses for the next of those requests. "lost": the server handles the request, but its response is lost. */
  readonly replies: PlannedReply[] = [];
  /** Frames that the client sent, without `hello`. */
  readonly frames: FrameUp[] = [];
  /** Responses for the next bulk requests. "lost": the server commits, but its response is lost. */
  readonly answers: PlannedReply[] = [];
  /** Tokens that the server refuses. */
  readonly badTokens = new Set<string>();
  /** The server does not respond to `auth` frames. */
  deafToTokens = false;
  /** Rooms and models that the token does not cover. */
  readonly forbidden = new Set<string>();
  /** Records per snapshot page. */
  snapshotPage = Number.POSITIVE_INFINITY;
  /** The page sizes that the client requested, of snapshots and of the log. */
  readonly limits: number[] = [];
  /** Larger pages time out. */
  largestPage = Number.POSITIVE_INFINITY;
  /** The response to every snapshot request, if set. */
  refused: Reply | undefined;
  /** How many of the next snapshot requests with a cursor are refused. */
  cursorsRefused = 0;
  /** The participant that the token belongs to. */
  actor = "";
  /** Its organization and environment. */
  tenant = "org_test/test";
  viewHash = "view";
  /** How large the server lets records be. Undefined: it does not say it. */
  recordBytes: number | undefined;
  /** What the server says of its time. Undefined: nothing, as a server of before. */
  serverTime: (() => number) | undefined;
  /** Models that the token covers. Undefined: all. */
  covered: readonly string[] | undefined;
  /** How long a token is valid, in ms. null: for ever. */
  expiresInMs: number | null = null;
  /** Ids of records that the token's groups hide. */
  readonly hidden = new Set<string>();
  /** Whether requests and sockets reach the server. */
  up = true;
  /** Whether sockets can be opened. */
  socketUp = true;
  /** The stream does not deliver commits. */
  quiet = false;
  readonly #heldBack: (() => void)[] = [];
  readonly #models: ModelSchema["models"];

  constructor(models: ModelSchema["models"] = {}) {
    this.#models = models;
  }

  /** What the server reports about the token. */
  introduction(): Pick<Welcome, "owner" | "viewHash" | "models" | "recordBytes" | "serverTime"> {
    const models = this.covered ?? Object.keys(this.#models);
    return {
      ...{ owner: `${this.tenant}/user/${this.actor}`, viewHash: this.viewHash, models: [...models] },
      ...(this.recordBytes !== undefined && { recordBytes: this.recordBytes }),
      ...(this.serverTime && { serverTime: new Date(this.serverTime()).toISOString() }),
    };
  }

  /** What the token may read of these. The test server has no groups, so a scope filters by model and conditions only. */
  shown<T extends Followable>(all: readonly T[], { models, where }: Scope = {}): T[] {
    const isSeen = ({ model, id }: Followable) =>
      (!models || models.includes(model)) && (!this.covered || this.covered.includes(model)) && !this.hidden.has(id);
    const seen = all.filter(isSeen);
    // Who is told of everything has seen each record.
    return where ? followedPart(seen, where, this.#models) : seen.map((one) => ({ ...one, record: undefined }));
  }

  holdBack(then: () => void): void {
    this.#heldBack.push(then);
  }

  /** Delivers the responses that were held back. */
  release(): void {
    for (const then of this.#heldBack.splice(0)) then();
  }

  /** Closes the socket, with this close code. Set while a socket is open. */
  cut: ((code?: number) => void) | undefined;
  /** Delivers all log entries up to the head. */
  flush: () => void = () => {};
  /** Delivers the log entries after this position, and skips those before it. */
  skip: (to: number) => void = () => {};
  /** Sends a frame to the client. */
  say: (frame: FrameDown) => void = () => {};
}

/** A response instead of the server's own. "held back": it is delivered on `release()`. */
type PlannedReply = Reply | "lost" | "held back";
