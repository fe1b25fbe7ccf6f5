import type { Scope } from "../../core/log/rows.ts";
import type { Reply } from "../../core/queue/outcome.ts";
import type { Asked } from "../../engine/ports.ts";
import type { ClientEndpointName } from "../../protocol/client-paths.ts";
import type { FrameDown } from "../../protocol/stream/frames-down.ts";
import type { FrameUp } from "../../protocol/stream/frames-up.ts";

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
  /** An `auth` frame gets no answer. */
  deafToTokens = false;
  /** Rooms and models that the server does not let it into. */
  readonly forbidden = new Set<string>();
  /** Records in a page of a snapshot. */
  snapshotPage = Number.POSITIVE_INFINITY;
  /** How large the pages were that were asked for, of snapshots and of the log. */
  readonly limits: number[] = [];
  /** A page for which more is asked does not come in its time. */
  largestPage = Number.POSITIVE_INFINITY;
  /** What snapshots are answered with instead. */
  refused: Reply | undefined;
  /** So many pages that go on from a cursor are refused. */
  cursorsRefused = 0;
  /** Who the server takes the token for. */
  actor = "";
  /** In which organization and environment. Undefined: the server is an older one, which does not say. */
  tenant: string | undefined = "org_lab/test";
  viewHash: string | undefined = "view";
  /** Models that the token covers; undefined: all. */
  covered: readonly string[] | undefined;
  /** How long tokens live; null: for ever. */
  expiresInMs: number | null = null;

  /** What the server says of the token. */
  introduction(): { owner?: string; viewHash?: string; models?: string[] } {
    return {
      ...(this.tenant !== undefined && { owner: `${this.tenant}/user/${this.actor}` }),
      ...(this.viewHash !== undefined && { viewHash: this.viewHash }),
      ...(this.covered && { models: [...this.covered] }),
    };
  }
  /** Records that the token's groups hide. */
  readonly hidden = new Set<string>();

  /** What this token is shown of what is asked for. The laboratory knows no groups: of a scope it looks at the models. */
  shows({ models }: Scope = {}): (record: { readonly model: string; readonly id: string }) => boolean {
    return ({ model, id }) =>
      (!models || models.includes(model)) && (!this.covered || this.covered.includes(model)) && !this.hidden.has(id);
  }

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
