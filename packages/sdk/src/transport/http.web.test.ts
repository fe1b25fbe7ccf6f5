import { expect, test } from "vitest";
import { systemClock } from "../engine/system.ts";
import { httpServer } from "./http.ts";
import { kyExchange } from "./ky-exchange.ts";
import { tokenSource } from "./token.ts";

const { signal } = new AbortController();
const serverAt = (url: string, fetch?: typeof globalThis.fetch) =>
  httpServer({
    ...{ url, timeoutMs: 10_000, models: [], exchange: kyExchange(fetch) },
    token: tokenSource(() => "t", systemClock),
  });

test("[N8] a farewell outlives the page: the browser takes it with `keepalive`, with and without a body", async () => {
  const requests: Request[] = [];
  const noting: typeof fetch = (input, init) => {
    requests.push(input as Request);
    return fetch(input, init);
  };
  // The server of these tests: it answers something to everything.
  const server = serverAt(location.origin, noting);
  const body = { text: "ä😀" };
  const params = { model: "m", id: "r" };
  expect(await server.request("releaseClaim", { params, keepalive: true }, signal)).toMatchObject({ kind: "answer" });
  expect(await server.request("releaseRecord", { params, body, keepalive: true }, signal)).toMatchObject({
    kind: "answer",
  });
  expect(requests.map(({ method, keepalive }) => [method, keepalive])).toEqual([
    ["DELETE", true],
    ["DELETE", true],
  ]);
});

test("[N10] a request without an answer counts as no response", async () => {
  expect(await serverAt("http://127.0.0.1:9").send("{}", signal)).toMatchObject({ kind: "silence", timedOut: false });
});
