import type { AnswerFrame } from "../protocol/stream/call-frames.ts";
import type { Exchange, ExchangeRequest, ExchangeResponse } from "./exchange.ts";

/*
 * Requests on the open stream: no connection, no headers, no other process in a browser. What does not fit, or comes
 * while the stream is not live, goes over HTTP. If the stream closes, it is unknown what became of a call, as of a
 * request whose response is lost.
 */

/** A frame can have 64 KiB. */
const MOST_BYTES = 49_152;
/** Those whose answers are long, or that are needed without a stream. */
const OVER_HTTP: ReadonlySet<string> = new Set([
  "readIdentity",
  "readRecord",
  "readHistory",
  "listProposals",
  "readLog",
  "readSnapshot",
]);

/** Ends a call, with its answer or without one. */
type OpenCall = (response?: ExchangeResponse) => void;

export class StreamCalls {
  readonly #send: (text: string) => void;
  readonly #open = new Map<number, OpenCall>();
  /** Under which token the stream is live. Undefined: it is not. */
  #token: string | undefined;
  /** What got no answer goes over HTTP the next time: some proxy may stop its frames. */
  readonly #lost = new Set<string>();
  /** How many calls the server takes at a time. */
  #most = 0;
  #last = 0;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  /** Undefined: it has to go over HTTP. */
  call({ call, token, body, keepalive }: ExchangeRequest, signal: AbortSignal): Promise<ExchangeResponse> | undefined {
    const { name, params, query } = call;
    if (token !== this.#token || this.#open.size >= this.#most || keepalive) return undefined;
    if (OVER_HTTP.has(name) || query?.includes("wait=") || !fits(body)) return undefined;
    if (this.#lost.delete(name)) return undefined;
    const n = ++this.#last;
    return new Promise((resolve, reject) => {
      const end: OpenCall = (response) => {
        this.#open.delete(n);
        signal.removeEventListener("abort", lose);
        if (response) return resolve(response);
        this.#lost.add(name);
        reject(new Error("The stream was interrupted."));
      };
      const lose = () => end();
      signal.addEventListener("abort", lose);
      this.#open.set(n, end);
      // The body is sent byte for byte: its hash tells the server whether it is the same as before.
      const head = JSON.stringify({ frame: "call", n, name, params, query });
      this.#send(body === undefined ? head : `${head.slice(0, -1)},"body":${body}}`);
    });
  }

  /** The stream is live under this token; the server takes so many calls at a time. */
  live(token: string | undefined, most = this.#most): void {
    this.#token = token;
    this.#most = most;
  }

  answered({ n, status, headers, body }: AnswerFrame): void {
    this.#open.get(n)?.({ status, retryAfter: headers?.["retry-after"], body: { parsed: body } });
  }

  closed(): void {
    this.#token = undefined;
    for (const end of this.#open.values()) end();
  }
}

/** A character has at most 3 bytes. */
const fits = (body = ""): boolean =>
  body.length * 3 <= MOST_BYTES || new TextEncoder().encode(body).length <= MOST_BYTES;

/** Sends on the stream what can go there, and the rest over HTTP. */
export const streamFirst =
  (stream: Partial<Pick<StreamCalls, "call">>, http: Exchange): Exchange =>
  (request, signal) =>
    stream.call?.(request, signal) ?? http(request, signal);
