import { request } from "undici";
import { beginningOf, reasonOf } from "../../edge/outbound/foreign-answer.ts";
import { type GuardOptions, guardedAgent } from "../../edge/outbound/guarded-connect.ts";
import { signedHeaders } from "../../edge/outbound/webhook-signature.ts";
import type { AnswerRoom, CallResult, SendCall } from "./rules/source-call.ts";

export interface CallSender {
  readonly send: SendCall;
  close(): Promise<void>;
}

/** Sends calls to sources. `requestMs` is the time from connecting to the end of the answer. */
export function createCallSender({ requestMs, ...guard }: GuardOptions & { readonly requestMs: number }): CallSender {
  const dispatcher = guardedAgent(guard);
  return {
    async send({ endpoint, secrets }, id, text, room) {
      const signed = { id, timestamp: Math.floor(Date.now() / 1_000), body: Buffer.from(text) };
      const deadline = AbortSignal.timeout(requestMs);
      try {
        const { statusCode, headers, body } = await request(endpoint, {
          ...{ dispatcher, method: "POST", signal: deadline, body: signed.body },
          headers: signedHeaders("Holdfast-Datasources", secrets, signed),
        });
        if (statusCode === 200 && Number(headers["content-length"] ?? 0) > room.most) {
          body.on("error", () => {}).destroy();
          return tooLarge(room.most);
        }
        if (statusCode === 200) return await wholeAnswer(body, room);
        const isRejected = statusCode === 401 || statusCode === 403;
        return { problem: said(statusCode, await beginningOf(body)), ...(isRejected && { rejected: true }) };
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

const tooLarge = (most: number): CallResult => ({
  problem: `The answer has more than ${most} bytes, the limit for this call.`,
  isTooLarge: true,
});

async function wholeAnswer(body: AsyncIterable<unknown>, { most, take }: AnswerRoom): Promise<CallResult> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > most) return tooLarge(most);
    if (!take(bytes)) return { problem: "Too many large answers arrive at once. The datasource is asked again." };
    chunks.push(chunk as Buffer);
  }
  return { bytes: Buffer.concat(chunks) };
}

/** The status, and the beginning of what the source says about it. */
function said(status: number, text: string): string {
  const shown = text.replaceAll("\0", "").slice(0, 200).trim();
  return `Status ${status}${shown === "" ? "." : `: ${shown}`}`;
}
