import { createHmac } from "node:crypto";
import { webhookHeaders } from "@holdfast/sdk/protocol";

/** The signed parts, as defined by Standard Webhooks. */
export interface Signed {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: Buffer;
}

/** The value of `webhook-signature`: one signature per secret (`whsec_` and base64), newest first. */
export const signWebhook = (secrets: readonly string[], { id, timestamp, body }: Signed): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
    })
    .join(" ");

/** The headers of a signed JSON body. */
export const signedHeaders = (
  userAgent: string,
  secrets: readonly string[],
  signed: Signed,
): Record<string, string> => ({
  "content-type": "application/json",
  "user-agent": userAgent,
  [webhookHeaders.id]: signed.id,
  [webhookHeaders.timestamp]: String(signed.timestamp),
  [webhookHeaders.signature]: signWebhook(secrets, signed),
});
