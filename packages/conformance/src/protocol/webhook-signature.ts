import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

interface SignedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
}

/** The place of the secret's signature among those of a request (Standard Webhooks); -1 if it has none. */
export function signatureOf(secret: string, { headers, raw }: SignedRequest): number {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), raw]);
  const wanted = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  return signaturesOf({ headers }).indexOf(wanted);
}

/** The signatures of a request; the header separates them with spaces. */
export const signaturesOf = ({ headers }: Pick<SignedRequest, "headers">): readonly string[] =>
  String(headers["webhook-signature"] ?? "").split(" ");
