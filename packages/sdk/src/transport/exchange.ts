import type { Route } from "../protocol/client-paths.ts";

/**
 * One request and its answer, as the platform carries them: ky in browsers, undici in Node. It makes one attempt and
 * knows no time limit. An answer of any status is an answer; it rejects only when there was none.
 */
export type Exchange = (request: ExchangeRequest, signal: AbortSignal) => Promise<ExchangeResponse>;

export interface ExchangeRequest {
  readonly method: Route[0];
  readonly url: string;
  readonly token: string;
  /** JSON, sent byte for byte. */
  readonly body?: string | undefined;
  /** The request goes out although the page is going. */
  readonly keepalive: boolean;
}

export interface ExchangeResponse {
  readonly status: number;
  readonly retryAfter: string | null | undefined;
  /** The decoded body, chunk by chunk as it arrives. A reader that stops early gives up the rest of it. */
  readonly body: AsyncIterable<Uint8Array>;
}
