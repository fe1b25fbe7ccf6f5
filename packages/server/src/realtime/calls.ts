import { type Call, limits } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../rules/refusal.ts";

/** A request on a stream. */
export interface StreamRequest extends Pick<Call, "name" | "params" | "query" | "body"> {
  readonly token: string;
  /** Bytes of the whole frame. */
  readonly bytes: number;
  /** What the client has said of its schema. */
  readonly schema: string | undefined;
  /** Fires when the socket closes. */
  readonly signal: AbortSignal;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** JSON. */
  readonly body: string;
  /** The answer has left the process. */
  sent(): void;
}

/** What is said to calls. */
export interface StreamAnswers {
  answer(request: StreamRequest): Promise<CallAnswer>;
  /** A call that is refused before it is one. */
  refuse(refusal: Refusal): Omit<CallAnswer, "sent">;
}

/** The calls of one socket that are not answered yet. */
export interface Calls {
  /** Whether one with this number may begin. */
  check(n: number): Refusal | undefined;
  begin(n: number): void;
  end(n: number): void;
  /** Resolves when all are answered. */
  idle(): Promise<void>;
}

export function createCalls(): Calls {
  const open = new Set<number>();
  const waiting = new Set<() => void>();
  return {
    check(n) {
      if (open.has(n)) return refuse("invalid_value", { param: "n", message: `Call ${n} is not answered yet.` });
      if (open.size < limits.callsInFlight) return undefined;
      return refuse("rate_limited", {
        message: `A stream can have up to ${limits.callsInFlight} calls that are not answered yet.`,
      });
    },
    begin: (n) => void open.add(n),
    end(n) {
      open.delete(n);
      if (open.size > 0) return;
      for (const wake of waiting) wake();
      waiting.clear();
    },
    idle: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
  };
}

/** The frame of an answer. The body is JSON already. */
export const answerFrame = (n: number, { status, headers, body }: Omit<CallAnswer, "sent">): string =>
  `{"frame":"answer","n":${n},"status":${status}${headers && Object.keys(headers).length > 0 ? `,"headers":${JSON.stringify(headers)}` : ""},"body":${body}}`;
