import { type ErrorEnvelope, headers } from "@holdfast/sdk/protocol";
import { spelledProblem } from "../kernel/schema/rules/schema-push.ts";
import { UsageError } from "./usage-error.ts";

/** A server, and the token for requests to it. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

/** The server refused the request, or did not answer. */
export class RequestError extends UsageError {
  /** The status of the response; undefined: there was none. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }

  /** A retry may succeed: the server is unreachable or busy. */
  get isTransient(): boolean {
    return this.status === undefined || this.status >= 500 || this.status === 429;
  }
}

/** Sends one request. If the server refuses it, the error has the server's message and its list of problems. */
export async function request<T>(
  target: Target,
  method: string,
  path: string,
  json?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const { text, status } = await exchange(target, method, path, json, signal);
  const body = parsed(text);
  if (body === undefined) throw noHoldfast(target, status);
  return body as T;
}

/** Sends a request and parses the first line of the JSON Lines response. */
export async function requestFirstLine<T>(target: Target, path: string): Promise<T> {
  const { text, status } = await exchange(target, "GET", path);
  const body = parsed(text.split("\n")[0] ?? "");
  if (body === undefined) throw noHoldfast(target, status);
  return body as T;
}

async function exchange(
  target: Target,
  method: string,
  path: string,
  json?: unknown,
  signal?: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const { url, token } = target;
  try {
    const response = await fetch(`${url.replace(/\/+$/, "")}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json !== undefined && { "content-type": "application/json" }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    if (response.ok) return { status: response.status, text };
    const body = parsed(text);
    throw isEnvelope(body) ? new RequestError(sentenceOf(body), response.status) : noHoldfast(target, response.status);
  } catch (error) {
    // The caller knows that it aborted the request. A timeout is reported like a server that does not answer.
    if (error instanceof RequestError || (signal?.aborted && (error as Error).name !== "TimeoutError")) throw error;
    const { cause, message } = error as Error & { cause?: Error };
    throw new RequestError(`No server answers at ${url} (${cause?.message || message}). Set --url.`);
  }
}

const noHoldfast = ({ url }: Target, status: number): RequestError =>
  new RequestError(`${url} is not a Holdfast server: it answered ${status}.`, status);

const isEnvelope = (body: unknown): body is ErrorEnvelope =>
  typeof (body as Partial<ErrorEnvelope> | null | undefined)?.message === "string";

function sentenceOf({ message, code, param, problems, request_id }: ErrorEnvelope): string {
  const place = param === undefined ? "" : `, at ${param}`;
  const list = (problems ?? []).map((each) => `\n  ${spelledProblem(each)}`);
  return `${message} (${code}${place}; ${headers.requestId} ${request_id})${list.join("")}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
