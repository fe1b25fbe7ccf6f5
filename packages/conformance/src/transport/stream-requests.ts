import { Unmet } from "../assertions/unmet.ts";
import type { Answer, AskOptions } from "../protocol/answers.ts";
import { type Listener, openStream } from "./stream.ts";

/** What can be called on a stream: the name, the method and the path. */
const CALLS = (
  [
    ["commit", "POST", "/v1/commits"],
    ["commitBulk", "POST", "/v1/commits/bulk"],
    ["readCommit", "GET", "/v1/commits/:clientTxId"],
    ["queryRecords", "POST", "/v1/models/:model/query"],
    ["acquireClaim", "POST", "/v1/models/:model/:id/claim"],
    ["releaseRecord", "DELETE", "/v1/models/:model/:id/claim"],
    ["acquireClaimOn", "POST", "/v1/claims"],
    ["listClaims", "GET", "/v1/claims"],
    ["listOwnClaims", "GET", "/v1/claims/mine"],
    ["readClaim", "GET", "/v1/claims/:id"],
    ["renewClaim", "POST", "/v1/claims/:id/renew"],
    ["releaseClaim", "DELETE", "/v1/claims/:id"],
  ] as const
).map(([name, method, path]) => ({
  ...{ name, method },
  path: new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
}));

/** A frame has up to 64 KiB. */
const MOST_BYTES = 60_000;
/** So many calls of a socket may wait for their answers. */
const MOST_CALLS = 8;
const NO_ID = `req_${"0".repeat(24)}`;

interface Socket {
  readonly stream: Promise<Listener>;
  waiting: number;
}

/** Sends requests on sockets, one for each token, where the interface allows it. */
export interface StreamRequests {
  /** Undefined: it cannot be sent on a stream. */
  send(method: string, path: string, options: AskOptions): Promise<Answer> | undefined;
  /** How many were sent. */
  readonly count: number;
  close(): void;
}

export function createStreamRequests(url: string, defaultToken: string): StreamRequests {
  const sockets = new Map<string, Socket>();
  let count = 0;

  const connect = async (token: string) => {
    const stream = await openStream(url);
    stream.send({ frame: "hello", token });
    await stream.next("welcome");
    return stream;
  };

  return {
    send(method, path, { token = defaultToken, key, headers, json, bytes }) {
      if (token === null || key !== undefined || headers !== undefined || bytes !== undefined) return undefined;
      const [before = "", query] = path.split("?");
      const call = callOf(method, before);
      const body = json === undefined ? undefined : JSON.stringify(json);
      if (!call || (body && Buffer.byteLength(body) > MOST_BYTES) || /(^|&)wait=/.test(query ?? "")) return undefined;
      const socket = sockets.get(token) ?? { stream: connect(token), waiting: 0 };
      sockets.set(token, socket);
      if (socket.waiting >= MOST_CALLS) return undefined;
      socket.waiting += 1;
      const n = ++count;
      const head = JSON.stringify({ frame: "call", n, ...call, query });
      const frame = body === undefined ? head : `${head.slice(0, -1)},"body":${body}}`;
      const sent = { method, path, headers: { authorization: `Bearer ${token}` }, body };
      return answered(socket, frame, n)
        .then((answer): Answer => ({ request: sent, ...answer }))
        .finally(() => {
          socket.waiting -= 1;
        });
    },
    get count() {
      return count;
    },
    close() {
      for (const { stream } of sockets.values())
        stream.then(
          (open) => open.end(),
          () => {},
        );
    },
  };
}

function callOf(method: string, path: string) {
  for (const one of CALLS) {
    const found = one.method === method && one.path.exec(path);
    if (!found) continue;
    const params = Object.fromEntries(
      Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
    return { name: one.name, ...(Object.keys(params).length > 0 && { params }) };
  }
  return undefined;
}

async function answered(socket: Socket, frame: string, n: number): Promise<Omit<Answer, "request">> {
  const stream = await socket.stream;
  stream.send(frame);
  const answer = await stream.next("answer", { n });
  const {
    status,
    body,
    headers = {},
  } = answer as unknown as {
    readonly status: number;
    readonly body: Readonly<Record<string, unknown>>;
    readonly headers?: Readonly<Record<string, string>>;
  };
  if (typeof status !== "number") throw new Unmet("an answer with a status", JSON.stringify(answer));
  const id = typeof body.request_id === "string" ? body.request_id : NO_ID;
  return { status, headers: { ...headers, "x-request-id": id }, text: JSON.stringify(body), body };
}
