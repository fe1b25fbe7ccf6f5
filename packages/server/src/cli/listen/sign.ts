import { createHmac, randomBytes } from "node:crypto";
import { webhookHeaders, webhookLimits } from "@holdfast/sdk/protocol";
import { UsageError } from "../usage-error.ts";

const PREFIX = "whsec_";

/** A signing secret as the server makes them: `whsec_` and base64. */
export const newSecret = (): string => PREFIX + randomBytes(webhookLimits.secretBytes).toString("base64");

/** The bytes that sign; Standard Webhooks wants 24 to 64 of them. */
export function keyOf(secret: string): Buffer {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "";
  const key = Buffer.from(text, "base64");
  // Node skips what is no base64; what it read has to be what was written.
  if (key.length >= 24 && key.length <= 64 && key.toString("base64") === text) return key;
  throw new UsageError("--secret takes whsec_ and the base64 of 24 to 64 bytes.");
}

/** The three headers of Standard Webhooks. */
export function signed(key: Buffer, id: string, body: string, now: number): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000));
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    [webhookHeaders.id]: id,
    [webhookHeaders.timestamp]: timestamp,
    [webhookHeaders.signature]: `v1,${mac}`,
  };
}
