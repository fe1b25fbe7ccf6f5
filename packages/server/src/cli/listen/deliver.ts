import { webhookLimits } from "@holdfast/sdk/protocol";
import { UsageError } from "../usage-error.ts";
import type { Batch } from "./batches.ts";
import { type DeliveryFault, faultOf } from "./delivery-error.ts";
import { signed } from "./sign.ts";

export interface Outcome {
  readonly webhookId: string;
  /** A 2xx. */
  readonly taken: boolean;
  /** Of the answer; null: there was none. */
  readonly status: number | null;
  /** What is wrong. */
  readonly fault?: DeliveryFault;
  readonly ms: number;
}

export interface Delivering {
  readonly address: string;
  readonly key: Buffer;
  readonly signal: AbortSignal;
  readonly requestMs?: number;
}

/** One request, as the server would make it: the time, the signature and the deadline are its own, the rest is the batch's. */
export async function deliver(
  { from, to, body }: Pick<Batch, "from" | "to" | "body">,
  { address, key, signal, requestMs = webhookLimits.requestMs }: Delivering,
): Promise<Outcome> {
  const webhookId = `msg_local_1_${from}_${to}`;
  const begun = performance.now();
  const told = (rest: Pick<Outcome, "taken" | "status" | "fault">): Outcome => ({
    webhookId,
    ms: Math.round(performance.now() - begun),
    ...rest,
  });
  try {
    const response = await fetch(address, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/json", ...signed(key, webhookId, body, Date.now()) },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestMs)]),
    });
    const { status } = response;
    const text = await beginningOf(response);
    if (response.ok) return told({ taken: true, status });
    const fault: DeliveryFault =
      status >= 300 && status < 400
        ? {
            code: "redirected",
            message: `redirected to ${response.headers.get("location") ?? "nowhere"}: not followed`,
          }
        : { code: "unexpected_status", message: text.trim() };
    return told({ taken: false, status, fault });
  } catch (error) {
    if (signal.aborted) throw error;
    const { cause } = error as { cause?: Error };
    // Fetch keeps away from a few ports for good: no use in trying again.
    if (cause?.message === "bad port") throw new UsageError(`${address} is on a port that cannot be asked.`);
    return told({ taken: false, status: null, fault: faultOf(error as Error) });
  }
}

/** What the handler says, up to 16 KiB or to the deadline; the status alone decides. */
async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    // Leaving the loop early ends the answer, and with it the connection.
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= webhookLimits.responseBytes) break;
    }
  } catch {
    // It broke off: what came counts.
  }
  return Buffer.concat(chunks).toString("utf8");
}
