import { createHmac } from "node:crypto";
import type { Delivery } from "../transport/receiver.ts";

/** Which of a delivery's signatures the secret makes, by their place; -1: none. As Standard Webhooks says. */
export function signatureOf(secret: string, { headers, raw }: Pick<Delivery, "headers" | "raw">): number {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), raw]);
  const wanted = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  return signaturesOf({ headers }).indexOf(wanted);
}

/** They stand with spaces between. */
export const signaturesOf = ({ headers }: Pick<Delivery, "headers">): readonly string[] =>
  String(headers["webhook-signature"] ?? "").split(" ");
