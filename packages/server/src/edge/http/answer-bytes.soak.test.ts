import type { Socket } from "node:net";
import { afterAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { giveTime } from "../../../../../scripts/testing/give-time.ts";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";
import { sending } from "../../testing/raw-socket.ts";
import { smallServers } from "../../testing/small-server.ts";
import { metricOf } from "../../testing/waiting/metrics.ts";

// Answers of the largest legal size, many at once and unread, on a heap of 192 MB.

const HEAP_MB = 192;
const COUNT = 30;
const TOKENS = 10;
const app = await startApp();
const smallServer = smallServers(app);
const slides = "/v1/models/slide";
const ids = Array.from({ length: COUNT }, (_, n) => `large${n}`);
/** Text of almost 1 MB that Postgres stores in a hundredth of it. */
const text = (n: number) => `${n} large `.repeat(1_040_000).slice(0, 1_040_000);

for (const id of ids) await app.call("POST", slides, { json: { id, data: { title: "a" } } });
for (const [n, id] of ids.entries()) await app.call("PATCH", `${slides}/${id}`, { json: { data: { notes: text(n) } } });
const tokens = await Promise.all(Array.from({ length: TOKENS }, async () => (await app.newKey()).token));

const unread: { destroy(): void }[] = [];
const closeUnread = () => {
  for (const one of unread.splice(0)) one.destroy();
};
afterAll(closeUnread);

const stale = (id: string) => ({
  ...{ action: "update", model: "slide", id, data: { notes: "mine" } },
  ...{ readAt: 1, onStale: "notify" },
});
const apart = (n: number) => ({
  commits: ids.map((id) => ({ clientTxId: `apart-${n}-${id}`, operations: [stale(id)] })),
});
const together = (n: number) => ({ commits: [{ clientTxId: `together-${n}`, operations: ids.map(stale) }] });

/** Sends a request whose answer is not read. */
async function leaveUnread(url: string, token: string, method: string, path: string, body?: object): Promise<Socket> {
  const payload = body === undefined ? "" : JSON.stringify(body);
  const head = [
    `${method} ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${token}`,
    ...(body === undefined ? [] : ["content-type: application/json", `content-length: ${payload.length}`]),
  ];
  const socket = await sending(url, `${head.join("\r\n")}\r\n\r\n${payload}`);
  unread.push(socket.pause());
  return socket;
}

test.each<[string, string, string, ((n: number) => object)?]>([
  ["bulks of 30 commits", "POST", "/v1/commits/bulk", apart],
  ["bulks of one commit", "POST", "/v1/commits/bulk", together],
  ["commits", "POST", "/v1/commits", (n) => ({ clientTxId: `one-${n}`, operations: ids.map(stale) })],
  ["single writes", "PATCH", `${slides}/large0`, () => ({ data: { notes: "mine" }, readAt: 1, onStale: "notify" })],
  ["lists", "GET", `${slides}?limit=100`],
  ["lists by a query", "POST", `${slides}/query`, () => ({ limit: 100 })],
  ["snapshots", "GET", "/v1/snapshot?model=slide"],
  ["pages of the log", "GET", "/v1/log?after=0&limit=1000"],
  ["histories", "GET", `${slides}/large0/history?limit=100`],
  ["records", "GET", `${slides}/large0`],
  ["descriptions", "GET", "/openapi.json"],
  ["schemas", "GET", "/v1/schema"],
])(
  "[B11] 32 unread %s of each of 10 tokens do not end a process with a heap of 192 MB",
  async (_, method, path, body) => {
    const { url, call, child, log } = await smallServer(HEAP_MB, { metricsLoopback: true });
    for (const [at, token] of tokens.entries())
      await Promise.all(
        Array.from({ length: 32 }, (_, n) => leaveUnread(url, token, method, path, body?.(100 * at + n))),
      );
    // All are judged once the newest write is.
    await until(async () => {
      const { status } = await call("POST", slides, { json: { id: "small", data: {} } });
      return status === 200 || status === 409;
    });
    await giveTime(2_000);
    expect(log()).toBe("");
    expect(child.exitCode).toBeNull();
    expect(await metricOf(call, "holdfast_answer_bytes")).toBeLessThanOrEqual((HEAP_MB * 2 ** 20) / 2);
    closeUnread();
    await until(async () => (await metricOf(call, "holdfast_answer_bytes")) === 0);
    child.kill("SIGKILL");
  },
  240_000,
);

test("[B11] 200 sockets that catch up and do not read do not end it either", async () => {
  const { url, call, child, log } = await smallServer(HEAP_MB, { metricsLoopback: true });
  await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/v1/stream`, ["holdfast.v1"]);
      socket.on("error", () => {});
      unread.push({ destroy: () => socket.terminate() });
      await new Promise<void>((resolve) => socket.once("open", () => resolve()));
      // Each has a view of its own, so none shares its frames.
      const where = { slide: { order: { gte: -n } } };
      socket.send(
        JSON.stringify({ frame: "hello", token: tokens[n % TOKENS], since: COUNT, models: ["slide"], where }),
      );
      await new Promise<void>((resolve) => socket.once("message", () => resolve()));
      (socket as unknown as { _socket: Socket })._socket.pause();
    }),
  );
  // Sockets that read nothing for 10 s are closed.
  await giveTime(5_000);
  expect(await metricOf(call, "holdfast_answer_bytes")).toBeLessThanOrEqual((HEAP_MB * 2 ** 20) / 4);
  expect(log()).toBe("");
  expect(child.exitCode).toBeNull();
  expect((await call("GET", `${slides}/large0`)).status).toBe(200);
  closeUnread();
  await until(async () => (await metricOf(call, "holdfast_answer_bytes")) === 0);
  child.kill("SIGKILL");
}, 240_000);
