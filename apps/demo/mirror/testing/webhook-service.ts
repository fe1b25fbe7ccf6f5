import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { WebhookEvent } from "@holdfast/sdk/protocol";
import { signWebhook } from "@holdfast/sdk/webhooks";

export interface Endpoint {
  id: string;
  url: string;
  secret: string;
  status: "enabled" | "disabled";
  description: string;
  cursor: number;
  attempt: number;
}

/** The routes that a receiver needs, and a sender that the test triggers. */
export async function webhookService() {
  const endpoints = new Map<string, Endpoint>();
  const asked: string[] = [];
  const log = { id: "log_1" };
  let made = 0;
  const newSecret = () => `whsec_${btoa(`secret number ${++made} of this service`)}`;

  async function answer(request: IncomingMessage): Promise<object> {
    const path = new URL(request.url ?? "", "http://service").pathname;
    const body = request.method === "GET" ? {} : ((await json(request).catch(() => ({}))) as Partial<Endpoint>);
    if (path === "/v1/identity") return { logId: log.id };
    if (request.method !== "GET") asked.push(`${request.method} ${path}`);
    const [, , , id, act] = path.split("/");
    if (id === undefined) {
      if (request.method === "GET") return { data: [...endpoints.values()].map(({ secret: _, ...shown }) => shown) };
      const { url = "", description = "", from = 0 } = body as Partial<Endpoint> & { from?: number };
      const endpoint: Endpoint = {
        ...{ id: `we_${++made}`, url, description, cursor: from },
        ...{ status: "enabled", secret: newSecret(), attempt: 0 },
      };
      endpoints.set(endpoint.id, endpoint);
      return endpoint;
    }
    const endpoint = endpoints.get(id);
    if (!endpoint) throw new Error(`no endpoint ${id}`);
    if (request.method === "DELETE") endpoints.delete(id);
    if (request.method === "PATCH") Object.assign(endpoint, body);
    if (act === "roll_secret") return Object.assign(endpoint, { secret: newSecret() });
    if (act === "enable") endpoint.status = "enabled";
    const { secret: _, ...shown } = endpoint;
    return shown;
  }

  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(404).end(JSON.stringify({ message: String(error) })),
    );
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    asked,
    endpoints: () => [...endpoints.values()],
    /** One attempt; the cursor moves after a 2xx. */
    async deliver(events: readonly WebhookEvent[]): Promise<number | "no answer"> {
      const [endpoint] = endpoints.values();
      if (!endpoint) return "no answer";
      const body = JSON.stringify({ data: events, logId: log.id });
      const headers = await signWebhook({ secret: endpoint.secret, id: `msg_${events[0]?.syncId}`, body });
      try {
        const { ok, status } = await fetch(endpoint.url, { method: "POST", headers, body });
        if (ok) endpoint.cursor = events.at(-1)?.syncId ?? endpoint.cursor;
        return status;
      } catch {
        return "no answer";
      }
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
