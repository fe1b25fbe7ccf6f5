import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { limits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { ADMIN, creates, hundred, startApp } from "../../testing/app.ts";
import { follow, type Hello, openStream, type TestStream } from "../../testing/stream/stream.ts";

const app = await startApp({ origins: ["https://app.example", "null", "capacitor://localhost"] });
const second = await app.another();
const { call, keys, url } = app;
const make = async (id: string, data: object = {}, ask = call) =>
  Number((await ask("POST", "/v1/models/slide", { json: { id, data } })).body.lastSyncId);
const headOf = async () => Number((await call("GET", "/v1/log?limit=1")).body.stamp);

const open = (where = url, options: Parameters<typeof openStream>[1] = {}) => openStream(where, options);
const connect = (hello: Hello = {}, where = url) => follow(where, hello.token ?? keys.live, hello);
const positions = ({ entries }: TestStream) => entries.map(({ syncId }) => syncId);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i + 1);

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

test("[T2] catching up over many pages while others write: every entry once, in order", async () => {
  const from = await headOf();
  const batch = (n: number) => call("POST", "/v1/commits", { json: creates("slide", hundred(`c${n}`)) });
  for (let n = 0; n < 12; n++) await batch(n);
  const before = connect({ since: from });
  const between = [connect({ since: from + 333 }), connect({ since: 0 }, second.server.url)];
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

test("[T2] [K7] writes on two servers reach the streams of both in one order; a reader of a group gets only its entries", async () => {
  const [here, there] = [await connect(), await connect({}, second.server.url)];
  const near = await connect({ groups: ["deck:near"] }, second.server.url);
  const from = here.position;
  const write = (i: number) => make(`two-${i}`, { deckId: i % 3 ? "far" : "near" }, i % 2 ? call : second.call);
  await Promise.all(Array.from({ length: 60 }, (_, i) => write(i)));
  await Promise.all([here, there, near].map((stream) => stream.reaches(from + 60)));
  expect(near.entries).toEqual(there.entries.filter(({ data }) => data?.deckId === "near"));
  expect(near.entries).toHaveLength(20);
  expect(positions(here)).toEqual(range(from, from + 60));
  expect(positions(there)).toEqual(range(from, from + 60));
  expect([here, there, near].flatMap(({ faults }) => faults)).toEqual([]);
});

test("[T2] hints that are lost are made up for by looking", async () => {
  const stream = await connect({}, second.server.url);
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

test.concurrent("[T6] a revoked key closes its sockets, on every server", async () => {
  const { id, token } = await app.newKey();
  const [here, there] = [await connect({ token }), await connect({ token }, second.server.url)];
  await call("DELETE", `/v1/secret_keys/${id}`, { token: ADMIN });
  expect((await here.closed).code).toBe(4401);
  expect((await there.closed).code).toBe(4401);
  expect(there.frames.at(-1)).toMatchObject({ frame: "error", code: "token_revoked" });
});

test("[T5] a page of a foreign origin gets no socket, one of a configured origin does", async () => {
  await expect(open(url, { origin: "https://evil.example" })).rejects.toThrow("403");
  for (const origin of ["https://app.example", "null", "capacitor://localhost"])
    await (await open(url, { origin })).close();
});

/** Collects garbage. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

test("[T8] a socket that does not read is closed, and others get entries at once", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const [slow, quick] = [await connect(), await connect()];
  (slow.socket as unknown as { _socket: { pause(): void; resume(): void } })._socket.pause();
  const from = quick.position;
  const text = "x".repeat(900_000);
  for (let i = 0; i < 40; i++) {
    const position = await make(`slow-${i}`, { notes: text });
    // The slow one still reads nothing.
    await quick.reaches(position);
  }
  expect(positions(quick)).toEqual(range(from, from + 40));
  // The server kept no more than a few of the 40 frames for the one who slept. What it has let go is not counted.
  const kept = () => {
    collect();
    return process.memoryUsage().arrayBuffers - before;
  };
  await until(async () => expect(await kept()).toBeLessThan(20_000_000));
  (slow.socket as unknown as { _socket: { resume(): void } })._socket.resume();
  // It may have been cut off before it could read the reason.
  expect([1006, 4409]).toContain((await slow.closed).code);
  expect(slow.entries.length).toBeLessThan(30);
});

test("[T5] a server that stops closes its streams with 1012", async () => {
  const third = await app.another();
  const [stream, silent] = [await connect({}, third.server.url), await open(third.server.url)];
  await third.server.close();
  expect((await stream.closed).code).toBe(1012);
  expect((await silent.closed).code).toBe(1012);
});
