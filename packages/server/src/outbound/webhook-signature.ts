import { createHmac } from "node:crypto";

/** What is signed, as Standard Webhooks has it. */
export interface Signed {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: Buffer;
}

/** One signature for each secret (`whsec_` and base64), the newest first: the value of `webhook-signature`. */
export const signWebhook = (secrets: readonly string[], { id, timestamp, body }: Signed): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
    })
    .join(" ");
