import { type ErrorEnvelope, headers } from "@holdfast/sdk/protocol";
import { spelledProblem } from "../rules/schema/schema-push.ts";
import { UsageError } from "./usage-error.ts";

/** A server and the token to ask it with. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

/** What was asked was refused, or nobody answered. */
export class AskError extends UsageError {
  /** Of the answer; absent: there was none. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }

  /** The same may be answered later: the server is away, or busy. */
  get isPassing(): boolean {
    return this.status === undefined || this.status >= 500 || this.status === 429;
  }
}

/** One request. What the server refuses is told in its own words, with what stands against it. */
export async function ask<T>(
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

/** The first line of an answer in lines of JSON. */
export async function askFirstLine<T>(target: Target, path: string): Promise<T> {
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
    throw isEnvelope(body) ? new AskError(sentenceOf(body), response.status) : noHoldfast(target, response.status);
  } catch (error) {
    // Who stopped it knows; whose time was over is told like anybody who got no answer.
    if (error instanceof AskError || (signal?.aborted && (error as Error).name !== "TimeoutError")) throw error;
    const { cause, message } = error as Error & { cause?: Error };
    throw new AskError(`No server answers at ${url} (${cause?.message || message}). Set --url.`);
  }
}

const noHoldfast = ({ url }: Target, status: number): AskError =>
  new AskError(`${url} is not a Holdfast server: it answered ${status}.`, status);

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
