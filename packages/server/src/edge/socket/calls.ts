import { limits } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../kernel/refusal.ts";
import type { CallAnswer, StreamAnswers } from "../../kernel/stream-answers.ts";
import { type ReadCall, readCall } from "./read-call.ts";

/** The client of a welcomed socket. */
export interface Caller {
  readonly token: string;
  /** What it has said of its schema. */
  readonly schema: string | undefined;
}

export interface CallsDeps {
  readonly streamAnswers: StreamAnswers;
  /** Takes one frame from the socket's budget. */
  takeFrame(): boolean;
  /** Sends a frame; `sent` is called when it has left, or when the socket is closed. */
  send(frame: string, sent: () => void): void;
}

/** The calls of one socket. Each has the limits of a request; those that are refused at once count as frames. */
export interface Calls {
  /** Answers a frame if it is a call, and refuses it without a caller. Returns whether it is one. */
  receive(data: Buffer, caller: Caller | undefined): boolean;
  /** Resolves when all are answered. */
  idle(): Promise<void>;
  /** The socket is closed. */
  end(): void;
}

export function createCalls({ streamAnswers, takeFrame, send }: CallsDeps): Calls {
  const open = new Set<number>();
  const waiting = new Set<() => void>();
  const closed = new AbortController();

  function checkNumber(n: number): Refusal | undefined {
    if (open.has(n))
      return refuse("invalid_value", { param: "n", message: `Call ${n} has no answer yet. Give each call a new n.` });
    if (open.size < limits.callsInFlight) return undefined;
    return refuse("rate_limited", {
      message: `A stream can have up to ${limits.callsInFlight} calls that are not answered yet.`,
    });
  }

  function refuseCall(n: number, refusal: Refusal): void {
    if (takeFrame()) send(answerFrame(n, streamAnswers.refuse(refusal)), () => {});
  }

  async function answer({ n, ...asked }: ReadCall, bytes: number, caller: Caller | undefined): Promise<void> {
    if ("refusal" in asked) return refuseCall(n, asked.refusal);
    if (!caller) return refuseCall(n, NOT_WELCOMED);
    const no = checkNumber(n);
    if (no) return refuseCall(n, no);
    open.add(n);
    const { sent, ...answered } = await streamAnswers.answer({
      ...asked.call,
      ...caller,
      bytes,
      signal: closed.signal,
    });
    open.delete(n);
    if (open.size === 0) {
      for (const wake of waiting) wake();
      waiting.clear();
    }
    send(answerFrame(n, answered), sent);
  }

  return {
    receive(data, caller) {
      const call = readCall(data);
      if (call) void answer(call, data.length, caller);
      return call !== undefined;
    },
    idle: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
    end: () => closed.abort(),
  };
}

const NOT_WELCOMED = refuse("invalid_frame", {
  message: "Send calls only after the server has sent the frame `welcome`.",
});

/** The frame of an answer. The body is JSON already. */
const answerFrame = (n: number, { status, headers, body }: Omit<CallAnswer, "sent">): string =>
  `{"frame":"answer","n":${n},"status":${status}${headers && Object.keys(headers).length > 0 ? `,"headers":${JSON.stringify(headers)}` : ""},"body":${body}}`;
