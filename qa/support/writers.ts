import { Agent } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { CommitReceipt } from "@holdfast/sdk/protocol";
import type { WriteCall } from "./audit.ts";
import type { KillableServer } from "./killable-server.ts";
import { type Answer, sendJson } from "./send-json.ts";

export interface WriterPlan {
  /** A writer sends each request to the next one. */
  readonly servers: readonly KillableServer[];
  /** A secret key for each writer. */
  readonly keys: readonly string[];
  /** The operations of a writer's nth write; its name is the value to write. */
  operationsOf(write: { readonly writer: number; readonly n: number; readonly name: string }): readonly Operation[];
  /** Whether a write may end with this error code. */
  mayBeRefused?(code: string, operations: readonly Operation[]): boolean;
  /** Triggers may change other records in the same commit. */
  readonly changesMore?: true;
  /** How long a writer waits between two writes, at most. */
  readonly restMs?: number;
}

export interface Operation {
  readonly action: "create" | "update" | "delete";
  readonly model: string;
  readonly id: string;
  readonly data?: object;
}

export interface Totals {
  readonly acknowledged: number;
  /** Calls that ended without an answer. */
  readonly unknown: number;
  readonly abandoned: number;
}

export interface Writers {
  calls(): readonly WriteCall[];
  totals(): Totals;
  /** Waits until that many more writes are acknowledged. */
  progress(count: number): Promise<void>;
  /** Starts no more writes, and waits until each has its answer. */
  finish(): Promise<void>;
}

/** Writes with an unknown outcome that are never retried. */
const GIVEN_UP = 0.1;
const PATIENCE_MS = 20_000;

/** Writers that retry each write under the same idempotency key until it is answered. */
export function startWriters(plan: WriterPlan): Writers {
  const { servers, keys, operationsOf, mayBeRefused, changesMore, restMs = 0 } = plan;
  const agent = new Agent({ keepAlive: true, maxSockets: keys.length * 2 });
  const calls: WriteCall[] = [];
  const waiting = new Set<() => void>();
  let acknowledged = 0;
  let unknown = 0;
  let sent = 0;
  let stopping = false;

  async function post(token: string, body: object): Promise<Answer | undefined> {
    const server = servers[sent++ % servers.length] as KillableServer;
    const url = `${server.url}/v1/commits`;
    const answer = await sendJson({ agent, method: "POST", url, token, body }).catch(() => undefined);
    if (answer) server.answered();
    return answer;
  }

  async function write(
    key: string,
    call: WriteCall,
    body: { readonly operations: readonly Operation[] },
  ): Promise<void> {
    for (;;) {
      const answer = await post(key, body);
      if (answer?.status === 200) {
        call.receipt = answer.body as unknown as CommitReceipt;
        call.answered = performance.now();
        acknowledged += 1;
        for (const wake of waiting) wake();
        return;
      }
      if (answer && answer.status !== 503) {
        const code = String(answer.body.code);
        if (mayBeRefused?.(code, body.operations)) call.declined = code;
        else call.refused = `${answer.status} ${code}`;
        return;
      }
      unknown += 1;
      if (!stopping && Math.random() < GIVEN_UP) {
        call.abandoned = true;
        return;
      }
      await pause(20 + Math.random() * 80);
    }
  }

  const loops = keys.map(async (key, writer) => {
    for (let n = 0; !stopping; n++) {
      const name = `w${writer}-${n}`;
      const operations = operationsOf({ writer, n, name });
      // Without the values, which may be large.
      const named = operations.map(({ model, id }) => ({ model, id }));
      const call: WriteCall = {
        name,
        operations: named,
        asked: performance.now(),
        ...(changesMore && { changesMore }),
      };
      calls.push(call);
      const body = { clientTxId: name, operations };
      await write(key, call, body);
      if (restMs > 0) await pause(Math.random() * restMs);
    }
  });

  return {
    calls: () => calls,
    totals: () => ({ acknowledged, unknown, abandoned: calls.filter(({ abandoned }) => abandoned).length }),
    progress: (more) => {
      const wanted = acknowledged + more;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`No ${more} writes within ${PATIENCE_MS} ms.`)), PATIENCE_MS);
        const check = () => {
          if (acknowledged < wanted) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
      });
    },
    finish: async () => {
      stopping = true;
      await Promise.all(loops);
      agent.destroy();
    },
  };
}
