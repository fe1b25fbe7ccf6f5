import { Agent, request } from "node:http";
import type { CommitReceipt } from "@holdfast/sdk/protocol";
import type { WriteCall } from "../support/audit.ts";
import type { KillableServer } from "../support/killable-server.ts";

export interface Totals {
  readonly acknowledged: number;
  /** Calls that ended without an answer. */
  readonly unknown: number;
  readonly abandoned: number;
}

export interface Writers {
  readonly keys: readonly string[];
  calls(): readonly WriteCall[];
  totals(): Totals;
  /** Waits until that many more writes are acknowledged. */
  progress(count: number): Promise<void>;
  /** Starts no more writes, and waits until each has its answer. */
  finish(): Promise<void>;
}

/** Writes with an unknown outcome that are never retried. */
const GIVEN_UP = 0.1;
const RECORDS_SHARED = 5;
const PATIENCE_MS = 20_000;

/** Writers that retry each write under the same idempotency key until it is answered. */
export async function startWriters(server: KillableServer, count: number): Promise<Writers> {
  const agent = new Agent({ keepAlive: true, maxSockets: count * 2 });
  const operator = (path: string, body: object) => post(server, agent, path, server.adminToken, body);
  const list = await send(server, agent, "GET", "/v1/organizations", server.adminToken);
  const organization = (list.body.data as { id: string }[])[0]?.id;
  const keys: string[] = [];
  for (let n = 0; n < count; n++)
    keys.push(String((await operator("/v1/secret_keys", { organization, livemode: true })).body.token));
  for (let n = 0; n < RECORDS_SHARED; n++)
    await post(server, agent, "/v1/models/document", keys[0] as string, { id: `shared${n}`, data: { title: "" } });

  const calls: WriteCall[] = [];
  const waiting = new Set<() => void>();
  let acknowledged = 0;
  let unknown = 0;
  let stopping = false;

  async function write(key: string, call: WriteCall, body: object): Promise<void> {
    for (;;) {
      const answer = await post(server, agent, "/v1/commits", key, body, call.name).catch(() => undefined);
      if (answer) server.answered();
      if (answer?.status === 200) {
        call.receipt = answer.body as unknown as CommitReceipt;
        call.answered = performance.now();
        acknowledged += 1;
        for (const wake of waiting) wake();
        return;
      }
      if (answer && answer.status !== 503) {
        call.refused = `${answer.status} ${String(answer.body.code)}`;
        return;
      }
      unknown += 1;
      if (!stopping && Math.random() < GIVEN_UP) {
        call.abandoned = true;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
    }
  }

  const loops = keys.map(async (key, writer) => {
    for (let n = 0; !stopping; n++) {
      const name = `w${writer}-${n}`;
      const own = { action: "create", model: "slide", id: name, data: { deckId: `d${n % 4}`, title: name } };
      const shared = {
        action: "update",
        model: "document",
        id: `shared${(writer + n) % RECORDS_SHARED}`,
        data: { title: name },
      };
      const before = `w${writer}-${n - 4}`;
      const operations = [
        [own],
        [own, shared],
        [shared],
        n < 4 ? [own] : [own, { action: "delete", model: "slide", id: before }],
      ][n % 4] as readonly { model: string; id: string }[];
      const call: WriteCall = { name, operations, asked: performance.now() };
      calls.push(call);
      await write(key, call, { clientTxId: name, operations });
    }
  });

  return {
    keys,
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

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const post = (server: KillableServer, agent: Agent, path: string, token: string, body: object, key?: string) =>
  send(server, agent, "POST", path, token, JSON.stringify(body), key);

function send(
  server: KillableServer,
  agent: Agent,
  method: string,
  path: string,
  token: string,
  body?: string,
  key?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, {
      agent,
      method,
      timeout: PATIENCE_MS,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
        ...(key !== undefined && { "idempotency-key": key }),
      },
    });
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error("No answer in time.")));
    sent.on("response", (response) => {
      let text = "";
      response.on("error", reject);
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on("end", () => {
        try {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Record<string, unknown> });
        } catch (error) {
          // Cut off in the middle of the answer: as good as none.
          reject(error as Error);
        }
      });
    });
    sent.end(body);
  });
}
