import { randomBytes } from "node:crypto";
import { webhookLimits } from "@holdfast/sdk/protocol";
import { UsageError } from "../../../cli/usage-error.ts";

const PREFIX = "whsec_";

/** A signing secret as the server makes them: `whsec_` and base64. */
export const newSecret = (): string => PREFIX + randomBytes(webhookLimits.secretBytes).toString("base64");

/** The secret, when it is one: Standard Webhooks wants 24 to 64 bytes. */
export function checkedSecret(secret: string): string {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "";
  const bytes = Buffer.from(text, "base64");
  // Node skips what is no base64; what it read has to be what was written.
  if (bytes.length >= 24 && bytes.length <= 64 && bytes.toString("base64") === text) return secret;
  throw new UsageError("--secret must be whsec_ and the base64 of 24 to 64 bytes.");
}
