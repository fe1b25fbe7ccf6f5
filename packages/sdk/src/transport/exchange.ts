import type { ClientEndpointName, Route } from "../protocol/client-paths.ts";

/**
 * Sends one request and returns the response: with ky in browsers, with undici in Node. It makes one attempt without a
 * time limit. A response of any status is a result; it rejects only if there was none.
 */
export type Exchange = (request: ExchangeRequest, signal: AbortSignal) => Promise<ExchangeResponse>;

export interface ExchangeRequest {
  /** What is asked for, for an exchange that is not HTTP. */
  readonly call: CallRequest;
  readonly method: Route[0];
  readonly url: string;
  readonly token: string;
  /** The header `Holdfast-Schema`. */
  readonly schema?: string | undefined;
  /** JSON, sent byte for byte. */
  readonly body?: string | undefined;
  /** The request outlives the page. */
  readonly keepalive: boolean;
}

export interface CallRequest {
  readonly name: ClientEndpointName;
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: string | undefined;
}

export interface ExchangeResponse {
  readonly status: number;
  readonly retryAfter: string | null | undefined;
  /** The decoded body, chunk by chunk as it arrives. A reader that stops early discards the rest. */
  readonly body: AsyncIterable<Uint8Array> | Parsed;
}

/** JSON that has arrived as a part of something else. */
export interface Parsed {
  readonly parsed: unknown;
}
