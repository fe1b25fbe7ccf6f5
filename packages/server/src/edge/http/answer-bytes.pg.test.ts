import type { Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { type Answer, startApp } from "../../testing/app.ts";
import { sending } from "../../testing/raw-socket.ts";
import { metricOf } from "../../testing/waiting/metrics.ts";

// The soak suite does the same on a small heap, with every route and many tokens.

const MiB = 2 ** 20;
const BOUND = 6 * MiB;
const app = await startApp({ metricsLoopback: true, limits: { answerBytesPerToken: BOUND, answerBytes: 4 * BOUND } });
const { call } = app;
const slides = "/v1/models/slide";
const COUNT = 6;
const ids = Array.from({ length: COUNT }, (_, n) => `large${n}`);
const text = (n: number) => `${n} `.repeat(450_000);

for (const id of ids) await call("POST", slides, { json: { id, data: { title: "a" } } });
for (const [n, id] of ids.entries()) await call("PATCH", `${slides}/${id}`, { json: { data: { notes: text(n) } } });

const unread: Socket[] = [];
const closeUnread = () => {
  for (const socket of unread.splice(0)) socket.destroy();
};
afterEach(closeUnread);
const stale = (id: string) => ({
  ...{ action: "update", model: "slide", id, data: { notes: "mine" } },
  ...{ readAt: 1, onStale: "notify" },
});
interface Item {
  readonly code?: string;
}

/** A connection whose answers are never read. Returns a function that sends a request on it. */
async function unreadConnection(token: string, path: string, body?: object, url = app.url): Promise<() => void> {
  const payload = body === undefined ? "" : JSON.stringify(body);
  const head = [
    `${body === undefined ? "GET" : "POST"} ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${token}`,
    ...(body === undefined ? [] : ["content-type: application/json", `content-length: ${payload.length}`]),
  ];
  const socket = await sending(url, "");
  unread.push(socket.pause());
  return () => void socket.write(`${head.join("\r\n")}\r\n\r\n${payload}`);
}
const inFlight = () => metricOf(call, "holdfast_answer_bytes");

const staleBulk = { commits: ids.map((id) => ({ clientTxId: `unread-${id}`, operations: [stale(id)] })) };

test.each<[string, string, object?]>([
  ["lists", `${slides}?limit=100`],
  ["lists by a query", `${slides}/query`, { limit: 100 }],
  ["snapshots", "/v1/snapshot?model=slide"],
  ["pages of the log", "/v1/log?after=0&limit=1000"],
  ["histories", `${slides}/large0/history?limit=100`],
  ["receipts", "/v1/commits/unread-large0"],
  ["bulks", "/v1/commits/bulk", staleBulk],
])(
  "[B11] [B12] unread %s of a token have so many bytes together, others are answered, and what ends makes room again",
  async (_, path, body) => {
    const { token } = await app.newKey();
    const other = (await app.newKey()).token;
    await call("POST", "/v1/commits/bulk", { token, json: staleBulk });
    const ask = () => call(body ? "POST" : "GET", path, { token, ...(body && { json: body }) });
    expect((await ask()).status).toBe(200);
    // A connection takes in some bytes that no program has read; the answers behind them wait.
    let refused: string | undefined;
    for (let i = 0; i < 20 && refused === undefined; i++) {
      const send = await unreadConnection(token, path, body);
      for (let n = 0; n < 8 && refused === undefined; n++) {
        send();
        refused = codeIn(await ask());
      }
    }
    expect(refused).toBe("too_many_answers");
    expect(await inFlight()).toBeLessThanOrEqual(BOUND);
    expect((await call("GET", `${slides}/large0`, { token: other })).status).toBe(200);
    const written = await call("POST", slides, { token: other, json: { id: `beside-${token.slice(-6)}`, data: {} } });
    expect(written.status).toBe(200);
    closeUnread();
    await until(async () => (await inFlight()) === 0);
    expect(codeIn(await ask())).toBe(undefined);
  },
);

/** The code of a refusal, of the whole or of a commit in it. What has no room in a bulk alone does not count. */
function codeIn({ status, headers, body }: Answer): string | undefined {
  if (status === 429) expect(headers["retry-after"]).toBe("1");
  const codes = [body as unknown as Item, ...(Array.isArray(body.data) ? (body.data as Item[]) : [])].map(
    ({ code }) => code,
  );
  return codes.find((code) => code !== undefined && code !== "answer_too_large");
}

test("[B11] [B12] a write of a token without room is not tried", async () => {
  const small = await app.another({ limits: { answerBytesPerToken: 100_000 } });
  const { token } = await app.newKey();
  // What is alone may be larger than the room.
  const send = await unreadConnection(token, `${slides}?limit=100`, undefined, small.server.url);
  for (let i = 0; i < 8; i++) send();
  let id = "";
  const write = () => small.call("POST", slides, { token, json: { id, data: {} }, key: id });
  // The system takes in the first answers, so that there is room again for a while.
  const refused = await until(async () => {
    id = `not-tried-${crypto.randomUUID()}`;
    const answer = await write();
    expect(answer.status).toBe(429);
    return answer;
  });
  expect(refused.body.code).toBe("too_many_answers");
  expect((await call("GET", `${slides}/${id}`)).status).toBe(404);
  closeUnread();
  await until(async () => (await write()).status === 200);
});
