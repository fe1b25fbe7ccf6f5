import { createHmac, randomUUID } from "node:crypto";
import type { DatasourceArgs } from "./args.ts";

export interface SourceOperation {
  readonly action: "create" | "update" | "delete";
  readonly model: string;
  readonly id: string;
  readonly data?: object;
}

export interface SourceCommit {
  readonly clientTxId: string;
  readonly writtenBy: string;
  readonly operations: readonly SourceOperation[];
}

/** The answer to a call, and its body if that is a JSON object. */
export interface SourceAnswer {
  readonly status: number;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** As a server waits. */
const PATIENCE_MS = 10_000;

export interface SendOptions {
  /** Another one than the handler's; null: none of the headers is sent. */
  readonly key?: string | null;
  /** When it was signed, in seconds from now. */
  readonly at?: number;
  /** Sent in place of what was signed. */
  readonly body?: string;
}

/** Sends a signed call. Rejects if there is no answer. */
export async function send(
  { url, signingKey }: Pick<DatasourceArgs, "url" | "signingKey">,
  call: object,
  { key = signingKey, at = 0, body }: SendOptions = {},
): Promise<SourceAnswer> {
  const id = `msg_${randomUUID()}`;
  const timestamp = Math.floor(Date.now() / 1_000) + at;
  const signed = JSON.stringify({ datasource: "ds_conformance", ...call });
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key !== null && {
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": `v1,${hmac(key, `${id}.${timestamp}.${signed}`)}`,
      }),
    },
    body: body ?? signed,
    redirect: "manual",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await response.text();
  return { status: response.status, text, body: objectIn(text) };
}

const hmac = (key: string, text: string): string =>
  createHmac("sha256", Buffer.from(key.replace(/^whsec_/, ""), "base64"))
    .update(text)
    .digest("base64");

function objectIn(text: string): SourceAnswer["body"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as SourceAnswer["body"]) : {};
  } catch {
    return {};
  }
}
