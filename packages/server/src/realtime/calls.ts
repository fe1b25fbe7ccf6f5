import { limits } from "@holdfast/sdk/protocol";
import type { CallAnswer } from "../flows/stream-answers.ts";
import { type Refusal, refuse } from "../rules/refusal.ts";

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
