import { breaksSocket, fateOf, type Line, SLOW_MS } from "./line.ts";

let line: Line = "online";

/** From now on. What is on its way already arrives as it was sent. */
export function setLine(to: Line): void {
  line = to;
}

/**
 * Puts a line that can be made worse between this page and the server at `url`: what the client sends really goes there,
 * only late, or not, or without an answer. Everything else is left alone. Once, before the client is made.
 */
export function roughenLine(url: string): void {
  const server = new URL(url).host;
  const straight = globalThis.fetch.bind(globalThis);
  globalThis.fetch = async (input, init) => {
    if (line === "online") return straight(input, init);
    const request = new Request(input, init);
    if (new URL(request.url).host !== server) return straight(request);
    const fate = fateOf(line, Math.random());
    const delay = line === "slow" ? SLOW_MS : 0;
    await pause(delay, request.signal);
    if (fate === "is-lost") throw new TypeError("Failed to fetch");
    const answer = await straight(request);
    await pause(delay, request.signal);
    // The server has done it, but its answer is lost.
    if (fate === "loses-its-answer") throw new TypeError("Failed to fetch");
    return answer;
  };
  globalThis.WebSocket = class extends globalThis.WebSocket {
    #due = 0;
    /** Messages that were late, and are told now. */
    readonly #told = new WeakSet<Event>();

    constructor(address: string | URL, protocols?: string | string[]) {
      super(address, protocols);
      // The first listener: what is late is kept from the others, and told again when it is due.
      this.addEventListener("message", (event) => {
        if (this.#told.has(event)) return;
        if (breaksSocket(line, Math.random())) this.close();
        const late = this.#lateness();
        if (late === 0) return;
        event.stopImmediatePropagation();
        const again = new MessageEvent("message", { data: event.data });
        this.#told.add(again);
        setTimeout(() => this.dispatchEvent(again), late);
      });
    }

    override send(data: Parameters<WebSocket["send"]>[0]): void {
      const late = this.#lateness();
      if (late === 0) return super.send(data);
      setTimeout(() => {
        // What was on its way when the line broke is lost, as anywhere.
        if (this.readyState === this.OPEN) super.send(data);
      }, late);
    }

    /** Nothing overtakes what was said before it, also when the line is quick again. */
    #lateness(): number {
      const now = Date.now();
      this.#due = Math.max(this.#due, now + (line === "slow" ? SLOW_MS : 0));
      return this.#due - now;
    }
  };
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
