import type { Clock } from "../engine/ports.ts";

/** `call`: does a tab lead? `here`: I do. `gone`: I did. */
export type Call = { readonly type: "call" } | { readonly type: "here" } | { readonly type: "gone" };

/** What an election is given of the tab that takes part in it. */
export interface ElectionContext {
  readonly name: string;
  readonly clock: Clock;
  /** Says it to the other tabs. */
  say(call: Call): void;
  elected(): void;
  /** Another tab took the lead away. */
  replaced(): void;
}

/** Which tab of a browser profile leads. */
export interface Election {
  /** Takes part from now on, from the end of the queue of candidates; or does not. */
  campaign(wanted: boolean): void;
  /** Another tab said it. */
  heard(call: Call): void;
  close(): void;
}

/** A candidate asks so often whether the leader is there, and waits so long for its answer. */
export const ASK_MS = 3_000;
export const ANSWER_MS = 3_000;
