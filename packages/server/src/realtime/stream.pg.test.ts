import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { limits } from "@holdfast/sdk/protocol";
import { afterAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { ADMIN, startApp } from "../testing/app.ts";
import { follow, type Hello, openStream, type TestStream } from "../testing/stream.ts";

const app = await startApp({ origins: ["https://app.example"] });
const second = await app.another();
const { call, keys, url } = app;
const slides = "/v1/models/slide";
const make = async (id: string, data: object = {}, ask = call) =>
  Number((await ask("POST", slides, { json: { id, data } })).body.lastSyncId);
const headOf = async () => Number((await call("GET", "/v1/log?limit=1")).body.stamp);

const streams: TestStream[] = [];
afterAll(() => {
  for (const { socket } of streams) socket.terminate();
});
const open = async (where = url, options: Parameters<typeof openStream>[1] = {}) => {
  const stream = await openStream(where, options);
  streams.push(stream);
  return stream;
};
const hear = async (hello: Hello = {}, where = url) => {
  const stream = await follow(where, hello.token ?? keys.live, hello);
  streams.push(stream);
  return stream;
};
const positions = ({ entries }: TestStream) => entries.map(({ syncId }) => syncId);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i + 1);

test("[T1] hello is answered with the head, the log, the participant and the schema", async () => {
  const head = await make("t1");
  const stream = await hear({ clientId: "tab" });
  const { body } = await call("GET", "/v1/schema");
  expect(stream.frames[0]).toEqual({
    frame: "welcome",
    stamp: head,
    logId: expect.stringMatching(/^log_/),
    session: expect.stringMatching(/^ses_/),
    participant: expect.stringMatching(/^system:key_/),
    owner: expect.stringMatching(/^org_\w+\/live\/system\/key_/),
    viewHash: expect.any(String),
    models: Object.keys(body.models as object),
    protocol: "holdfast.v1",
    resumeFrom: head,
    expiresAt: null,
    expiresInMs: null,
    schema: { version: body.version, hash: body.hash },
    rowsVersion: expect.any(Number),
  });
  expect(stream.socket.protocol).toBe("holdfast.v1");
  const api = await open(url, { path: "/api/v1/stream" });
  api.send({ frame: "hello", token: keys.live });
  await api.next("welcome");
});

test("[T1] a hello that came in time is answered, also when the process was held up until the time was over", async () => {
  const stream = await open();
  await new Promise<void>((resolve) =>
    setImmediate(() => {
      stream.send({ frame: "hello", token: keys.live });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, limits.helloMs + 100);
      resolve();
    }),
  );
  await stream.next("welcome");
});

test("[T2] what is written is heard, with what the feed would tell", async () => {
  const stream = await hear();
  const position = await make("t2", { title: "x" });
  await stream.reaches(position);
  const { body } = await call("GET", `/v1/log?after=${position - 1}`);
  expect(stream.entries).toEqual(body.data);
});

test("[T2] catching up over many pages while others write: every entry once, in order", async () => {
  const from = await headOf();
  const batch = (n: number) =>
    call("POST", "/v1/commits", {
      json: {
        operations: Array.from({ length: 100 }, (_, i) => ({
          action: "create",
          model: "slide",
          id: `c${n}-${i}`,
          data: {},
        })),
      },
    });
  for (let n = 0; n < 12; n++) await batch(n);
  const before = hear({ since: from });
  const between = [hear({ since: from + 333 }), hear({ since: 0 }, second.server.url)];
  await Promise.all(Array.from({ length: 12 }, (_, n) => batch(100 + n)));
  const head = await headOf();
  for (const [stream, since] of [
    [await before, from],
    [await between[0]!, from + 333],
    [await between[1]!, 0],
  ] as const) {
    await stream.reaches(head);
    expect(stream.faults).toEqual([]);
    expect(positions(stream)).toEqual(range(since, head));
  }
});

test("[T2] written on two servers, heard on both, in one order", async () => {
  const [here, there] = [await hear(), await hear({}, second.server.url)];
  const from = here.position;
  await Promise.all(Array.from({ length: 60 }, (_, i) => make(`two-${i}`, {}, i % 2 ? call : second.call)));
  await Promise.all([here.reaches(from + 60), there.reaches(from + 60)]);
  expect(positions(here)).toEqual(range(from, from + 60));
  expect(positions(there)).toEqual(range(from, from + 60));
  expect([...here.faults, ...there.faults]).toEqual([]);
});

test("[T2] hints that are lost are made up for by looking", async () => {
  const stream = await hear({}, second.server.url);
  // What no server announces: an entry that appears in the tables, as if its hint had been lost.
  const [row] = await app.sql<{ tenant: number; sync_id: number }>(
    "select tenant, sync_id from holdfast.head order by sync_id desc limit 1",
  );
  const next = Number(row!.sync_id) + 1;
  await app.sql(
    `with e as (insert into holdfast.log (tenant, sync_id, model, id, verb, data, groups, client_tx_id, actor, participant_kind, created_at)
       values ($1, $2, 'slide', 'unhinted', 'created', '{"id":"unhinted"}', '{}', 'x', 'x', 'system', now()))
     update holdfast.head set sync_id = $2 where tenant = $1`,
    [row!.tenant, next],
  );
  await stream.reaches(next);
  expect(stream.entries.at(-1)?.id).toBe("unhinted");
});

test.each<[string, () => Promise<Hello>, string]>([
  ["another log", async () => ({ log: "log_other", since: 0 }), "other_log"],
  ["a position beyond the head", async () => ({ since: (await headOf()) + 1 }), "ahead"],
])("[T3] %s: resync, and hello may be said again", async (_, hello, reason) => {
  const stream = await hear(await hello());
  expect(await stream.next("resync")).toEqual({ frame: "resync", reason });
  await make(`t3-${reason}`);
  expect(stream.entries).toEqual([]);
  const head = await headOf();
  stream.send({ frame: "hello", token: keys.live, since: head - 1 });
  await stream.next("welcome");
  await stream.reaches(head);
  expect(positions(stream)).toEqual([head]);
});

test("[T4] ping is answered with the head", async () => {
  const head = await headOf();
  const stream = await hear();
  stream.send({ frame: "ping", n: 7 });
  expect(await stream.next("pong")).toEqual({ frame: "pong", n: 7, stamp: head });
});

test("[T4] follow replaces what is heard", async () => {
  const stream = await hear({ groups: ["deck:a"] });
  const told = async (id: string, deckId: string) => {
    await stream.reaches(await make(id, { deckId }));
    return stream.entries.at(-1)?.id === id;
  };
  expect([await told("f1", "a"), await told("f2", "b")]).toEqual([true, false]);
  stream.send({ frame: "follow", groups: ["deck:b"] });
  stream.send({ frame: "ping", n: 1 });
  await stream.next("pong");
  expect([await told("f3", "a"), await told("f4", "b")]).toEqual([false, true]);
  stream.send({ frame: "follow", models: ["deck"] });
  stream.send({ frame: "ping", n: 2 });
  await stream.next("pong");
  expect(await told("f5", "b")).toBe(false);
  stream.send({ frame: "follow" });
  stream.send({ frame: "ping", n: 3 });
  await stream.next("pong");
  expect(await told("f6", "z")).toBe(true);
  expect(stream.faults).toEqual([]);
});

test("[T7] what leaves a group is told as gone with `left`, live and when caught up; what is deleted is told as it is", async () => {
  const since = await headOf();
  const live = await hear({ groups: ["deck:here"] });
  await make("l1", { deckId: "here", title: "x" });
  await call("PATCH", `${slides}/l1`, { json: { data: { deckId: "there" } } });
  await call("PATCH", `${slides}/l1`, { json: { data: { title: "unseen" } } });
  await call("PATCH", `${slides}/l1`, { json: { data: { deckId: "here" } } });
  await call("DELETE", `${slides}/l1`);
  const head = await headOf();
  const late = await hear({ groups: ["deck:here"], since });
  for (const stream of [live, late]) {
    await stream.reaches(head);
    expect(
      stream.entries.map(({ verb, left, data, changedFields }) => [verb, left, data?.title, changedFields]),
    ).toEqual([
      ["created", undefined, "x", null],
      ["deleted", true, undefined, null],
      ["updated", undefined, "unseen", ["deckId"]],
      ["deleted", undefined, undefined, null],
    ]);
  }
  expect(late.entries).toEqual(live.entries);
});

test("[T4] a schema push is told; new group rules ask for a resync", async () => {
  const [stream, there] = [await hear(), await hear({}, second.server.url)];
  const models = (await call("GET", "/v1/schema")).body.models as Record<string, object>;
  const { body } = await call("POST", "/v1/schema", { json: { models: { ...models, more: { fields: {} } } } });
  for (const one of [stream, there])
    expect(await one.next("schema")).toEqual({
      frame: "schema",
      version: body.version,
      hash: body.hash,
      models: expect.arrayContaining(["more"]),
    });
  await call("POST", "/v1/schema", {
    json: { models: { ...models, more: { fields: {}, groups: [{ kind: "more", from: "id" }] } } },
  });
  for (const one of [stream, there]) expect(await one.next("resync")).toEqual({ frame: "resync", reason: "schema" });
});

test.each<[string, (stream: TestStream) => void, number]>([
  ["no JSON", (stream) => stream.send("hello"), 4400],
  ["a frame of no kind", (stream) => stream.send({ frame: "nothing" }), 4400],
  ["an unknown key", (stream) => stream.send({ frame: "hello", token: keys.live, extra: 1 }), 4400],
  ["a list", (stream) => stream.send("[]"), 4400],
  ["another frame before hello", (stream) => stream.send({ frame: "ping", n: 1 }), 4400],
  ["binary", (stream) => stream.send(Buffer.from(JSON.stringify({ frame: "hello", token: keys.live }))), 4400],
  ["NUL within", (stream) => stream.send({ frame: "hello", token: keys.live, clientId: "\u0000" }), 4400],
  [
    "too long a clientId",
    (stream) => stream.send({ frame: "hello", token: keys.live, clientId: "x".repeat(65) }),
    4400,
  ],
  ["a group that is none", (stream) => stream.send({ frame: "hello", token: keys.live, groups: ["deck"] }), 4400],
  ["too deep", (stream) => stream.send("[".repeat(30_000) + "]".repeat(30_000)), 4400],
  ["an unknown token", (stream) => stream.send({ frame: "hello", token: "sk_live_x" }), 4401],
  ["no token of the organization", (stream) => stream.send({ frame: "hello", token: ADMIN }), 4401],
  ["more than 64 KiB", (stream) => stream.send(" ".repeat(64 * 1024 + 1)), 1009],
])("[T5] closed: %s", async (_, act, code) => {
  const stream = await open();
  act(stream);
  expect((await stream.closed).code).toBe(code);
  if (code > 4000)
    expect(stream.frames.at(-1)).toMatchObject({
      frame: "error",
      type: expect.any(String),
      code: expect.any(String),
      message: expect.any(String),
    });
});

test("[T5] a frame of exactly 64 KiB passes", async () => {
  const stream = await hear();
  const ping = JSON.stringify({ frame: "ping", n: 1 });
  stream.send(ping + " ".repeat(64 * 1024 - ping.length));
  await stream.next("pong");
});

test("[T5] too many frames", async () => {
  const stream = await hear();
  for (let n = 0; n < 300; n++) stream.send({ frame: "ping", n });
  expect((await stream.closed).code).toBe(4429);
  expect(stream.frames.at(-1)).toMatchObject({ frame: "error", code: "rate_limited" });
});

test.concurrent("[T6] a revoked key closes its sockets within 5 s, on every server", async () => {
  const { id, token } = await app.newKey();
  const [here, there] = [await hear({ token }), await hear({ token }, second.server.url)];
  const begun = performance.now();
  await call("DELETE", `/v1/secret_keys/${id}`, { token: ADMIN });
  expect((await here.closed).code).toBe(4401);
  expect(performance.now() - begun).toBeLessThan(1_500);
  expect((await there.closed).code).toBe(4401);
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(there.frames.at(-1)).toMatchObject({ frame: "error", code: "token_revoked" });
});

test.concurrent("[T5] no hello within 5 s", async () => {
  const begun = performance.now();
  expect((await (await open()).closed).code).toBe(4408);
  expect(performance.now() - begun).toBeLessThan(6_000);
});

test("[T5] a page of a foreign origin, and a token in the address, get no socket", async () => {
  await expect(open(url, { origin: "https://evil.example" })).rejects.toThrow("403");
  await expect(open(url, { path: `/v1/stream?token=${keys.live}` })).rejects.toThrow("400");
  await expect(open(url, { path: "/v1/elsewhere" })).rejects.toThrow("404");
  await (await open(url, { origin: "https://app.example" })).close();
});

test("[T12] an upgrade without the subprotocol is told which one to offer", async () => {
  for (const offered of [[], ["other.v1"]]) {
    const answer = await new Promise<{ status: number; text: string }>((resolve) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/v1/stream`, offered);
      socket.on("error", () => {});
      socket.on("unexpected-response", (_, response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
    });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "invalid_value", param: "Sec-WebSocket-Protocol" });
    expect(answer.text).toContain("holdfast.v1");
  }
});

test("[T5] a fresh token keeps the stream, another participant's ends it", async () => {
  const stream = await hear();
  stream.send({ frame: "auth", token: keys.live });
  stream.send({ frame: "ping", n: 1 });
  await stream.next("pong");
  stream.send({ frame: "auth", token: (await app.newKey()).token });
  expect((await stream.closed).code).toBe(4401);
});

/** Collects garbage. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

test("[T8] a reader that does not read is let go, and others hear at once", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const [slow, quick] = [await hear(), await hear()];
  (slow.socket as unknown as { _socket: { pause(): void; resume(): void } })._socket.pause();
  const from = quick.position;
  const text = "x".repeat(900_000);
  const delays: number[] = [];
  for (let i = 0; i < 40; i++) {
    const position = await make(`slow-${i}`, { notes: text });
    const answered = performance.now();
    await quick.reaches(position);
    delays.push(performance.now() - answered);
  }
  expect(positions(quick)).toEqual(range(from, from + 40));
  expect(delays.sort((a, b) => a - b)[20]).toBeLessThan(500);
  // The server kept no more than a few of the 40 frames for the one who slept. What it has let go is not counted.
  const kept = () => {
    collect();
    return process.memoryUsage().arrayBuffers - before;
  };
  await expect.poll(kept, { timeout: 5_000 }).toBeLessThan(20_000_000);
  (slow.socket as unknown as { _socket: { resume(): void } })._socket.resume();
  // It may have been cut off before it could read the reason.
  expect([1006, 4409]).toContain((await slow.closed).code);
  expect(slow.entries.length).toBeLessThan(30);
});

test("[T5] a server that stops says so", async () => {
  const third = await app.another();
  const [stream, silent] = [await hear({}, third.server.url), await open(third.server.url)];
  const begun = performance.now();
  await third.server.close();
  expect([(await stream.closed).code, (await silent.closed).code]).toEqual([1012, 1012]);
  expect(performance.now() - begun).toBeLessThan(3_000);
});
