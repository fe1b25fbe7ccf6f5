import { setTimeout as pause } from "node:timers/promises";

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** How often it was asked before, without an answer. */
  readonly lost: number;
}

export type SendRequest = (method: string, path: string, body?: object, token?: string) => Promise<Answer>;

const GIVE_UP_MS = 120_000;
const TIMEOUT_MS = 3_000;
const RETRY_MS = 50;

/** Asks one of the servers, and the next one, until one answers. What has no answer may have happened. */
export function createRequester(urls: () => readonly string[], key: string): SendRequest {
  let next = 0;
  return async (method, path, body, token = key) => {
    const until = performance.now() + GIVE_UP_MS;
    for (let lost = 0; ; lost++) {
      const all = urls();
      const answer = await once(`${all[next++ % all.length]}${path}`, method, token, body);
      if (answer) return { ...answer, lost };
      if (performance.now() > until) throw new Error(`Nobody answered ${method} ${path}.`);
      await pause(RETRY_MS);
    }
  };
}

async function once(url: string, method: string, token: string, body?: object) {
  try {
    const answer = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await answer.text();
    if (answer.status === 503 || answer.status === 429) return undefined;
    return { status: answer.status, body: JSON.parse(text) as Record<string, unknown> };
  } catch {
    // Nobody there, cut off, or too late: as good as no answer.
    return undefined;
  }
}

/** The body of an answer that has to be good. */
export function good({ status, body }: Answer): Readonly<Record<string, unknown>> {
  if (status < 200 || status > 299) throw new Error(`Answered ${status}: ${JSON.stringify(body)}`);
  return body;
}
