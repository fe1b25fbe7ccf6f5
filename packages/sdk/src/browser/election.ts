import type { Clock } from "../engine/ports.ts";

/** `call`: is there a leader? `here`: I lead. `gone`: I have stopped leading. */
export type Call = { readonly type: "call" } | { readonly type: "here" } | { readonly type: "gone" };

/** What an election gets from its tab. */
export interface ElectionContext {
  readonly name: string;
  readonly clock: Clock;
  /** Sends the call to the other tabs. */
  post(call: Call): void;
  elected(): void;
  /** Another tab took over the lead. */
  replaced(): void;
}

/** Decides which tab of a browser profile leads. */
export interface Election {
  /** With `true`, joins the election behind the other candidates. With `false`, leaves it. */
  campaign(wanted: boolean): void;
  /** Another tab sent this call. */
  received(call: Call): void;
  close(): void;
}

/** How long a candidate rests between two checks of whether the leader is alive, and how long it waits for the reply. */
export const CALL_MS = 3_000;
export const ANSWER_MS = 3_000;
