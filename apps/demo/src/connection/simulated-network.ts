import { breaksSocket, fateOf, type NetworkMode, SLOW_MS } from "./network-mode.ts";

let mode: NetworkMode = "online";

/** Applies to later requests. Those on their way arrive in the mode in which they were sent. */
export function setNetworkMode(to: NetworkMode): void {
  mode = to;
}

/**
 * Makes the network between this page and the server at `url` as bad as the mode says: requests, also those on a socket,
 * reach the server late, or not at all, or without a response. Requests to other servers are unchanged. Call it once,
 * before the client is made.
 */
export function simulateNetwork(url: string): void {
  const server = new URL(url).host;
  const straight = globalThis.fetch.bind(globalThis);
  globalThis.fetch = async (input, init) => {
    if (mode === "online") return straight(input, init);
    const request = new Request(input, init);
    if (new URL(request.url).host !== server) return straight(request);
    const fate = fateOf(mode, Math.random());
    const delay = mode === "slow" ? SLOW_MS : 0;
    await pause(delay, request.signal);
    if (fate === "is-lost") throw new TypeError("Failed to fetch");
    const answer = await straight(request);
    await pause(delay, request.signal);
    // The server has applied the request, but this page does not learn of it.
    if (fate === "loses-its-answer") throw new TypeError("Failed to fetch");
    return answer;
  };
  globalThis.WebSocket = class extends globalThis.WebSocket {
    #due = 0;
    /** Delivers messages that were delayed. */
    readonly #told = new WeakSet<Event>();

    constructor(address: string | URL, protocols?: string | string[]) {
      super(address, protocols);
      // The first listener: what is late is kept from the others, and told again when it is due.
      this.addEventListener("message", (event) => {
        if (this.#told.has(event)) return;
        if (breaksSocket(mode, Math.random())) this.close();
        const late = this.#lateness();
        if (late === 0) return;
        event.stopImmediatePropagation();
        const again = new MessageEvent("message", { data: event.data });
        this.#told.add(again);
        setTimeout(() => this.dispatchEvent(again), late);
      });
    }

    override send(data: Parameters<WebSocket["send"]>[0]): void {
      const arrive = () => {
        // Messages on their way are lost when the connection breaks, as on any network.
        if (this.readyState !== this.OPEN) return;
        // A call, the only frame with that word, has the fate of a request, but a socket can only lose it, or its
        // answer, by breaking.
        const fate = fateOf(String(data).includes('"call"') ? mode : "online", Math.random());
        if (fate !== "is-lost") super.send(data);
        if (fate !== "arrives") this.close();
      };
      const late = this.#lateness();
      late ? setTimeout(arrive, late) : arrive();
    }

    /** A message never overtakes an earlier one, even if the network has become fast again. */
    #lateness(): number {
      const now = Date.now();
      this.#due = Math.max(this.#due, now + (mode === "slow" ? SLOW_MS : 0));
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
