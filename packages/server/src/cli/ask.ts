import { type ErrorEnvelope, headers } from "@holdfast/sdk/protocol";
import { UsageError } from "./usage-error.ts";

/** A server and the token to ask it with. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

/** One request. What the server refuses is told in its own words, with what stands against it. */
export async function ask<T>(
  { url, token }: Target,
  method: string,
  path: string,
  json?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await fetch(`${url.replace(/\/+$/, "")}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(json !== undefined && { "content-type": "application/json" }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(signal && { signal }),
  }).catch((error: Error & { cause?: Error }) => {
    if (signal?.aborted) throw error;
    throw new UsageError(`No server answers at ${url} (${error.cause?.message ?? error.message}). See --url.`);
  });
  const text = await response.text();
  const body = parsed(text);
  if (response.ok && body) return body as T;
  throw new UsageError(
    body ? sentenceOf(body as ErrorEnvelope) : `${url} is no Holdfast server: it answered ${response.status}.`,
  );
}

function sentenceOf({ message, code, param, problems, request_id }: ErrorEnvelope): string {
  const place = param === undefined ? "" : `, at ${param}`;
  const list = (problems ?? []).map(
    ({ model, field, problem }) => `\n  ${model}${field === undefined ? "" : `.${field}`}: ${problem}`,
  );
  return `${message} (${code}${place}; ${headers.requestId} ${request_id})${list.join("")}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
