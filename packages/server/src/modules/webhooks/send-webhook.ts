import { request } from "undici";
import { beginningOf, reasonOf } from "../../edge/outbound/foreign-answer.ts";
import { type GuardOptions, guardedAgent } from "../../edge/outbound/guarded-connect.ts";
import { type Signed, signedHeaders } from "../../edge/outbound/webhook-signature.ts";
import type { ReceiverAnswer } from "./rules/delivery-outcome.ts";

export interface WebhookRequest extends Signed {
  readonly url: string;
  /** Newest first. All of them sign. */
  readonly secrets: readonly string[];
}

/** Sends one request. The signal aborts it. */
export interface WebhookSender {
  send(webhook: WebhookRequest, signal: AbortSignal): Promise<ReceiverAnswer>;
  close(): Promise<void>;
}

export interface SenderOptions extends GuardOptions {
  /** From connecting to the end of the response. */
  readonly requestMs: number;
}

export function createWebhookSender({ requestMs, ...guard }: SenderOptions): WebhookSender {
  const dispatcher = guardedAgent(guard);

  async function send(webhook: WebhookRequest, signal: AbortSignal): Promise<ReceiverAnswer> {
    const over = new AbortController();
    const deadline = setTimeout(() => over.abort(LATE), requestMs);
    const stop = () => over.abort(STOPPED);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      const { statusCode, headers, body } = await request(webhook.url, {
        dispatcher,
        signal: over.signal,
        method: "POST",
        headers: signedHeaders("Holdfast-Webhooks", webhook.secrets, webhook),
        body: webhook.body,
      });
      const retryAfter = headers["retry-after"];
      return {
        kind: "answered",
        status: statusCode,
        retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
        location: addressOf(headers.location, webhook.url),
        body: await beginningOf(body),
      };
    } catch (error) {
      if (over.signal.reason === STOPPED) return { kind: "interrupted" };
      if (over.signal.reason === LATE)
        return { kind: "unanswered", code: "timeout", message: `No response within ${requestMs / 1_000} s.` };
      return { kind: "unanswered", ...reasonOf(error) };
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener("abort", stop);
    }
  }

  return { send, close: () => dispatcher.destroy() };
}

/** The address that a redirect names, without what may be secret in it. */
function addressOf(location: string | string[] | undefined, from: string): string | undefined {
  const [one] = [location].flat();
  if (one === undefined || !URL.canParse(one, from)) return undefined;
  const { origin, pathname } = new URL(one, from);
  return origin === "null" ? undefined : `${origin}${pathname}`.slice(0, 300);
}

const LATE = Symbol("late");
const STOPPED = Symbol("stopped");
