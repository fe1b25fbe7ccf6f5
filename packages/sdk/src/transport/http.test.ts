import { getEventListeners } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createGzip, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { until } from "../../../../scripts/testing/until.ts";
import type { Reply } from "../core/queue/outcome.ts";
import { systemClock } from "../engine/system.ts";
import { undiciExchange } from "../node/undici-exchange.ts";
import type { Exchange, ExchangeResponse } from "./exchange.ts";
import { httpServer } from "./http.ts";
import { kyExchange } from "./ky-exchange.ts";
import { SaidSchema } from "./said-schema.ts";
import { tokenSource } from "./token.ts";

interface Received {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** A server on this machine, and a client of it that sends by this exchange. */
async function server(
  exchange: () => Exchange,
  answer: (response: ServerResponse, received: Received, n: number) => void,
  timeoutMs = 60_000,
  schema?: SaidSchema,
) {
  const received: Received[] = [];
  const listening = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ request, body });
      answer(response, { request, body }, received.length);
    });
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  const token = tokenSource(() => "token-1", systemClock);
  const models = ["slide", "note"];
  return {
    received,
    url,
    http: httpServer({ ...(schema && { schema }), url: `${url}/api`, token, timeoutMs, models, exchange: exchange() }),
  };
}
const { signal } = new AbortController();
const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const lines = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const facts = { rowsVersion: 0, owner: "org/test/user/ann", viewHash: "view", models: ["slide", "note"] };
const begin = { object: "snapshot", stamp: 5, logId: "log_1", ...facts };
const row = (id: string) => ({ model: "slide", id, syncId: 1, data: { id, title: "ä😀" } });
const end = (count: number, next_cursor: string | null = null) => ({ object: "snapshot_end", count, next_cursor });

/** Lets what has arrived be read. */
const turn = () => new Promise((resolve) => setImmediate(resolve));
async function turnsUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}

/** What came of a promise, as soon as something has. */
function noted<T>(promise: Promise<T>): { readonly value: T | undefined } {
  const note: { value: T | undefined } = { value: undefined };
  void promise.then((value) => {
    note.value = value;
  });
  return note;
}

/** Time that the test moves, while bytes really travel. */
function movedByHand() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  return {
    async pass(ms: number) {
      await vi.advanceTimersByTimeAsync(ms);
      await turn();
    },
  };
}

/** An exchange, and how many chunks of its answers have been read. */
function counted(send: Exchange): { readonly exchange: Exchange; chunks(): number } {
  let chunks = 0;
  async function* counting(body: ExchangeResponse["body"]) {
    if ("parsed" in body) return;
    for await (const chunk of body) {
      chunks += 1;
      yield chunk;
    }
  }
  return {
    exchange: async (request, signal) => {
      const answer = await send(request, signal);
      return { ...answer, body: counting(answer.body) };
    },
    chunks: () => chunks,
  };
}

/** A server whose only answer the test writes, and a client that tells how many chunks of it have been read. */
async function slowly(exchange: () => Exchange, timeoutMs: number) {
  const { exchange: counting, chunks } = counted(exchange());
  let response: ServerResponse | undefined;
  const { http } = await server(
    () => counting,
    (given) => {
      response = given;
    },
    timeoutMs,
  );
  return {
    http,
    ...movedByHand(),
    async answer() {
      await turnsUntil(() => response !== undefined);
      return response as ServerResponse;
    },
    async chunksRead(least: number) {
      await turnsUntil(() => chunks() >= least);
      await turn();
    },
  };
}

/** What every exchange has to do, with a real server at the other end. */
describe.each([
  ["ky", () => kyExchange()],
  ["undici", () => undiciExchange()],
] as const)("%s", (_, exchange) => {
  test("[Q5] a bulk goes out byte for byte, with the token, and is never repeated by the transport", async () => {
    const { received, http } = await server(exchange, (response) =>
      json(response, 500, { code: "internal_error", type: "internal_error" }),
    );
    const body = '{"commits":[{"title":"ä😀 \\u2028"}]}';
    const reply = await http.send(body, signal);
    expect(reply).toMatchObject({ kind: "answer", status: 500, body: { code: "internal_error" } });
    expect(received.map((h) => [h.request.method, h.request.url, h.request.headers.authorization, h.body])).toEqual([
      ["POST", "/api/v1/commits/bulk", "Bearer token-1", body],
    ]);
  });

  test("[N37] [N68] every request says the schema of the client, until its tabs have several", async () => {
    const schema = new SaidSchema({ slide: { fields: { title: { type: "string" } } } });
    const { received, http } = await server(exchange, (response) => json(response, 200, {}), 60_000, schema);
    const ask = async () => {
      await http.send("{}", signal);
      await http.readLog(0, signal);
      await http.readSnapshot(null, signal);
      await http.request("readClaim", { params: { id: "c" } }, signal);
      return new Set(received.splice(0).map(({ request }) => request.headers["holdfast-schema"]));
    };
    expect(await ask()).toEqual(new Set([schema.own]));
    schema.now = undefined;
    expect(await ask()).toEqual(new Set([undefined]));
  });

  test("[Q6] Retry-After is read in seconds and as a date", async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const { http } = await server(exchange, (response, _, n) =>
      json(response, 503, {}, { "retry-after": n === 1 ? "7" : date }),
    );
    expect(await http.send("{}", signal)).toMatchObject({ retryAfterMs: 7_000 });
    const second = await http.send("{}", signal);
    expect(second.kind === "answer" && second.retryAfterMs).toBeGreaterThan(3_000_000);
  });

  test("[N10] headers without a body are no answer", async () => {
    const { http } = await server(exchange, (response) => void response.writeHead(200).write("{"), 100);
    expect(await http.send("{}", signal)).toMatchObject({ kind: "silence", timedOut: true });
  });

  test("[Q5] a cut connection counts as no response, and the request is not repeated", async () => {
    const { http, received } = await server(exchange, (response) => void response.socket?.destroy());
    expect(await http.send("{}", signal)).toMatchObject({ kind: "silence", timedOut: false });
    expect(await http.readLog(0, signal)).toMatchObject({ kind: "silence", timedOut: false });
    expect(await http.request("releaseClaim", { params: { id: "c" } }, signal)).toMatchObject({ kind: "silence" });
    expect(received.map(({ request }) => request.method)).toEqual(["POST", "GET", "DELETE"]);
  });

  test("[Q8] [N30] [N65] getToken that throws or returns nothing counts as no token; one that cannot reach its backend, or hangs, counts as no response", async () => {
    const without = (getToken: () => string | Promise<string>, clock = systemClock) =>
      httpServer({
        ...{ url: "http://never.test", timeoutMs: 50, models: [], exchange: exchange() },
        token: tokenSource(getToken, clock),
      }).send("{}", signal);
    expect(await without(() => Promise.reject(new Error("signed out")))).toMatchObject({
      kind: "no-token",
      reason: expect.stringContaining("signed out"),
    });
    expect(await without(() => "")).toMatchObject({ kind: "no-token" });
    const impatient = { ...systemClock, wait: (_: number, then: () => void) => systemClock.wait(1, then) };
    expect(await without(() => new Promise(() => {}), impatient)).toMatchObject({ kind: "silence" });
    const unreachable = () => fetch("http://127.0.0.1:1/token").then((answer) => answer.text());
    expect(await without(unreachable)).toMatchObject({ kind: "silence", reason: expect.stringContaining("getToken") });
    expect(await without(() => Promise.reject(AbortSignal.abort().reason))).toMatchObject({ kind: "silence" });
    // A mistake in the app itself, which trying again does not mend.
    const user = undefined as unknown as { token: string };
    expect(await without(() => user.token)).toMatchObject({
      kind: "no-token",
      reason: expect.stringContaining("reading 'token'"),
    });
  });

  test("a page of the log covers the positions that were examined, shown or not", async () => {
    const { http, received } = await server(exchange, (response) =>
      json(response, 200, {
        object: "list",
        data: [],
        has_more: true,
        next_cursor: "900",
        stamp: 1_200,
        logId: "log_1",
        ...facts,
      }),
    );
    expect(await http.readLog(100, signal)).toEqual({
      kind: "log",
      logId: "log_1",
      ...facts,
      stamp: 1_200,
      from: 100,
      to: 900,
      entries: [],
    });
    expect(received[0]?.request.url).toBe("/api/v1/log?after=100&limit=1000&model=slide&model=note");
  });

  test("[N9] a snapshot is read page by page, and a page that ends early is read again", async () => {
    const { http, received } = await server(exchange, (response, { request }, n) => {
      if (n === 2) return void response.end(lines(begin, row("c")).slice(0, -4));
      if (n === 3) return void response.end(lines(begin, row("c"), end(2)));
      const second = request.url?.includes("starting_after=next");
      response.end(second ? lines(begin, row("c"), end(1)) : lines(begin, row("a"), row("b"), end(2, "next")));
    });
    expect(await http.readSnapshot(null, signal)).toMatchObject({
      ...{ kind: "snapshot", logId: "log_1", stamp: 5, cursor: "next" },
      lines: [{ id: "a" }, { id: "b" }],
    });
    expect(await http.readSnapshot("next", signal)).toMatchObject({ stamp: 5, cursor: null, lines: [{ id: "c" }] });
    expect(received).toHaveLength(4);
  });

  test("[N9] letters that are cut in two by the network stay whole", async () => {
    const text = Buffer.from(lines(begin, row("a"), end(1)));
    const at = text.indexOf(Buffer.from("😀")) + 2;
    const { http, answer, chunksRead } = await slowly(exchange, 60_000);
    const reply = http.readSnapshot(null, signal);
    const response = await answer();
    response.write(text.subarray(0, at));
    await chunksRead(1);
    response.end(text.subarray(at));
    const read = await reply;
    expect(read.kind === "snapshot" && read.lines[0]?.data).toEqual({ id: "a", title: "ä😀" });
  });

  test("a refused snapshot is the refusal, not an incomplete page", async () => {
    const { http, received } = await server(exchange, (response) =>
      json(response, 401, { code: "token_expired", type: "authentication_error" }),
    );
    expect(await http.readSnapshot(null, signal)).toMatchObject({ kind: "answer", status: 401 });
    expect(received).toHaveLength(1);
  });

  test("[U8] any other request goes to its path, with names as they may stand there, and is given up by its own time", async () => {
    const { received, http } = await server(exchange, (response, _, n) =>
      n < 3 ? json(response, 200, { n }) : undefined,
    );
    const params = { model: "slide", id: "a:b~c" };
    expect(await http.request("acquireClaim", { params, body: { ttl: "5s" } }, signal)).toEqual({
      kind: "answer",
      status: 200,
      body: { n: 1 },
    });
    await http.request("readClaim", { params: { id: "../x?y" }, query: { wait: "25000" } }, signal);
    expect(received.map((h) => [h.request.method, h.request.url, h.body])).toEqual([
      ["POST", "/api/v1/models/slide/a%3Ab~c/claim", '{"ttl":"5s"}'],
      ["GET", "/api/v1/claims/..%2Fx%3Fy?wait=25000", ""],
    ]);
    const late = http.request("releaseClaim", { params: { id: "c" }, timeoutMs: 500, keepalive: true }, signal);
    expect(await late).toMatchObject({ kind: "silence", timedOut: true });
    expect(received[2]?.request.method).toBe("DELETE");
  });

  test("[N19] a page that is cut off is requested again in a smaller size", async () => {
    const { http, received } = await server(exchange, (response, _, n) =>
      n < 3
        ? void response.end(lines(begin, row("a")).slice(0, -4))
        : void response.end(lines(begin, row("a"), end(1))),
    );
    expect(await http.readSnapshot(null, signal, {}, 1_000)).toMatchObject({ kind: "snapshot" });
    const limits = received.map((h) => new URL(h.request.url ?? "", "http://x").searchParams.get("limit"));
    expect(limits).toEqual(["1000", "500", "250"]);
  });

  test("[N9] a compressed page is read as it comes, and one that is cut is none", async () => {
    const { exchange: counting, chunks } = counted(exchange());
    const { http, received } = await server(
      () => counting,
      (response, _, n) => {
        response.writeHead(200, { "content-type": "application/x-ndjson", "content-encoding": "gzip" });
        const whole = gzipSync(lines(begin, row("a"), end(1)));
        if (n === 1) return void response.end(whole.subarray(0, -12));
        const before = chunks();
        const packer = createGzip();
        packer.pipe(response);
        packer.write(lines(begin, row("a")));
        packer.flush();
        // The end comes when the beginning has been read.
        void turnsUntil(() => chunks() > before).then(() => packer.end(lines(end(1))));
      },
    );
    expect(await http.readSnapshot(null, signal)).toMatchObject({ kind: "snapshot", lines: [{ id: "a" }] });
    expect(received).toHaveLength(2);
    expect(received[0]?.request.headers["accept-encoding"]).toContain("gzip");
  });

  test("[N18] a slow response is read as it arrives; if it stops, the request is aborted, also at the server", async () => {
    const { http, answer, chunksRead, pass } = await slowly(exchange, 200);
    const reply = noted(http.readSnapshot(null, signal));
    const response = await answer();
    let gone = false;
    response.on("close", () => {
      gone = true;
    });
    for (const [nth, line] of [begin, row("a"), row("b"), row("c")].entries()) {
      response.write(lines(line));
      await chunksRead(nth + 1);
      await pass(199);
      expect(reply.value).toBeUndefined();
    }
    await pass(1);
    expect(reply.value).toMatchObject({ kind: "silence", timedOut: true, reason: expect.stringContaining("stalled") });
    await turnsUntil(() => gone);
  });

  test("[N18] a response that arrives too slowly is aborted at its ceiling, also at the server", async () => {
    const { http, answer, chunksRead, pass } = await slowly(exchange, 200);
    const reply = noted(http.send("{}", signal));
    const response = await answer();
    let gone = false;
    response.on("close", () => {
      gone = true;
    });
    for (let nth = 1; nth <= 20; nth++) {
      response.write(" ");
      await chunksRead(nth);
      await pass(199);
    }
    response.write(" ");
    await chunksRead(21);
    expect(reply.value).toBeUndefined();
    await pass(20);
    const reason = expect.stringContaining("incomplete");
    expect(reply.value).toMatchObject({ kind: "silence", timedOut: true, reason });
    await turnsUntil(() => gone);
  });

  test("[N18] a compressed page that comes slowly is read as it comes", async () => {
    const { http, answer, chunksRead, pass } = await slowly(exchange, 200);
    const reply = noted(http.readSnapshot(null, signal));
    const response = await answer();
    response.writeHead(200, { "content-encoding": "gzip" });
    const packer = createGzip();
    packer.pipe(response);
    for (const [nth, line] of [begin, row("a"), row("b"), end(2)].entries()) {
      packer.write(lines(line));
      packer.flush();
      await chunksRead(nth + 1);
      if (nth < 3) await pass(199);
    }
    await turnsUntil(() => reply.value !== undefined);
    expect(reply.value).toMatchObject({ kind: "snapshot", lines: [{ id: "a" }, { id: "b" }] });
  });

  test("[N18] the timeout of a request does not include getToken", async () => {
    const { url } = await server(exchange, (response) => json(response, 200, {}));
    const time = movedByHand();
    let give = (_: string) => {};
    const getToken = () =>
      new Promise<string>((resolve) => {
        give = resolve;
      });
    const token = tokenSource(getToken, systemClock);
    const http = httpServer({ url, token, timeoutMs: 200, models: [], exchange: exchange() });
    const reply = noted(http.send("{}", signal));
    await time.pass(20_000);
    expect(reply.value).toBeUndefined();
    give("late");
    await turnsUntil(() => reply.value !== undefined);
    expect(reply.value).toMatchObject({ kind: "answer", status: 200 });
  });
  test("[N9] a page is there with its last line, whether or not the answer ends", async () => {
    const { http } = await server(exchange, (response) => void response.write(lines(begin, row("a"), end(1))), 10_000);
    expect(await http.readSnapshot(null, signal)).toMatchObject({ kind: "snapshot", lines: [{ id: "a" }] });
  });

  test("a compressed answer of any request is unpacked", async () => {
    const { http } = await server(exchange, (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync(JSON.stringify({ title: "ä😀" })));
    });
    expect(await http.request("listOwnClaims", {}, signal)).toMatchObject({ body: { title: "ä😀" } });
  });

  test("[Q8] a refused token is an answer with its body", async () => {
    const refusal = { code: "token_expired", type: "authentication_error" };
    const { http } = await server(exchange, (response) => json(response, 401, refusal, { "retry-after": "3" }));
    expect(await http.send("{}", signal)).toEqual({ kind: "answer", status: 401, body: refusal, retryAfterMs: 3_000 });
  });

  test("an answer that is no JSON has no body, and an empty one neither", async () => {
    const { http } = await server(exchange, (response, _, n) =>
      n === 1 ? void response.writeHead(502).end("<html>Bad gateway</html>") : void response.writeHead(204).end(),
    );
    expect(await http.send("{}", signal)).toEqual({ kind: "answer", status: 502, body: undefined });
    expect(await http.send("{}", signal)).toEqual({ kind: "answer", status: 204, body: undefined });
  });

  test("a redirect is followed with its method and body, and the token stays with the host it is for", async () => {
    const elsewhere = await server(exchange, (response) => json(response, 200, {}));
    const { http, received } = await server(exchange, (response, { request }, n) => {
      if (request.url === "/moved") return json(response, 200, { n });
      response.writeHead(308, { location: n === 1 ? "/moved" : `${elsewhere.url}/there` }).end();
    });
    expect(await http.send('{"a":1}', signal)).toMatchObject({ status: 200, body: { n: 2 } });
    expect(received[1]).toMatchObject({ body: '{"a":1}', request: { headers: { authorization: "Bearer token-1" } } });
    expect(await http.send('{"a":1}', signal)).toMatchObject({ status: 200 });
    expect(elsewhere.received[0]?.body).toBe('{"a":1}');
    expect(elsewhere.received[0]?.request.headers.authorization).toBeUndefined();
  });

  test("[N8] a request that is given up ends at once, before its headers and within its body", async () => {
    const gone = new Set<number>();
    const { exchange: counting, chunks } = counted(exchange());
    const { http, received } = await server(
      () => counting,
      (response, _, n) => {
        response.on("close", () => gone.add(n));
        if (n === 2) response.write(lines(begin));
      },
    );
    const [early, late, never] = [new AbortController(), new AbortController(), AbortSignal.abort()];
    const first = http.send("{}", early.signal);
    await until(() => expect(received).toHaveLength(1));
    early.abort();
    expect(await first).toMatchObject({ kind: "silence", timedOut: false });
    const second = http.readSnapshot(null, late.signal);
    await until(() => expect(chunks()).toBe(1));
    late.abort();
    expect(await second).toMatchObject({ kind: "silence", timedOut: false });
    expect(await http.send("{}", never)).toMatchObject({ kind: "silence", timedOut: false });
    await until(() => expect([...gone].sort()).toEqual([1, 2]));
    expect(received).toHaveLength(2);
  });

  test("[N8] a farewell goes out, with and without a body", async () => {
    const { http, received } = await server(exchange, (response) => json(response, 200, {}));
    await http.request("releaseClaim", { params: { id: "c" }, keepalive: true }, signal);
    await http.request("releaseRecord", { params: { model: "m", id: "r" }, body: { a: 1 }, keepalive: true }, signal);
    expect(received.map(({ request, body }) => [request.method, request.url, body])).toEqual([
      ["DELETE", "/api/v1/claims/c", ""],
      ["DELETE", "/api/v1/models/m/r/claim", '{"a":1}'],
    ]);
  });

  test("1,500 requests in turn pile up no listeners and few connections", { timeout: 180_000 }, async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const ports = new Set<number | undefined>();
    const { http } = await server(exchange, (response, { request }) => {
      ports.add(request.socket.remotePort);
      json(response, 200, {});
    });
    const long = new AbortController();
    for (let n = 0; n < 1_500; n++)
      expect(await http.send("{}", long.signal)).toMatchObject({ kind: "answer", status: 200 });
    expect(warnings).toEqual([]);
    expect(getEventListeners(long.signal, "abort")).toEqual([]);
    expect(ports.size).toBeLessThan(10);
  });
});

test("[N10] a request ends by the client's own clock, also when fetch ignores that it was given up", async () => {
  const deaf = (() => new Promise<Response>(() => {})) as typeof fetch;
  const http = httpServer({
    url: "http://deaf.test",
    token: tokenSource(() => "t", systemClock),
    timeoutMs: 30,
    models: [],
    exchange: kyExchange(deaf),
  });
  expect(await http.send("{}", signal)).toMatchObject({ kind: "silence", timedOut: true });
  const giveUp = new AbortController();
  const reply = http.send("{}", giveUp.signal);
  giveUp.abort();
  expect(await reply).toMatchObject({ kind: "silence", timedOut: false });
});

/** What a server sends of an answer, a piece every 150 ms; then the answer is whole, or nothing more comes. */
interface Dripping {
  readonly pieces: Iterable<string>;
  readonly end: "whole" | "silence";
}

/** A server that drips, in time that the test moves. */
function drippingServer(answers: readonly Dripping[], timeoutMs: number) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let requests = 0;
  const fetch = async () => {
    const { pieces, end } = answers[requests++]!;
    const rest = pieces[Symbol.iterator]();
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const { value, done } = rest.next();
      await (done && end === "silence"
        ? new Promise(() => {})
        : new Promise((resolve) => setTimeout(resolve, done ? 0 : 150)));
      if (done) controller.close();
      else controller.enqueue(new TextEncoder().encode(value));
    };
    return new Response(new ReadableStream({ pull }));
  };
  const token = tokenSource(() => "token-1", systemClock);
  return httpServer({ url: "http://drips.test", token, timeoutMs, models: ["slide"], exchange: kyExchange(fetch) });
}

test("[N18] an answer that keeps coming is not given up, however long it takes; one that stops is", async () => {
  const rows = Array.from({ length: 12 }, (_, n) => lines(row(`r${n}`)));
  const http = drippingServer(
    [
      { pieces: [lines(begin), ...rows, lines(end(12))], end: "whole" },
      { pieces: [lines(begin), ...rows.slice(0, 3)], end: "silence" },
    ],
    200,
  );
  const [read] = await Promise.all([http.readSnapshot(null, signal), vi.advanceTimersByTimeAsync(14 * 150)]);
  expect(read.kind === "snapshot" && read.lines.length).toBe(12);
  const [stopped] = await Promise.all([http.readSnapshot(null, signal), vi.advanceTimersByTimeAsync(4 * 150 + 200)]);
  expect(stopped).toMatchObject({ kind: "silence", timedOut: true, reason: expect.stringContaining("stalled") });
});

test("[N18] an answer that drips without end is given up after twenty times its patience", async () => {
  const endless = {
    pieces: {
      *[Symbol.iterator]() {
        for (;;) yield " ";
      },
    },
    end: "silence",
  } as const;
  const http = drippingServer([endless], 200);
  let reply: Reply | undefined;
  void http.send("{}", signal).then((given) => {
    reply = given;
  });
  await vi.advanceTimersByTimeAsync(20 * 200 - 1);
  expect(reply).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(reply).toMatchObject({ kind: "silence", timedOut: true });
});

test("the app's own fetch is used, with keepalive for requests that must outlive the page", async () => {
  const requests: unknown[] = [];
  const fetch = async (input: string | URL | Request) => {
    const { method, url, headers, keepalive } = new Request(input);
    requests.push([method, url, headers.get("authorization"), keepalive]);
    return new Response("{}");
  };
  const http = httpServer({
    ...{ url: "http://own.test", timeoutMs: 1_000, models: [], exchange: kyExchange(fetch) },
    token: tokenSource(() => "t", systemClock),
  });
  await http.request("releaseClaim", { params: { id: "c" }, keepalive: true }, signal);
  await http.send('{"a":1}', signal);
  expect(requests).toEqual([
    ["DELETE", "http://own.test/v1/claims/c", "Bearer t", true],
    ["POST", "http://own.test/v1/commits/bulk", "Bearer t", false],
  ]);
});
