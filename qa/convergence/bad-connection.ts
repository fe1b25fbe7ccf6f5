import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { SeededRandom } from "../support/seeded-random.ts";

/** What happens to a request, or to a call on the stream. */
type Accident = "lost" | "late" | "loses-its-receipt" | "twice";
const ACCIDENTS: readonly Accident[] = ["lost", "late", "loses-its-receipt", "twice"];

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
  /** Bulks that were sent on the stream. */
  calls = 0;

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
    switch (this.accident()) {
      case undefined:
        return await send();
      case "lost":
        throw new TypeError("The request was lost.");
      case "late": {
        const late = new Request(request.clone(), { signal: null });
        this.#late.push(() => this.#overhear(globalThis.fetch(late)));
        throw new TypeError("The request is late.");
      }
      case "loses-its-receipt":
        await send();
        throw new TypeError("The receipt was lost.");
      case "twice":
        // The request arrives twice at once, and must have one effect.
        return (await Promise.all([send(), send()]))[1];
    }
  };

  accident(): Accident | undefined {
    return this.#chance.percent(this.badness) ? this.#chance.oneOf(ACCIDENTS) : undefined;
  }

  async #overhear(answer: Promise<Response>): Promise<Response> {
    const response = await answer;
    if (!response.ok || !response.url.endsWith("/v1/commits/bulk")) return response;
    const text = await response.text();
    this.overhearBulk(JSON.parse(text));
    return new Response(text, { status: response.status, headers: response.headers });
  }

  overhearBulk({ data }: { data: readonly { clientTxId?: string; status?: string }[] }): void {
    for (const { clientTxId, status } of data)
      if (clientTxId && status === "confirmed") this.#confirmed.add(clientTxId);
  }

  /** A `WebSocket` class whose sockets this line can cut, and that has its accidents with calls. */
  readonly WebSocket: unknown = socketsOf(this, this.#sockets);

  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
    this.#sockets.clear();
  }

  /** Sends what was sent in a call as a request: now, or when the delayed requests are delivered. */
  copy(request: Request, when: "now" | "late"): void {
    const send = () => this.#overhear(globalThis.fetch(request));
    if (when === "late") this.#late.push(send);
    else void send().catch(() => {});
  }

  /** Delivers the delayed requests, in random order. */
  async deliverLate(): Promise<void> {
    while (this.#late.length > 0) {
      const [request] = this.#late.splice(this.#chance.below(this.#late.length), 1);
      await request?.().catch(() => {});
    }
  }
}

interface Frame {
  readonly frame: string;
  readonly n: number;
  readonly name: string;
  readonly token: string;
  readonly status: number;
  readonly body: unknown;
}

/** A socket loses a call, or its answer, only by breaking. */
const socketsOf = (line: BadLine, sockets: Set<WebSocket>) =>
  class extends WebSocket {
    readonly #url: string;
    #token = "";
    /** The bulks that have no answer yet, and whether it will be lost. */
    readonly #bulks = new Map<number, "arrives" | "loses-its-receipt">();

    constructor(address: string, protocols?: string[]) {
      super(address, protocols);
      this.#url = address.replace(/^ws/, "http").replace(/stream$/, "commits/bulk");
      sockets.add(this);
      this.on("close", () => sockets.delete(this));
    }

    override send(text: string): void {
      const { frame, name, n, token } = JSON.parse(text) as Frame;
      if (frame === "hello" || frame === "auth") this.#token = token;
      if (line.dead) return;
      if (frame !== "call" || name !== "commitBulk") return super.send(text);
      line.calls += 1;
      const accident = line.accident();
      this.#bulks.set(n, accident === "loses-its-receipt" ? accident : "arrives");
      if (accident === "late" || accident === "twice")
        line.copy(this.#request(text), accident === "late" ? accident : "now");
      if (accident === "lost" || accident === "late") return this.terminate();
      super.send(text);
    }

    /** The body is sent byte for byte. */
    #request(call: string): Request {
      const body = call.slice(call.indexOf('"body":') + '"body":'.length, -1);
      const headers = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
      return new Request(this.#url, { method: "POST", headers, body });
    }

    override emit(event: string | symbol, ...given: unknown[]): boolean {
      if (event !== "message") return super.emit(event, ...given);
      const { frame, n, status, body } = JSON.parse(String(given[0])) as Frame;
      const bulk = frame === "answer" ? this.#bulks.get(n) : undefined;
      if (bulk && status === 200) line.overhearBulk(body as Parameters<BadLine["overhearBulk"]>[0]);
      if (bulk !== "loses-its-receipt") return super.emit(event, ...given);
      this.terminate();
      return true;
    }
  };
