import { sourceLimits } from "@holdfast/sdk/protocol";
import { request } from "undici";
import type { SendCall } from "../rules/sources/source-call.ts";
import { type GuardOptions, guardedAgent } from "./guarded-connect.ts";
import { reasonOf } from "./send-webhook.ts";
import { signedHeaders } from "./webhook-signature.ts";

export interface CallSender {
  readonly send: SendCall;
  close(): Promise<void>;
}

/** Sends calls to sources. `requestMs` is the time from connecting to the end of the answer. */
export function createCallSender({ requestMs, ...guard }: GuardOptions & { readonly requestMs: number }): CallSender {
  const dispatcher = guardedAgent(guard);
  return {
    async send({ endpoint, secrets }, id, text) {
      const signed = { id, timestamp: Math.floor(Date.now() / 1_000), body: Buffer.from(text) };
      const deadline = AbortSignal.timeout(requestMs);
      try {
        const { statusCode, body } = await request(endpoint, {
          ...{ dispatcher, method: "POST", signal: deadline, body: signed.body },
          headers: signedHeaders("Holdfast-Datasources", secrets, signed),
        });
        const answer = await wholeText(body);
        if (answer === undefined)
          return { problem: `The answer has more than ${sourceLimits.answerBytes} bytes.`, isTooLarge: true };
        if (statusCode === 200) return { text: answer };
        const isRejected = statusCode === 401 || statusCode === 403;
        return { problem: said(statusCode, answer), ...(isRejected && { rejected: true }) };
      } catch (error) {
        if (deadline.aborted) return { problem: `No answer within ${requestMs / 1_000} s.` };
        const { code, message } = reasonOf(error);
        const allowed = code === "blocked_address" ? ALLOWED : "";
        return { problem: `${message === "" ? code : message}${allowed}` };
      }
    },
    close: () => dispatcher.destroy(),
  };
}

const ALLOWED = " The operator of the server can allow it: HOLDFAST_DATASOURCE_ALLOW_PRIVATE=1.";

async function wholeText(body: AsyncIterable<unknown>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > sourceLimits.answerBytes) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The status, and the beginning of what the source says about it. */
function said(status: number, text: string): string {
  const shown = text.replaceAll("\0", "").slice(0, 200).trim();
  return `Status ${status}${shown === "" ? "." : `: ${shown}`}`;
}
