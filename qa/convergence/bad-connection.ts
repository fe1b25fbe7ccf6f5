import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { SeededRandom } from "../support/seeded-random.ts";

/** The line of one device: loses requests and receipts, lets some through twice and late, and is cut at any moment. */
export class BadLine {
  readonly #chance: SeededRandom;
  readonly #sockets = new Set<WebSocket>();
  /** Copies of requests that arrive later, when their senders have given up. */
  readonly #late: (() => Promise<unknown>)[] = [];
  readonly #confirmed: Set<string>;
  /** How many of a hundred requests have an accident. */
  badness: number;
  dead = false;

  /** `confirmed` collects the names that the server confirmed, whether or not the response reached the device. */
  constructor(chance: SeededRandom, badness: number, confirmed: Set<string>) {
    this.#chance = chance;
    this.badness = badness;
    this.#confirmed = confirmed;
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const send = () => this.#overhear(globalThis.fetch(request.clone()));
    await sleep(this.#chance.below(4));
    if (this.dead) throw new TypeError("The device is dead.");
    if (!this.#chance.percent(this.badness)) return await send();
    switch (this.#chance.below(4)) {
      case 0:
        throw new TypeError("The request was lost.");
      case 1: {
        const late = new Request(request.clone(), { signal: null });
        this.#late.push(() => this.#overhear(globalThis.fetch(late)));
        throw new TypeError("The request is late.");
      }
      case 2:
        await send();
        throw new TypeError("The receipt was lost.");
      default:
        // The request arrives twice at once, and must have one effect.
        return (await Promise.all([send(), send()]))[1];
    }
  };

  async #overhear(answer: Promise<Response>): Promise<Response> {
    const response = await answer;
    if (!response.ok || !response.url.endsWith("/v1/commits/bulk")) return response;
    const text = await response.text();
    const { data } = JSON.parse(text) as { data: { clientTxId?: string; status?: string }[] };
    for (const { clientTxId, status } of data)
      if (clientTxId && status === "confirmed") this.#confirmed.add(clientTxId);
    return new Response(text, { status: response.status, headers: response.headers });
  }

  /** A `WebSocket` class whose sockets this line can cut. */
  readonly WebSocket: unknown = socketsOf(this.#sockets);

  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
    this.#sockets.clear();
  }

  /** Delivers the delayed requests, in random order. */
  async deliverLate(): Promise<void> {
    while (this.#late.length > 0) {
      const [request] = this.#late.splice(this.#chance.below(this.#late.length), 1);
      await request?.().catch(() => {});
    }
  }
}

const socketsOf = (sockets: Set<WebSocket>) =>
  class extends WebSocket {
    constructor(address: string, protocols?: string[]) {
      super(address, protocols);
      sockets.add(this);
      this.on("close", () => sockets.delete(this));
    }
  };
