import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { ADMIN, startApp } from "../../testing/app.ts";
import { startReceiver } from "../../testing/receiver.ts";
import { openStream } from "../../testing/stream/stream.ts";
import { untilBlocked } from "../../testing/waiting/blocked.ts";

const app = await startApp({ metricsLoopback: true, webhooks: { allowPrivate: true } });
const { call, keys } = app;
const slides = "/v1/models/slide";

/** Every sample, by its name and labels as written. */
async function read(of = call): Promise<Readonly<Record<string, number>>> {
  const { status, headers, text } = await of("GET", "/metrics", { token: null });
  expect(status).toBe(200);
  expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  const told = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of told) expect(line).toMatch(/^[a-z_]+(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? \S+$/);
  for (const name of new Set(told.map((line) => line.replace(/(_bucket|_sum|_count)?[{ ].*$/, "")))) {
    expect(text).toContain(`# HELP ${name} `);
    expect(text).toMatch(new RegExp(`^# TYPE ${name} (counter|gauge|histogram)$`, "m"));
  }
  return Object.fromEntries(told.map((line) => [line.replace(/ \S+$/, ""), Number(line.replace(/^.* /, ""))]));
}

test("[O11] every request to this process is counted, whatever the response", async () => {
  const before = await read();
  const { body } = await call("POST", slides, { json: { id: "a", data: { title: "a" } }, key: "k1" });
  await call("POST", slides, { json: { id: "a", data: { title: "a" } }, key: "k1" });
  await call("POST", "/v1/commits", {
    json: {
      operations: [
        { action: "create", model: "slide", id: "b", data: {} },
        { action: "update", model: "slide", id: "a", data: { title: "b" }, readAt: body.lastSyncId },
      ],
    },
  });
  expect((await call("GET", `${slides}/a`)).status).toBe(200);
  expect((await call("GET", `${slides}/none`)).status).toBe(404);
  expect((await call("GET", "/nowhere")).status).toBe(404);
  expect((await call("GET", slides, { token: null })).status).toBe(401);
  const after = await read();
  const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
  // The seven, and the one that reads this.
  expect(grown("holdfast_requests_total")).toBe(8);
  expect(grown('holdfast_refusals_total{code="record_not_found"}')).toBe(1);
  expect(grown('holdfast_refusals_total{code="route_not_found"}')).toBe(1);
  expect(grown('holdfast_refusals_total{code="auth_no_credentials"}')).toBe(1);
  expect(grown("holdfast_commits_total")).toBe(2);
  expect(grown("holdfast_operations_total")).toBe(3);
  expect(grown("holdfast_reads_total")).toBe(1);
  // A replay is a transaction too.
  expect(grown("holdfast_round_seconds_count")).toBe(3);
  expect(grown("holdfast_round_seconds_sum")).toBeGreaterThan(0);
  expect(after['holdfast_round_seconds_bucket{le="+Inf"}']).toBe(after.holdfast_round_seconds_count);
  expect(after.process_resident_memory_bytes).toBeGreaterThan(1e7);
  expect(after.nodejs_heap_used_bytes).toBeGreaterThan(1e6);
  expect(after.process_start_time_seconds).toBeCloseTo(Date.now() / 1_000 - process.uptime(), 0);
  expect(grown("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(grown("nodejs_eventloop_active_seconds_total")).toBeGreaterThan(0);
});

test("[O11] the metrics show current activity: sockets, jobs that wait for the lane, database connections", async () => {
  expect(await read()).toMatchObject({
    holdfast_streams: 0,
    holdfast_commits_waiting: 0,
    holdfast_database_waiting: 0,
  });
  const streams = await Promise.all([openStream(app.url), openStream(app.url)]);
  const holder = await app.hold("select from holdfast.head for update");
  const first = call("POST", slides, { json: { id: "w0", data: {} } });
  // The lane is busy with the first, which waits for the head; the others wait for the lane.
  await untilBlocked(app);
  const others = [1, 2, 3].map((i) => call("POST", slides, { json: { id: `w${i}`, data: {} } }));
  await until(async () => expect((await read()).holdfast_commits_waiting).toBeGreaterThanOrEqual(3));
  expect((await read()).holdfast_streams).toBe(2);
  await holder.release();
  for (const { status } of await Promise.all([first, ...others])) expect(status).toBe(200);
  await Promise.all(streams.map((stream) => stream.close()));
  await until(async () => expect(await read()).toMatchObject({ holdfast_streams: 0, holdfast_commits_waiting: 0 }));
  const after = await read();
  expect(after['holdfast_database_connections{state="idle"}']).toBeGreaterThan(0);
  expect(after['holdfast_database_connections{state="busy"}']).toBeGreaterThanOrEqual(0);
});

test("[O11] the webhook metrics cover all processes; if the database does not answer, they are left out", async () => {
  const { call: askAnother } = await app.another();
  const receiver = await startReceiver();
  receiver.always(500);
  const endpoint = async () =>
    String((await call("POST", "/v1/webhook_endpoints", { json: { url: receiver.url, from: 0 } })).body.id);
  const disabled = await endpoint();
  await call("POST", `/v1/webhook_endpoints/${disabled}/disable`);
  await endpoint();
  const { body } = await call("POST", slides, { json: { id: "hooked", data: {} } });
  for (const one of [call, askAnother])
    await until(async () =>
      expect(await read(one)).toMatchObject({
        'holdfast_webhook_endpoints{status="enabled"}': 0,
        'holdfast_webhook_endpoints{status="failing"}': 1,
        'holdfast_webhook_endpoints{status="disabled"}': 1,
        holdfast_webhook_lag_entries: body.lastSyncId,
      }),
    );
  const holder = await app.hold("lock table holdfast.webhook_endpoint in access exclusive mode");
  const without = await read();
  expect(Object.keys(without).filter((name) => name.startsWith("holdfast_webhook_endpoints"))).toEqual([]);
  expect(without).not.toHaveProperty("holdfast_webhook_lag_entries");
  expect(without.holdfast_requests_total).toBeGreaterThan(0);
  await holder.release();
  const failures = 'holdfast_background_failures_total{event="metrics_failed"}';
  await until(async () => {
    const again = await read();
    expect(again.holdfast_webhook_lag_entries).toBe(body.lastSyncId);
    expect(again[failures]).toBeGreaterThan(0);
  });
  expect(await read(askAnother)).not.toHaveProperty(failures);
});

test("[O11] [O37] without a token, and unless programs of this machine may, it is off", async () => {
  const { call: ask } = await app.another({ metricsLoopback: false });
  for (const token of [null, keys.live, ADMIN]) {
    const { status, body } = await ask("GET", "/metrics", { token });
    expect(status).toBe(401);
    expect(body.code).toBe("auth_no_credentials");
    expect(body.message).toContain("HOLDFAST_METRICS_LOOPBACK=1");
  }
});

test("[O11] [O37] without a token of its own it is shown to this machine alone, and not through a proxy", async () => {
  for (const path of ["/metrics", "/api/metrics"]) {
    expect((await call("GET", path, { token: null })).status).toBe(200);
    expect((await call("HEAD", path, { token: null })).status).toBe(200);
    for (const headers of [{ forwarded: "for=192.0.2.1" }, { "x-forwarded-for": "127.0.0.1" }, { via: "1.1 proxy" }])
      for (const token of [null, keys.live]) {
        const { status, body } = await call("GET", path, { token, headers });
        expect(status).toBe(401);
        expect(body.code).toBe("auth_no_credentials");
        expect(body.message).toContain("HOLDFAST_METRICS_TOKEN");
      }
  }
});

const [outer] = Object.values(networkInterfaces())
  .flat()
  .filter((one) => one?.family === "IPv4" && !one.internal);

test.runIf(outer)("[O11] nor over another address of this machine", async () => {
  const { server } = await app.another({ host: "0.0.0.0" });
  const { port } = new URL(server.url);
  const status = async (host: string) => (await fetch(`http://${host}:${port}/metrics`)).status;
  expect(await status("127.0.0.1")).toBe(200);
  expect(await status(outer?.address ?? "")).toBe(401);
});

test("[O11] [O37] with a metrics token set, only requests with that token may read the metrics", async () => {
  const metricsToken = "metrics_token_of_the_tests";
  const { call: ask } = await app.another({ metricsToken, limits: { rateFailedAuth: 3 } });
  const answer = async (token: string | null, headers = {}) => {
    const { status, body } = await ask("GET", "/metrics", { token, headers });
    return [status, body.code];
  };
  expect(await answer(metricsToken)).toEqual([200, undefined]);
  expect(await answer(metricsToken, { "x-forwarded-for": "192.0.2.1" })).toEqual([200, undefined]);
  expect(await answer(null)).toEqual([401, "auth_no_credentials"]);
  expect(await answer(keys.live)).toEqual([401, "apikey_invalid"]);
  expect(await answer(`${metricsToken}x`)).toEqual([401, "apikey_invalid"]);
  // After too many guesses a request is refused without a check of its token.
  expect(await answer("another_guess_of_mine")).toEqual([429, "rate_limited"]);
  expect(await answer(metricsToken)).toEqual([200, undefined]);
});
