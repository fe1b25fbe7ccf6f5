import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { isObject } from "../assertions/pattern.ts";
import { shown, Unmet } from "../assertions/unmet.ts";

/** A request that came to a receiver, whatever it was. */
export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The very bytes of its body. */
  readonly raw: Buffer;
  /** What `data` of the body holds; nothing where the body is something else. */
  readonly events: readonly HookEvent[];
  /** When it began and when it was answered, in milliseconds on this machine's clock that only goes forward. */
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

export type Answering = (response: ServerResponse, delivery: Delivery) => void;

export interface Receiver {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** The most requests that were there at one time. */
  readonly most: number;
  /** Answers so from now on; before that with 200. */
  answer(how: Answering): void;
  /** Waits until something is found among what came. */
  until<T>(expected: string, found: (deliveries: readonly Delivery[]) => T | undefined, withinMs?: number): Promise<T>;
  /** Takes no more connections, and breaks those that are open. */
  end(): void;
}

/** Longer than a retry takes. */
const PATIENCE_MS = 15_000;

/** A receiver on this machine: keeps what it gets, and answers as it is told. */
export async function openReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const waiting = new Set<() => void>();
  let answer: Answering = (response) => void response.writeHead(200).end();
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
          const came = `${deliveries.length} requests came, the last ${shown(last, 1_500)}`;
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
