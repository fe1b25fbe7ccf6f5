import { setTimeout as pause } from "node:timers/promises";
import type { LogEntry } from "@holdfast/sdk/protocol";

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** How many earlier attempts had no response. */
  readonly lost: number;
}

export type SendRequest = (method: string, path: string, body?: object, token?: string) => Promise<Answer>;

const GIVE_UP_MS = 120_000;
const TIMEOUT_MS = 3_000;
const RETRY_MS = 50;

/** Sends a request to one server after the other until one responds. An attempt without a response may have taken effect. */
export function createRequester(urls: () => readonly string[], key: string): SendRequest {
  let next = 0;
  return async (method, path, body, token = key) => {
    const until = performance.now() + GIVE_UP_MS;
    for (let lost = 0; ; lost++) {
      const all = urls();
      const answer = await once(`${all[next++ % all.length]}${path}`, method, token, body);
      if (answer) return { ...answer, lost };
      if (performance.now() > until) throw new Error(`No server answered ${method} ${path}.`);
      await pause(RETRY_MS);
    }
  };
}

async function once(url: string, method: string, token: string, body?: object) {
  try {
    const { status, text } = await send(url, method, token, body, AbortSignal.timeout(TIMEOUT_MS));
    if (status === 503 || status === 429) return undefined;
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  } catch {
    // Unreachable, cut off, or too late: there is no response.
    return undefined;
  }
}

async function send(url: string, method: string, token: string, body?: object, signal: AbortSignal | null = null) {
  const response = await fetch(url, {
    ...{ method, signal },
    headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** One request, which has to be answered with a body of success. */
export async function ask(url: string, method: string, token: string, body?: object) {
  const { status, text } = await send(url, method, token, body);
  if (status > 299) throw new Error(`${method} ${url} was answered with ${status}: ${text.slice(0, 1_000)}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** The body of a successful response. Throws otherwise. */
export function good({ status, body }: Answer): Readonly<Record<string, unknown>> {
  if (status < 200 || status > 299) throw new Error(`Answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** The whole log, page by page. */
export async function readLog(request: SendRequest): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let after = "0"; ; ) {
    const page = good(await request("GET", `/v1/log?after=${after}&limit=1000`));
    entries.push(...(page.data as LogEntry[]));
    if (!page.has_more) return entries;
    after = String(page.next_cursor);
  }
}
