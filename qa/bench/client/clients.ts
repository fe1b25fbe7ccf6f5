import { Agent, request } from "node:http";
import { createClient } from "@holdfast/sdk/node";
import { WebSocket } from "ws";
import { askJson } from "../../../scripts/testing/ask-json.ts";
import { slideSchema as schema } from "./slide-schema.ts";

export interface Place {
  readonly url: string;
  readonly token: string;
}

/** A client's work, done by the SDK or by bare requests and sockets. */
export interface BenchClient {
  /** Resolves with the server's receipt. */
  write(id: string, data: Slide): Promise<unknown>;
  /** Calls back with each slide that arrives, once. */
  hear(listener: (id: string) => void): void;
  close(): Promise<void>;
}

/** A client that also has a queue and rows of its own. */
export interface QueueingClient extends BenchClient {
  /** Goes offline. */
  pause(): void | Promise<void>;
  /** Resolves once the write is in the client's own store. */
  queue(id: string, data: Slide): Promise<unknown>;
  resume(): void;
  /** The client has that slide. */
  has(id: string): boolean;
  /** How many slides it has. */
  count(): number | Promise<number>;
}

export interface Slide {
  readonly deckId: string;
  readonly title: string;
  readonly notes: string;
}

/** Follows one deck, or everything. Returned when it has the first rows, or all of them. */
export async function sdkClient({ url, token }: Place, deckId?: string, rows?: "complete"): Promise<QueueingClient> {
  const follow = deckId === undefined ? undefined : { groups: [`deck:${deckId}`] };
  const client = createClient({ schema, url, getToken: () => token, ...(follow && { follow }) });
  await client.ready(rows && { rows });
  const { slide } = client.models;
  return {
    write: (id, data) => slide.create(data, { id }).receipt,
    hear(listener) {
      let next = 0;
      client.subscribe(() => {
        while (slide.get(`h${next}`)) listener(`h${next++}`);
      });
    },
    pause: () => client.pause(),
    queue: (id, data) => slide.create(data, { id }).queued,
    resume: () => client.resume(),
    has: (id) => slide.get(id) !== undefined,
    count: () => slide.list().length,
    async close() {
      await client.drain({ timeoutMs: 60_000 });
      await client.close();
    },
  };
}

/** What the server's receipts and frames cost without a client: JSON out, JSON in. By `node:http`, or by `fetch`. */
export async function bareClient(
  { url, token }: Place,
  deckId?: string,
  by: "http" | "fetch" = "http",
): Promise<BenchClient> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (commits: readonly object[]) =>
    by === "http"
      ? post(agent, { url, token }, commits)
      : askJson(`${url}/v1/commits/bulk`, token, "POST", { commits });
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/stream`, ["holdfast.v1"]);
  let listener: ((id: string) => void) | undefined;
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("open", () => {
      socket.send(
        JSON.stringify({
          frame: "hello",
          token,
          since: 0,
          ...(deckId !== undefined && { groups: [`deck:${deckId}`] }),
        }),
      );
    });
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString());
      if (frame.frame === "welcome") resolve();
      else if (frame.frame === "entries") for (const { id } of frame.entries) listener?.(id);
    });
  });
  return {
    write: (id, data) => send([creating(id, data)]),
    hear(next) {
      listener = next;
    },
    async close() {
      socket.terminate();
      agent.destroy();
    },
  };
}

/** A commit that creates a slide, as the SDK names it. */
export const creating = (id: string, data: Slide) => ({
  clientTxId: `tx-${id}`,
  operations: [{ action: "create", model: "slide", id, data }],
});

/** A bulk of commits, as a program without a client sends it. */
export function post(agent: Agent, { url, token }: Place, commits: readonly object[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify({ commits });
    const headers = {
      ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
      "content-length": Buffer.byteLength(text),
    };
    const sent = request(`${url}/v1/commits/bulk`, { agent, method: "POST", headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const answer = Buffer.concat(chunks).toString();
        const isDone = response.statusCode === 200 && !answer.includes('"error"');
        if (isDone) resolve(JSON.parse(answer));
        else reject(new Error(`${response.statusCode}: ${answer}`));
      });
    });
    sent.on("error", reject);
    sent.end(text);
  });
}
