import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, expect, test } from "vitest";
import { giveTime } from "../../../../../scripts/testing/give-time.ts";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";
import { follow, type TestStream } from "../../testing/stream/stream.ts";

const app = await startApp();
const { keys } = app;
const opened: (Socket | TestStream["socket"])[] = [];
afterAll(() => {
  for (const one of opened) "terminate" in one ? one.terminate() : one.destroy();
});

/** A connection that asks nothing. */
async function idle(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  opened.push(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
}

test("[B7] beyond the limit, a connection without a valid token is closed, and authenticated ones continue", async () => {
  const { server, call } = await app.another({ limits: { connections: 20 } });
  // This one asks, and keeps its connection.
  expect((await call("GET", "/v1/identity")).status).toBe(200);
  for (let n = 0; n < 19; n++) await idle(server.url);
  await giveTime(100);
  const isClosed = () => (opened as Socket[]).map(({ destroyed }) => destroyed);
  expect(isClosed()).toEqual(Array(19).fill(false));
  for (let n = 0; n < 5; n++) await idle(server.url);
  await until(() => expect(isClosed().filter(Boolean)).toHaveLength(5));
  // The oldest go, and those that came last stay.
  expect(isClosed()).toEqual([...Array(5).fill(true), ...Array(19).fill(false)]);
  expect((await call("GET", "/v1/identity")).status).toBe(200);
  for (const one of opened.splice(0)) (one as Socket).destroy();
});

test("[T2] hundreds of readers that reconnect at once after a restart each continue from their position", async () => {
  const READERS = 300;
  const first = await app.another();
  const write = async (id: string) =>
    Number((await app.call("POST", "/v1/models/slide", { json: { id, data: {} } })).body.lastSyncId);
  const from = await write("before");
  const all = (url: string, since: number) =>
    Promise.all(Array.from({ length: READERS }, () => follow(url, keys.live, { since })));
  const before = await all(first.server.url, from);
  for (const { socket } of before) opened.push(socket);
  await first.server.close();
  expect((await Promise.all(before.map(({ closed }) => closed))).map(({ code }) => code)).toEqual(
    Array(READERS).fill(1012),
  );
  const meanwhile = await write("meanwhile");
  const next = await app.another();
  const after = await all(next.server.url, from);
  for (const { socket } of after) opened.push(socket);
  const later = await write("after");
  await Promise.all(after.map((stream) => stream.reaches(later)));
  expect(new Set(after.map(({ entries }) => entries.map(({ syncId }) => syncId).join()))).toEqual(
    new Set([`${meanwhile},${later}`]),
  );
  expect(after.flatMap(({ faults }) => faults)).toEqual([]);
});
