import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { isObject } from "../assertions/pattern.ts";
import { shown, Unmet } from "../assertions/unmet.ts";

/** A request to a receiver. */
export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes of its body. */
  readonly raw: Buffer;
  /** The `data` of the body; empty if the body has no such list. */
  readonly events: readonly HookEvent[];
  /** When the request arrived and when it was answered, in milliseconds of this machine's monotonic clock. */
  readonly beganAt: number;
  answeredAt?: number;
}

export interface HookEvent {
  readonly type: string;
  readonly model: string;
  readonly objectId: string;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly syncId: number;
  readonly id: string;
  readonly createdAt: string;
}

export type Responder = (response: ServerResponse, delivery: Delivery) => void;

export interface Receiver {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** The largest number of requests at one time. */
  readonly most: number;
  /** Sets how to answer from now on. The default is 200. */
  answer(how: Responder): void;
  /** Waits until `found` finds something in the deliveries. */
  until<T>(expected: string, found: (deliveries: readonly Delivery[]) => T | undefined, withinMs?: number): Promise<T>;
  /** Accepts no more connections, and breaks the open ones. */
  end(): void;
}

/** Longer than a retry takes. */
const PATIENCE_MS = 30_000;

/** A receiver on this machine: keeps each delivery, and answers as `answer` has set. */
export async function openReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const waiting = new Set<() => void>();
  let answer: Responder = (response) => void response.writeHead(200).end();
  let [under, most] = [0, 0];

  const server = createServer((request, response) => {
    most = Math.max(most, ++under);
    const beganAt = performance.now();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    response.on("error", () => {});
    response.on("close", () => {
      under -= 1;
    });
    request.on("end", () => {
      const raw = Buffer.concat(chunks);
      const { method = "", url: path = "", headers } = request;
      const delivery: Delivery = { method, path, headers, raw, events: eventsOf(raw), beganAt };
      response.on("close", () => {
        delivery.answeredAt = performance.now();
      });
      deliveries.push(delivery);
      answer(response, delivery);
      for (const look of [...waiting]) look();
    });
  }).listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  const address = server.address();
  const port = isObject(address) ? address.port : 0;

  return {
    url: `http://127.0.0.1:${port}/hooks`,
    deliveries,
    get most() {
      return most;
    },
    answer: (how) => {
      answer = how;
    },
    until(expected, found, withinMs = PATIENCE_MS) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const result = found(deliveries);
          if (result === undefined) return;
          finish();
          resolve(result);
        };
        const timer = setTimeout(() => {
          finish();
          const last = deliveries
            .slice(-5)
            .map(({ headers, raw }) => [headers["webhook-id"], String(raw).slice(0, 200)]);
          const came = `${deliveries.length} requests arrived, the last ${shown(last, 1_500)}`;
          reject(new Unmet(`${expected} at the receiver`, `none within ${withinMs} ms; ${came}`));
        }, withinMs);
        const finish = () => {
          clearTimeout(timer);
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      });
    },
    end: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function eventsOf(raw: Buffer): readonly HookEvent[] {
  try {
    const body: unknown = JSON.parse(raw.toString("utf8"));
    return isObject(body) && Array.isArray(body.data) ? (body.data as HookEvent[]) : [];
  } catch {
    return [];
  }
}
