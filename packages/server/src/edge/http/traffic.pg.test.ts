import { serverLimits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { tokenOf } from "../../kernel/tokens/rules/token.ts";
import { ADMIN, rawRequest, startApp } from "../../testing/app.ts";
import { holdClock } from "../../testing/held-clock.ts";
import { sending, textOf } from "../../testing/raw-socket.ts";
import { openStream } from "../../testing/stream/stream.ts";
import { countReceived, metricOf } from "../../testing/waiting/metrics.ts";

const app = await startApp();
const SLIDES = "/v1/models/slide";
const madeUp = (at: number) => tokenOf("sk_live_", String(at).padStart(30, "0"));

test("[B2] a request whose answer waits behind another one on its connection leaves its place when the connection ends", async () => {
  const { call, server } = await app.another({
    limits: { inFlightSk: 2, waitingPerToken: 0 },
    metricsLoopback: true,
  });
  const { token } = await app.newKey();
  const requests = [SLIDES, "/v1/identity"].map(
    (path) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`,
  );
  for (let i = 0; i < 2; i += 1) {
    const holder = await app.hold("lock table holdfast.record in access exclusive mode");
    const socket = await sending(server.url, requests.join(""));
    // The second answer is ready, and waits for the first.
    await until(async () => (await metricOf(call, "holdfast_answer_bytes")) > 0);
    socket.destroy();
    await until(async () => (await metricOf(call, "holdfast_answer_bytes")) === 0);
    await holder.release();
    await until(async () => (await call("GET", SLIDES, { token })).status === 200);
  }
  // Each round would have kept the place of its second request.
  expect((await call("GET", SLIDES, { token })).status).toBe(200);
});

test("[B2] requests beyond the concurrency limit wait in order, and are then answered 429", async () => {
  const { call } = await app.another({ limits: { inFlightSk: 1, waitingPerToken: 2, waitingMs: 60_000 } });
  await call("POST", SLIDES, { json: { id: "b2", data: {} } });
  const holder = await app.hold("lock table holdfast.record in access exclusive mode");
  const [first, second, third, fourth] = ["a", "b", "c", "d"].map((id) => call("GET", `${SLIDES}/${id}`));
  // Two may wait; of the other two one runs, and one was too many.
  const soonest = await Promise.race([first, second, third, fourth]);
  expect(soonest?.status).toBe(429);
  expect(soonest?.body.code).toBe("rate_limited");
  expect(soonest?.headers["retry-after"]).toBe("1");
  // Others are not held up: neither another token, nor a request without one.
  expect((await call("GET", "/livez", { token: null })).status).toBe(200);
  expect((await call("GET", "/v1/log", { token: app.keys.other })).status).toBe(200);
  await holder.release();
  const statuses = (await Promise.all([first, second, third, fourth])).map((answer) => answer?.status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  // If the machine stalls for more than 5 s, the one that runs waits too long for the lock.
  for (const status of statuses) expect([404, 429, 503]).toContain(status);
});

test("[B2] a request that hangs up, even before it has sent its body, holds no place", async () => {
  const { call, server } = await app.another({ metricsLoopback: true, limits: { inFlightSk: 1, waitingMs: 60_000 } });
  for (let i = 0; i < 3; i += 1) {
    const received = await countReceived(call);
    const socket = await sending(
      server.url,
      `POST ${SLIDES} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.keys.live}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    );
    await received.reaches(1);
    socket.destroy();
    expect((await call("GET", SLIDES)).status).toBe(200);
  }
});

test("[B2] requests that wait for news are counted apart", async () => {
  const { call } = await app.another({
    metricsLoopback: true,
    limits: { inFlightSk: 1, longPollsSk: 2, waitingPerToken: 0 },
  });
  const stamp = String((await call("GET", "/v1/log?limit=1")).body.stamp);
  const received = await countReceived(call);
  const polls = [1, 2].map(() => call("GET", `/v1/log?after=${stamp}&wait=20000`));
  await received.reaches(2);
  const [third, read, brief] = [
    await call("GET", `/v1/log?after=${stamp}&wait=1000`),
    await call("GET", SLIDES),
    await call("GET", `/v1/log?after=${stamp}&wait=0`),
  ];
  expect(third.status).toBe(429);
  expect(read.status).toBe(200);
  expect(brief.status).toBe(200);
  await app.call("POST", SLIDES, { json: { id: "news", data: {} } });
  expect((await Promise.all(polls)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await call("GET", `/v1/log?after=${stamp}&wait=1`)).status).toBe(200);
});

test("[B3] a token has so many sockets; one that closes makes room", async () => {
  const { server } = await app.another({ limits: { socketsPerToken: 2 } });
  const hello = async (token: string) => {
    const stream = await openStream(server.url);
    stream.send({ frame: "hello", token });
    return stream;
  };
  const [one, two] = [await hello(app.keys.live), await hello(app.keys.live)];
  await Promise.all([one.next("welcome"), two.next("welcome")]);
  const three = await hello(app.keys.live);
  expect(await three.next("error")).toMatchObject({ type: "rate_limit_error", code: "rate_limited" });
  expect((await three.closed).code).toBe(4429);
  const other = await hello(app.keys.other);
  await other.next("welcome");
  await one.close();
  await until(async () =>
    expect(
      await (async () => {
        const next = await hello(app.keys.live);
        const answer = await Promise.race([next.next("welcome"), next.next("error")]);
        await next.close();
        return answer.frame;
      })(),
    ).toBe("welcome"),
  );
  await Promise.all([two.close(), other.close()]);
});

test("[B4] guessed tokens are soon not looked up any more; a valid token from the same address passes", async () => {
  const clock = holdClock();
  const { call, server } = await app.another({ limits: { rateFailedAuth: 1 } });
  expect((await call("GET", "/v1/log")).status).toBe(200);
  const guess = () => Promise.all(Array.from({ length: 12 }, (_, i) => call("GET", "/v1/log", { token: madeUp(i) })));
  // Those that come at the same time may all be looked at before the first is found to be wrong.
  const guesses = [...(await guess()), ...(await guess())];
  const refused = guesses.filter(({ status }) => status === 429);
  expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([401, 429]));
  expect(refused[0]?.body).toMatchObject({ code: "rate_limited", message: expect.stringMatching(/valid token/) });
  expect(refused[0]?.headers["retry-after"]).toBe("1");
  // No token is one without a valid token; a good one that was seen before is let in, and so is the operator.
  expect((await call("GET", "/v1/log", { token: null })).status).toBe(429);
  expect((await call("GET", "/v1/log")).status).toBe(200);
  expect((await call("GET", "/v1/organizations", { token: ADMIN })).status).toBe(200);
  const stream = await openStream(server.url);
  stream.send({ frame: "hello", token: madeUp(99) });
  expect((await stream.closed).code).toBe(4429);
  const good = await openStream(server.url);
  good.send({ frame: "hello", token: app.keys.live });
  await good.next("welcome");
  await good.close();
  clock.pass(2_500);
  expect((await call("GET", "/v1/log", { token: madeUp(100) })).status).toBe(401);
});

test("[B4] [B9] the address is the one that a trusted proxy reports, and a valid token passes in spite of its address's failures", async () => {
  holdClock();
  const { call } = await app.another({ trustProxy: ["127.0.0.0/8", "::1"], limits: { rateFailedAuth: 1 } });
  const as = (address: string, token: string | null) =>
    call("GET", "/v1/log", { token, headers: { "x-forwarded-for": `203.0.113.9, ${address}` } });
  const guesses = await Promise.all(Array.from({ length: 10 }, (_, i) => as("192.0.2.1", madeUp(i))));
  expect(guesses.some(({ status }) => status === 429)).toBe(true);
  expect((await as("192.0.2.1", null)).status).toBe(429);
  expect((await as("192.0.2.2", null)).status).toBe(401);
  // Never seen in this process before.
  const { token } = await app.newKey();
  await Promise.all(Array.from({ length: 10 }, (_, i) => as("192.0.2.1", madeUp(i))));
  expect((await as("192.0.2.1", token)).status).toBe(200);
});

test("[B4] guesses on the stream count too", async () => {
  holdClock();
  const { call, server } = await app.another({ limits: { rateFailedAuth: 1 } });
  for (let i = 0; i < 6; i += 1) {
    const stream = await openStream(server.url);
    stream.send({ frame: "hello", token: madeUp(i) });
    await stream.closed;
  }
  expect((await call("GET", "/v1/log", { token: madeUp(9) })).status).toBe(429);
});

test("[B5] headers that take too long end their connection, and no other", async () => {
  expect(serverLimits.headersMs).toBe(20_000);
  expect(serverLimits.requestMs).toBe(120_000);
  const { call, server } = await app.another({ limits: { headersMs: 1_000 } });
  expect((await call("GET", SLIDES)).status).toBe(200);
  const slow = await sending(server.url, "GET /livez HTTP/1.1\r\nhost: x\r\n");
  // Its headers never end: each byte comes in time after the one before.
  const drip = setInterval(() => slow.write("x"), 100);
  const text = await textOf(slow);
  clearInterval(drip);
  expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*took too long to arrive/);
  expect((await call("GET", SLIDES)).status).toBe(200);
});

test("[B5] so does a body", async () => {
  const { server } = await app.another({ limits: { headersMs: 1_000, requestMs: 1_200 } });
  const head = `POST ${SLIDES} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.keys.live}\r\ncontent-type: application/json\r\nconnection: close\r\n`;
  const slow = await sending(server.url, `${head}content-length: 100\r\n\r\n{`);
  expect(await textOf(slow)).toMatch(/^HTTP\/1\.1 400 [\s\S]*took too long to arrive/);
});

test("[B6] [H5] the limits of headers can be set", async () => {
  const { call, server } = await app.another({ limits: { headerBytes: 2_048, headerCount: 10 } });
  expect((await call("GET", "/livez", { headers: { "x-long": "x".repeat(1_500) } })).status).toBe(200);
  expect((await call("GET", "/livez", { headers: { "x-long": "x".repeat(2_500) } })).status).toBe(431);
  const some = (count: number) =>
    rawRequest(
      server.url,
      `GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${"x-a: 1\r\n".repeat(count - 2)}\r\n`,
    );
  expect(await some(10)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await some(11)).toMatch(/^HTTP\/1\.1 431 /);
});
