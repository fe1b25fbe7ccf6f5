import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { giveTime } from "../../../../scripts/testing/give-time.ts";
import { until } from "../../../../scripts/testing/until.ts";
import type { StreamListener } from "../engine/ports.ts";
import type { FrameDown } from "../protocol/stream/frames-down.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { SaidSchema } from "./said-schema.ts";
import { logStream } from "./stream.ts";

async function openStream(Socket: unknown = WebSocket, schema?: SaidSchema) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  const received: unknown[] = [];
  const addresses: (string | undefined)[] = [];
  const sockets: WebSocket[] = [];
  server.on("connection", (socket, request) => {
    sockets.push(socket);
    addresses.push(request.url);
    socket.on("message", (data) => received.push(JSON.parse(String(data))));
  });
  const clock = fakeClock();
  const stream = logStream({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    clock,
    models: ["slide"],
    ...(schema && { schema }),
    WebSocket: Socket,
  });
  onTestFinished(() => {
    stream.close();
    for (const socket of sockets) socket.terminate();
    server.close();
  });
  const frames: FrameDown[] = [];
  const closes: [number, string][] = [];
  let opens = 0;
  const listener: StreamListener = {
    opened: () => {
      opens += 1;
    },
    frame: (frame) => void frames.push(frame),
    closed: (code, reason) => void closes.push([code, reason]),
  };
  const opened = async () => {
    stream.open(listener);
    await until(() => expect(opens).toBeGreaterThan(0));
  };
  return { server, stream, received, addresses, sockets, clock, frames, closes, listener, opened, opens: () => opens };
}
const greeting = { token: "secret", clientId: "c1", logId: "log_1", since: 7 };

test("[N3] the first frame is hello, under the subprotocol, and no token is in the address", async () => {
  const { stream, received, addresses, sockets, opened } = await openStream();
  await opened();
  stream.hello(greeting);
  await until(() => expect(received).toHaveLength(1));
  expect(received).toEqual([
    { frame: "hello", token: "secret", clientId: "c1", log: "log_1", since: 7, models: ["slide"] },
  ]);
  expect(addresses).toEqual(["/api/v1/stream"]);
  expect(sockets[0]?.protocol).toBe("holdfast.v1");
});

test("[N37] hello says the schema of the client", async () => {
  const schema = new SaidSchema({ slide: { fields: { title: { type: "string" } } } });
  const { stream, received, opened } = await openStream(WebSocket, schema);
  await opened();
  stream.hello(greeting);
  await until(() => expect(received).toHaveLength(1));
  expect(received[0]).toMatchObject({ schema: schema.own });
});

test("[N3] a silent connection is pinged after 20 s, and closed without an answer within 5 s", async () => {
  const { sockets, received, frames, clock, closes, opened } = await openStream();
  await opened();
  clock.advance(19_000);
  sockets[0]?.send('{"frame":"schema","version":1,"hash":"x","models":[]}');
  await until(() => expect(frames).toHaveLength(1));
  clock.advance(19_000);
  expect(received).toEqual([]);
  clock.advance(1_000);
  await until(() => expect(received).toEqual([{ frame: "ping", n: 1 }]));
  sockets[0]?.send('{"frame":"pong","n":1,"stamp":7}');
  await until(() => expect(frames).toHaveLength(2));
  clock.advance(5_000);
  expect(closes).toEqual([]);
  clock.advance(15_000);
  clock.advance(5_000);
  expect(closes).toEqual([[4000, "The stream stopped responding."]]);
  expect(clock.waiting).toBe(0);
});

const WELCOME = JSON.stringify({
  ...{ frame: "welcome", stamp: 7, resumeFrom: 7, logId: "log_1", rowsVersion: 0, models: ["slide"], calls: 8 },
  ...{ session: "s", participant: "user:ann", owner: "org/live/user/ann", viewHash: "v" },
});
const NEVER = new AbortController().signal;
const call = (body: string) => ({
  ...({ call: { name: "commitBulk" }, method: "POST", url: "", token: "secret", body, keepalive: false } as const),
});

test("[N3] a stream that is silent for 2 s after a call is pinged, and closed without an answer within 5 s", async () => {
  const { stream, sockets, received, frames, clock, closes, opened } = await openStream();
  await opened();
  stream.hello(greeting);
  sockets[0]?.send(WELCOME);
  await until(() => expect(frames).toHaveLength(1));
  const first = stream.call(call("{}"), NEVER);
  sockets[0]?.send('{"frame":"answer","n":1,"status":200,"body":{}}');
  expect(await first).toMatchObject({ status: 200 });
  clock.advance(19_000);
  const lost = stream.call(call("{}"), NEVER);
  clock.advance(1_500);
  // Another call does not delay the ping.
  const other = stream.call(call("{}"), NEVER);
  clock.advance(500);
  const sent = () => received.map((frame) => (frame as { frame: string }).frame);
  await until(() => expect(sent()).toEqual(["hello", "call", "call", "call", "ping"]));
  clock.advance(4_000);
  const last = stream.call(call("{}"), NEVER);
  clock.advance(999);
  expect(closes).toEqual([]);
  clock.advance(1);
  expect(closes).toEqual([[4000, "The stream stopped responding."]]);
  const ended = await Promise.allSettled([lost, other, last]);
  expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(clock.waiting).toBe(0);
});

test("[N3] a large call may be on its way for longer", async () => {
  const { stream, sockets, received, frames, clock, closes, opened } = await openStream();
  await opened();
  stream.hello(greeting);
  sockets[0]?.send(WELCOME);
  await until(() => expect(frames).toHaveLength(1));
  const large = stream.call(call(JSON.stringify("x".repeat(8_192))), NEVER);
  clock.advance(19_000);
  await until(() => expect(received).toHaveLength(2));
  expect(closes).toEqual([]);
  sockets[0]?.send('{"frame":"answer","n":1,"status":200,"body":{}}');
  expect(await large).toMatchObject({ status: 200 });
});

test("[N2] a close is reported once, with its code, and the transport opens no new socket", async () => {
  const { server, sockets, closes, clock, opened } = await openStream();
  await opened();
  sockets[0]?.close(4401, "token_expired");
  await until(() => expect(closes).toEqual([[4401, "token_expired"]]));
  await until(() => expect(server.clients.size).toBe(0));
  await giveTime(100);
  expect(closes.length).toBe(1);
  expect(clock.waiting).toBe(0);
});

test("[N8] after close the socket is closed, nothing is received and no timer is left", async () => {
  const { stream, sockets, closes, frames, clock, opened, server } = await openStream();
  await opened();
  stream.close();
  sockets[0]?.send('{"frame":"pong","n":1,"stamp":7}');
  await giveTime(50);
  expect(closes).toEqual([]);
  expect(frames).toEqual([]);
  expect(clock.waiting).toBe(0);
  await until(() => expect(server.clients.size).toBe(0));
});

test("[N2] an address that does not answer is reported as a close", async () => {
  const clock = fakeClock();
  const stream = logStream({ url: "http://127.0.0.1:9", clock, models: [], WebSocket });
  const closed = new Promise<number>((resolve) => stream.open({ opened: () => {}, frame: () => {}, closed: resolve }));
  expect(await closed).toBeTypeOf("number");
  stream.close();
});

test("[N2] if no socket can be created, a close is reported after open has returned", async () => {
  const clock = fakeClock();
  const closes: [number, string][] = [];
  class Forbidden {
    constructor() {
      throw new Error("insecure");
    }
  }
  const stream = logStream({ url: "http://127.0.0.1:9", clock, models: [], WebSocket: Forbidden });
  stream.open({ opened: () => {}, frame: () => {}, closed: (code, reason) => void closes.push([code, reason]) });
  expect(closes).toEqual([]);
  await until(() => expect(closes).toEqual([[4000, "insecure"]]));
  stream.send({ frame: "ping", n: 1 });
  expect(clock.waiting).toBe(0);
});

test("[N2] an attempt that cannot create a socket ends once, and earlier attempts stay ended", async () => {
  let works = true;
  class Socket extends WebSocket {
    constructor(address: string, protocols?: string) {
      if (!works) throw new Error("insecure");
      super(address, protocols);
    }
  }
  const { sockets, closes, opened, stream, listener, opens } = await openStream(Socket);
  await opened();
  sockets[0]?.close(4403, "not for you");
  await until(() => expect(closes).toEqual([[4403, "not for you"]]));
  works = false;
  stream.open(listener);
  await until(() => expect(closes).toHaveLength(2));
  await giveTime(100);
  expect(closes[1]).toEqual([4000, "insecure"]);
  works = true;
  stream.open(listener);
  await until(() => expect(opens()).toBe(2));
  expect(closes).toHaveLength(2);
});

test.each([
  [4401, "token_expired"],
  [4403, "capability_scope_denied"],
  [1012, "restarting"],
  [1000, ""],
])(
  "[N2] [N23] a close with %i is told once, with its reason, and the next attempt is one more",
  async (code, reason) => {
    const { sockets, closes, opened, stream, listener, opens, frames } = await openStream();
    await opened();
    for (const nth of [1, 2, 3]) {
      sockets[nth - 1]?.close(code, reason);
      await until(() => expect(closes).toHaveLength(nth));
      await giveTime(30);
      expect(sockets).toHaveLength(nth);
      stream.open(listener);
      await until(() => expect(opens()).toBe(nth + 1));
    }
    sockets[3]?.send('{"frame":"pong","n":1,"stamp":7}');
    await until(() => expect(frames).toHaveLength(1));
    expect(closes).toEqual([1, 2, 3].map(() => [code, reason]));
    expect(sockets).toHaveLength(4);
  },
);

test("[N2] a listener that opens a new stream while handling a close gets one", async () => {
  const { sockets, stream, opens, listener } = await openStream();
  const closes: number[] = [];
  const again: StreamListener = {
    ...listener,
    closed: (code) => {
      closes.push(code);
      if (closes.length < 20) stream.open(again);
    },
  };
  stream.open(again);
  for (let n = 1; n <= 20; n++) {
    await until(() => expect(opens()).toBe(n));
    sockets[n - 1]?.terminate();
  }
  await until(() => expect(closes).toHaveLength(20));
  await giveTime(50);
  expect(sockets).toHaveLength(20);
});

test("[N5] after closing and reopening at once, in any state, there is one socket, and only the last listener is called", async () => {
  const { sockets, stream, closes, listener, opens, server } = await openStream();
  let afterClose = 0;
  /** Opens the stream for so long. It may open in that time; after it no call is allowed. */
  async function openFor(ms: number | undefined): Promise<void> {
    let isOver = false;
    const called = () => {
      if (isOver) afterClose += 1;
    };
    stream.open({ opened: called, frame: called, closed: called });
    if (ms !== undefined) await giveTime(ms);
    isOver = true;
  }
  for (const ms of [undefined, 0, 2]) {
    await openFor(ms);
    stream.close();
  }
  await openFor(undefined);
  stream.open(listener);
  await until(() => expect(opens()).toBe(1));
  stream.open(listener);
  await until(() => expect(opens()).toBe(2));
  expect(afterClose).toBe(0);
  await until(() => expect(server.clients.size).toBe(1));
  await giveTime(50);
  expect(opens()).toBe(2);
  expect(closes).toEqual([]);
  expect(server.clients.size).toBe(1);
  expect(sockets.length).toBeLessThanOrEqual(4);
});

test("[N3] a silent socket is closed, and the next one is pinged when it is silent", async () => {
  const { sockets, closes, clock, opened, stream, listener, opens, received, server } = await openStream();
  await opened();
  clock.advance(25_000);
  expect(closes).toEqual([[4000, "The stream stopped responding."]]);
  await until(() => expect(server.clients.size).toBe(0));
  await giveTime(50);
  expect(sockets).toHaveLength(1);
  stream.open(listener);
  await until(() => expect(opens()).toBe(2));
  clock.advance(20_000);
  await until(() => expect(received).toContainEqual({ frame: "ping", n: 1 }));
  clock.advance(5_000);
  expect(closes).toHaveLength(2);
});

test("[N8] no timer remains after close, in any state", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
  const before = timers();
  const { stream, opened, clock, listener, sockets, opens, closes } = await openStream();
  await opened();
  stream.close();
  stream.open(listener);
  await until(() => expect(opens()).toBe(2));
  sockets[1]?.close(1012, "restarting");
  await until(() => expect(closes).toHaveLength(1));
  stream.open(listener);
  stream.close();
  expect(clock.waiting).toBe(0);
  // `until` has timers itself.
  while (timers() > before) await giveTime(20);
  expect(timers()).toBeLessThanOrEqual(before);
});

test("[N8] a frame without an open socket is dropped, and is not sent later", async () => {
  const { stream, opened, received, listener, opens } = await openStream();
  stream.send({ frame: "ping", n: 7 });
  stream.open(listener);
  stream.send({ frame: "ping", n: 8 });
  await opened();
  stream.close();
  stream.send({ frame: "ping", n: 9 });
  stream.open(listener);
  await until(() => expect(opens()).toBeGreaterThan(1));
  stream.hello(greeting);
  await until(() => expect(received).toHaveLength(1));
  expect(received).toMatchObject([{ frame: "hello" }]);
});

test("[N2] a server that never answers is given up after 10 s", async () => {
  const deaf = createServer(() => {});
  await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void deaf.close());
  const clock = fakeClock();
  const closes: number[] = [];
  const url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`;
  const stream = logStream({ url, clock, models: [], WebSocket });
  stream.open({ opened: () => {}, frame: () => {}, closed: (code) => void closes.push(code) });
  clock.advance(9_999);
  expect(closes).toEqual([]);
  clock.advance(1);
  expect(closes).toEqual([4000]);
  expect(clock.waiting).toBe(0);
});
