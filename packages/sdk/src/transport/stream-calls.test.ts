import { expect, test } from "vitest";
import type { ExchangeRequest } from "./exchange.ts";
import { StreamCalls, streamFirst } from "./stream-calls.ts";

const request = (more: Partial<ExchangeRequest> = {}): ExchangeRequest => ({
  ...{ call: { name: "commitBulk" }, method: "POST", url: "", token: "a", body: '{"commits":[]}', keepalive: false },
  ...more,
});
const never = new AbortController().signal;

function open(most = 8) {
  const frames: string[] = [];
  const calls = new StreamCalls((text) => void frames.push(text));
  calls.live("a", most);
  return { calls, frames };
}

test("[N48] a request goes on the open stream, its body byte for byte, and gets the answer of its number", async () => {
  const { calls, frames } = open();
  const body = '{"commits":[ {"a": 1.0} ]}';
  const first = calls.call(request({ body }), never);
  const second = calls.call(request({ call: { name: "releaseClaim", params: { id: "c/1" } }, body: undefined }), never);
  expect(frames).toEqual([
    `{"frame":"call","n":1,"name":"commitBulk","body":${body}}`,
    '{"frame":"call","n":2,"name":"releaseClaim","params":{"id":"c/1"}}',
  ]);
  calls.answered({
    frame: "answer",
    n: 2,
    status: 429,
    headers: { "retry-after": "1" },
    body: { code: "rate_limited" },
  });
  calls.answered({ frame: "answer", n: 1, status: 200, body: { data: [] } });
  expect(await second).toEqual({ status: 429, retryAfter: "1", body: { parsed: { code: "rate_limited" } } });
  expect(await first).toMatchObject({ status: 200, body: { parsed: { data: [] } } });
});

test.each<readonly [what: string, more: Partial<ExchangeRequest>]>([
  ["is large", { body: `"${"x".repeat(50_000)}"` }],
  ["is large in UTF-8", { body: `"${"€".repeat(17_000)}"` }],
  ["has another token", { token: "b" }],
  ["outlives the page", { keepalive: true }],
  ["reads a page", { call: { name: "readLog" }, body: undefined }],
  ["waits", { call: { name: "readClaim", query: "wait=25" }, body: undefined }],
])("[N48] a request that %s goes over HTTP", async (_, more) => {
  const { calls, frames } = open();
  const over = { status: 200, retryAfter: null, body: { parsed: "http" } };
  expect(await streamFirst(calls, async () => over)(request(more), never)).toBe(over);
  expect(frames).toEqual([]);
});

test("[N48] [N95] so does what comes while the stream is not live, or has as many calls in flight as the server takes", async () => {
  const { calls } = open(1);
  expect(calls.call(request(), never)).toBeDefined();
  expect(calls.call(request(), never)).toBeUndefined();
  calls.answered({ frame: "answer", n: 1, status: 200, body: {} });
  calls.live(undefined);
  expect(calls.call(request(), never)).toBeUndefined();
  // A server of before takes none.
  calls.live("a", 0);
  expect(calls.call(request(), never)).toBeUndefined();
});

test("[N48] [N94] the request after one that was lost goes over HTTP, for a proxy may stop some frames", async () => {
  const { calls } = open();
  const given = new AbortController();
  const lost = calls.call(request(), never);
  const claim = request({ call: { name: "releaseClaim" }, body: undefined });
  const aborted = calls.call(claim, given.signal);
  given.abort();
  calls.closed();
  await Promise.allSettled([lost, aborted]);
  calls.live("a", 8);
  expect(calls.call(request(), never)).toBeUndefined();
  expect(calls.call(claim, never)).toBeUndefined();
  expect(calls.call(request(), never)).toBeDefined();
  expect(calls.call(claim, never)).toBeDefined();
});

test("[N48] [N94] what became of a call is unknown if the stream closes, or the request is given up", async () => {
  const { calls } = open();
  const given = new AbortController();
  const [lost, aborted] = [calls.call(request(), never), calls.call(request(), given.signal)];
  given.abort();
  await expect(aborted).rejects.toThrow("interrupted");
  calls.closed();
  await expect(lost).rejects.toThrow("interrupted");
  // An answer that comes too late ends nothing.
  calls.answered({ frame: "answer", n: 1, status: 200, body: {} });
  expect(calls.call(request(), never)).toBeUndefined();
});
