import { afterAll, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { openNotices } from "../../kernel/connection/notifications.ts";
import { newMasterKey, newSecretToken } from "../../server.ts";
import { type Answer, type Call, startApp } from "../../testing/app.ts";
import { type FreezingProxy, freezingProxy } from "../../testing/freezing-proxy.ts";
import { startProgram } from "../../testing/programs/program.ts";
import { follow } from "../../testing/stream/stream.ts";

const app = await startApp();
const proxies: FreezingProxy[] = [];
afterAll(() => {
  for (const proxy of proxies) proxy.close();
});

async function behindProxy() {
  const proxy = await freezingProxy(app.databaseUrl);
  proxies.push(proxy);
  return proxy;
}

const write = (call: Call, id: string) => call("POST", "/v1/models/slide", { json: { id, data: {} } });

async function timed(asked: Promise<Answer>): Promise<{ status: number; ms: number }> {
  const begun = performance.now();
  const { status } = await asked;
  return { status, ms: performance.now() - begun };
}

test.concurrent("[O15] a database that goes silent: 503 in time, and new connections when it is back", async ({
  expect,
}) => {
  const proxy = await behindProxy();
  const { server, call } = await app.another({ databaseUrl: proxy.url });
  expect((await write(call, "before")).status).toBe(200);
  expect((await call("GET", "/readyz")).status).toBe(200);
  proxy.freeze();
  const [first, read, ready] = await Promise.all([
    timed(write(call, "frozen")),
    timed(call("GET", "/v1/models/slide/before")),
    new Promise((resolve) => setTimeout(resolve, 1_000)).then(() => timed(call("GET", "/readyz"))),
  ]);
  expect(first.status).toBe(503);
  expect(first.ms).toBeLessThan(12_000);
  expect(read.status).toBe(503);
  expect(read.ms).toBeLessThan(12_000);
  expect(ready.status).toBe(503);
  expect(ready.ms).toBeLessThan(2_000);
  // What comes while it is known to be away.
  const second = await timed(write(call, "still-frozen"));
  expect(second.status).toBe(503);
  expect(second.ms).toBeLessThan(12_000);
  // Those that were frozen stay so: only new connections can help.
  proxy.thaw();
  const begun = performance.now();
  while ((await write(call, "after")).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
  await until(async () => expect(await (await call("GET", "/readyz")).status).toBe(200));
  expect(performance.now() - begun).toBeLessThan(10_000);
  await server.close();
});

test.concurrent("[O15] a process that only listens notices it too, and then receives messages again", async ({
  expect,
}) => {
  const proxy = await behindProxy();
  let opened = 0;
  const received: string[] = [];
  const notices = openNotices(proxy.url, {
    channel: "silent",
    received: (_, text) => received.push(text),
    opened: () => (opened += 1),
  });
  await until(() => expect(opened).toBe(1));
  proxy.freeze();
  proxy.thaw();
  await until(() => expect(opened).toBe(2));
  await app.sql("select pg_notify('silent', 'me again')");
  await until(() => expect(received).toEqual(["again"]));
  await notices.close();
});

test.concurrent("[O15] [O5] SIGTERM ends a process with 0 while its database is silent", async ({ expect }) => {
  const proxy = await behindProxy();
  const key = newSecretToken(true);
  const program = startProgram({
    DATABASE_URL: proxy.url,
    HOLDFAST_SECRET_KEY: key,
    HOLDFAST_MASTER_KEY: newMasterKey(),
  });
  afterAll(() => void program.child.kill("SIGKILL"));
  const url = await program.url;
  const stream = await follow(url, key);
  proxy.freeze();
  const pending = fetch(`${url}/v1/commits`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ operations: [{ action: "create", model: "none", id: "x", data: {} }] }),
  }).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 200));
  const begun = performance.now();
  expect(await program.stop()).toEqual({ code: 0, signal: null });
  expect(performance.now() - begun).toBeLessThan(10_000);
  await Promise.all([pending, stream.closed]);
});
