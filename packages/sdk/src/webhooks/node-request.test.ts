import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { giveTime } from "../../../../scripts/testing/give-time.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { createWebhookHandler, type WebhookHandler } from "./create-webhook-handler.ts";
import { signWebhook } from "./signature.ts";
import { secret, slideUpdated } from "./testing/deliveries.ts";

/** A real server around the handler, and the result of each request. */
async function served(
  listen: (handler: WebhookHandler) => RequestListener = (handler) => handler.node,
  options: { bodyLimit?: number } = {},
) {
  const seen: number[] = [];
  const errors: unknown[] = [];
  const handler = createWebhookHandler({
    secret,
    onEvent: ({ syncId }) => void seen.push(syncId),
    onError: (error) => void errors.push(error),
    ...options,
  });
  const server = createServer(listen(handler)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const post = async (body: string, change: RequestInit = {}) => {
    const headers = await signWebhook({ secret, id: "msg_1", body });
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body, ...change });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
  };
  return { post, port, seen, errors };
}

const batch = (...syncIds: number[]) => JSON.stringify({ data: syncIds.map(slideUpdated), logId: "log_1" });

test("[W48] Node's own server: a delivery is applied, and what is wrong is said", async () => {
  const { post, seen } = await served();
  expect(await post(batch(1, 2))).toMatchObject({ status: 200, body: { applied: 2, known: 0 } });
  expect(await post(batch(1, 2, 3))).toMatchObject({ status: 200, body: { applied: 1, known: 2 } });
  expect(await post(batch(4), { headers: { "webhook-id": "x" } })).toMatchObject({ status: 400 });
  expect(await post(batch(4), { body: batch(5) })).toMatchObject({
    status: 401,
    body: { code: "signature_mismatch", message: expect.any(String) },
  });
  const response = await post("", { method: "PUT" });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("POST");
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(seen).toEqual([1, 2, 3]);
});

test("[W48] Node's own server: a body beyond the limit is 413, with or without Content-Length, and the next request is read", async () => {
  const limit = Buffer.byteLength(batch(1));
  const { post, seen } = await served(undefined, { bodyLimit: limit });
  expect((await post(batch(1))).status).toBe(200);
  expect(await post(`${batch(1)} `)).toMatchObject({ status: 413, body: { code: "body_too_large" } });
  const untold = new Blob([new Uint8Array(5_000_000)]).stream();
  expect(await post(batch(1), { body: untold, duplex: "half" } as RequestInit)).toMatchObject({ status: 413 });
  expect((await post(batch(2))).status).toBe(200);
  expect(seen).toEqual([1, 2]);
});

test("[W48] Node's own server: an aborted request leaves nothing behind", async () => {
  let answered: Promise<void> | undefined;
  const { port, post, seen } = await served((handler) => (request, response) => {
    answered = handler.node(request, response);
  });
  const socket = connect(port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  await until(() => expect(answered !== undefined).toBe(true));
  socket.resetAndDestroy();
  await answered;
  expect((await post(batch(1))).status).toBe(200);
  expect(seen).toEqual([1]);
});

/** What frameworks do before a handler is called. */
type Before = (request: IncomingMessage) => Promise<void>;
const leave = (request: IncomingMessage, more: { body?: unknown; rawBody?: unknown }) =>
  void Object.assign(request, more);
const after =
  (before: Before) => (handler: WebhookHandler) => async (request: IncomingMessage, response: ServerResponse) => {
    await before(request);
    await handler.node(request, response);
  };

test.each<[string, Before]>([
  ["bytes in body", async (request) => leave(request, { body: Buffer.from(await text(request)) })],
  ["text in body", async (request) => leave(request, { body: await text(request) })],
  [
    "bytes in rawBody beside a parsed body",
    async (request) => {
      const raw = await text(request);
      leave(request, { rawBody: Buffer.from(raw), body: JSON.parse(raw) });
    },
  ],
  ["an empty body that was not read", async (request) => leave(request, { body: {} })],
  ["text instead of bytes", async (request) => void request.setEncoding("utf8")],
  ["it paused", async (request) => void request.pause()],
  ["some time", () => giveTime(20)],
])("[W48] after a framework that leaves %s", async (_, before) => {
  const { post, seen } = await served(after(before), { bodyLimit: 1_000 });
  expect((await post(batch(1, 2))).status).toBe(200);
  expect(seen).toEqual([1, 2]);
  expect((await post(JSON.stringify("x".repeat(1_000)))).status).toBe(413);
});

test.each<[string, Before]>([
  ["only an object", async (request) => leave(request, { body: JSON.parse(await text(request)) })],
  ["nothing", async (request) => void (await text(request))],
])("[W48] after a framework that leaves %s it says what to do", async (_, before) => {
  const { post, seen, errors } = await served(after(before));
  expect(await post(batch(1))).toMatchObject({
    status: 500,
    body: { code: "body_not_raw", message: expect.stringContaining("Mount this handler before the JSON parser") },
  });
  expect(errors).toMatchObject([{ code: "body_not_raw" }]);
  expect(seen).toEqual([]);
});

test("[W48] a request that was given up, or answered by others, before the handler's turn ends nothing", async () => {
  const turns: Promise<void>[] = [];
  const { port, post } = await served((handler) => (request, response) => {
    const isOurs = request.headers["x-ours"] === "1";
    const before = isOurs ? Promise.resolve() : new Promise((resolve) => request.once("close", resolve));
    if (!isOurs && request.headers["x-answered"]) response.end("{}");
    turns.push(before.then(() => handler.node(request, response)));
  });
  const socket = connect(port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  await until(() => expect(turns.length).toBe(1));
  socket.resetAndDestroy();
  await turns[0];
  expect(await post("", { headers: { "x-answered": "1" } })).toMatchObject({ status: 200, body: {} });
  await turns[1];
  const headers = { ...(await signWebhook({ secret, id: "m", body: batch(1) })), "x-ours": "1" };
  expect((await post(batch(1), { headers })).status).toBe(200);
});
