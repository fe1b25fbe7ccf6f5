import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookEvent } from "@holdfast/sdk/protocol";
import { Webhook } from "standardwebhooks";
import { afterAll } from "vitest";

export interface Received {
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
  readonly events: readonly WebhookEvent[];
  readonly headers: IncomingMessage["headers"];
  /** Milliseconds, monotonic. */
  readonly at: number;
  endedAt: number | undefined;
}

export type Reply = number | ((request: IncomingMessage, response: ServerResponse, received: Received) => void);

/** A webhook receiver with scripted responses. It verifies each signature with an independent library. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Requests that could not be verified, with the reason. */
  readonly refused: readonly string[];
  /** The secrets to verify with from now on. If there are several, all of them have to match. */
  secrets: readonly string[];
  /** The responses to the next requests. Later ones get 204 again. */
  answer(...replies: Reply[]): void;
  /** The response to every request from now on. */
  always(reply: Reply): void;
  /** The most requests that were open at once. */
  readonly mostAtOnce: number;
  /** Stops listening. */
  close(): Promise<void>;
}

export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const refused: string[] = [];
  const replies: Reply[] = [];
  let usual: Reply = 204;
  let [open, most] = [0, 0];

  const server = createServer((request, response) => {
    const at = performance.now();
    most = Math.max(most, ++open);
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const { data } = JSON.parse(body) as { data: WebhookEvent[] };
      const one: Received = {
        id: String(request.headers["webhook-id"]),
        timestamp: Number(request.headers["webhook-timestamp"]),
        body,
        events: data,
        headers: request.headers,
        at,
        endedAt: undefined,
      };
      for (const secret of receiver.secrets)
        try {
          new Webhook(secret).verify(body, request.headers as Record<string, string>);
        } catch (error) {
          refused.push(`${one.id}: ${String(error)}`);
        }
      received.push(one);
      response.on("close", () => {
        open--;
        one.endedAt = performance.now();
      });
      const reply = replies.shift() ?? usual;
      if (typeof reply === "number") response.writeHead(reply).end();
      else reply(request, response, one);
    });
  });
  server.listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  afterAll(close);
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    refused,
    secrets: [],
    answer: (...next) => void replies.push(...next),
    always: (reply) => {
      usual = reply;
    },
    get mostAtOnce() {
      return most;
    },
    close,
  };
  return receiver;
}
