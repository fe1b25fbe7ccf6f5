import { type Agent, type IncomingHttpHeaders, request } from "node:http";

/** A request as it goes onto the wire. */
export interface Wire {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
  /** Announces more than it sends, and hangs up. */
  readonly hangsUp?: boolean;
}

export interface Answer {
  readonly status: number;
  /** The reason phrase, which identifies responses to invalid HTTP. */
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly ms: number;
}

/** The connection ended without an answer. */
export interface NoResponse {
  readonly silence: string;
  readonly ms: number;
}

const PATIENCE_MS = 60_000;
const HANG_UP_MS = 10;
const LARGE = 1_000_000;

/** Sends the headers unchanged, including duplicates, and adds only what HTTP needs. */
export function send(agent: Agent, url: string, wire: Wire): Promise<Answer | NoResponse> {
  const { hostname, port, host } = new URL(url);
  const { method, target, body, hangsUp } = wire;
  const headers = [...wire.headers.flat()];
  const has = (name: string) => wire.headers.some(([known]) => known.toLowerCase() === name);
  if (!has("host")) headers.push("host", host);
  if (body && !has("content-length") && !has("transfer-encoding"))
    headers.push("content-length", String(body.length + (hangsUp ? 100 : 0)));
  // Where a request ends is then not agreed upon: the next one on the same connection would be cut, or misread.
  const isAlone = hangsUp || has("content-length") || has("transfer-encoding") || (body?.length ?? 0) > LARGE;
  const begun = performance.now();
  const ms = () => performance.now() - begun;
  return new Promise((resolve) => {
    const fail = (error: Error & { code?: string }) => resolve({ silence: error.code ?? error.message, ms: ms() });
    // The type knows objects only; Node takes names and values in turn, as in `rawHeaders`.
    const sent = request({
      agent: isAlone ? false : agent,
      hostname,
      port,
      method,
      path: target,
      headers: headers as never,
    });
    sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
    sent.on("error", fail);
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("error", fail);
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          reason: response.statusMessage ?? "",
          headers: response.headers,
          text: Buffer.concat(chunks).toString("utf8"),
          ms: ms(),
        }),
      );
    });
    if (hangsUp) {
      sent.write(body ?? "");
      setTimeout(() => sent.destroy(), HANG_UP_MS);
    } else sent.end(body);
  });
}

export const isNoResponse = (result: Answer | NoResponse): result is NoResponse => "silence" in result;
