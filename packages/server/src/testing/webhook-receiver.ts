import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookEvent } from "@holdfast/sdk/protocol";
import { Webhook } from "standardwebhooks";
import { afterAll } from "vitest";

export interface Received {
  readonly id: string;
  readonly timestamp: number;
  /** The bytes as they came, as text. */
  readonly body: string;
  readonly events: readonly WebhookEvent[];
  readonly path: string;
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  /** Every request, in the order in which they came. */
  readonly received: Received[];
  /** Requests that were answered with a 2xx: their events. */
  taken(): WebhookEvent[];
  /** Most requests that were there at one time. */
  most(): number;
  /** How requests are answered from now on; 200 to begin with. */
  answer(how: (response: ServerResponse, received: Received) => void): void;
  close(): Promise<void>;
}

/**
 * A customer's handler: checks each request with the verifier that the scheme's own people publish, against the secret
 * that it is given, and answers 400 to what does not verify.
 */
export async function startReceiver(secret: () => string, port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const taken: WebhookEvent[] = [];
  let [under, most] = [0, 0];
  let answer = (response: ServerResponse, _: Received): void => void response.writeHead(200).end();
  const server = createServer(async (request, response) => {
    most = Math.max(most, ++under);
    response.on("close", () => {
      under -= 1;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    try {
      const verified = new Webhook(secret()).verify(body, request.headers as Record<string, string>);
      const { data: events } = verified as { data: WebhookEvent[] };
      const one: Received = {
        id: String(request.headers["webhook-id"]),
        timestamp: Number(request.headers["webhook-timestamp"]),
        body,
        events,
        path: request.url ?? "",
        at: Date.now(),
      };
      received.push(one);
      response.on("finish", () => {
        if (response.statusCode >= 200 && response.statusCode < 300) taken.push(...events);
      });
      answer(response, one);
    } catch (error) {
      response.writeHead(400).end((error as Error).message);
    }
  }).listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  afterAll(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    taken: () => [...taken],
    most: () => most,
    answer: (how) => {
      answer = how;
    },
    close,
  };
}
