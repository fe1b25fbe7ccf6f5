import { expect, test } from "vitest";
import { ADMIN, startApp } from "../../testing/app.ts";
import { smallServers } from "../../testing/small-server.ts";
import { follow, openStream } from "../../testing/stream/stream.ts";

const app = await startApp();
const second = await app.another();
const { call, keys, url } = app;
const smallServer = smallServers(app);

test("[K8] [T6] a revoked key closes its sockets and is refused within 5 s, on every server", async () => {
  const { id, token } = await app.newKey();
  await second.call("GET", "/v1/identity", { token });
  const [here, there] = [await follow(url, token), await follow(second.server.url, token)];
  const begun = performance.now();
  await call("DELETE", `/v1/secret_keys/${id}`, { token: ADMIN });
  expect((await here.closed).code).toBe(4401);
  expect((await there.closed).code).toBe(4401);
  expect((await second.call("GET", "/v1/identity", { token })).body.code).toBe("token_revoked");
  expect(performance.now() - begun).toBeLessThan(5_000);
});

test("[T8] beside a reader that does not read the others hear at once", async () => {
  const [slow, quick] = [await follow(url, keys.live), await follow(url, keys.live)];
  (slow.socket as unknown as { _socket: { pause(): void } })._socket.pause();
  const notes = "x".repeat(900_000);
  const delays: number[] = [];
  for (let i = 0; i < 40; i++) {
    const { body } = await call("POST", "/v1/models/slide", { json: { id: `slow-${i}`, data: { notes } } });
    const answered = performance.now();
    await quick.reaches(Number(body.lastSyncId));
    delays.push(performance.now() - answered);
  }
  expect(delays.sort((a, b) => a - b)[20]).toBeLessThan(500);
  slow.socket.terminate();
  await quick.close();
});

test("[T5] a server that stops does not wait for its sockets", async () => {
  const third = await app.another();
  const [stream, silent] = [await follow(third.server.url, keys.live), await openStream(third.server.url)];
  const begun = performance.now();
  await third.server.close();
  expect((await stream.closed).code).toBe(1012);
  expect((await silent.closed).code).toBe(1012);
  expect(performance.now() - begun).toBeLessThan(5_000);
});

test("[T16] 20 sockets without a token, with 20 frames of 60 kB each, do not stop the process for others", async () => {
  const { url: small, call: ask } = await smallServer(192);
  const frame = `[${"[],".repeat(20_000)}[]]`;
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openStream(small)));
  for (let n = 0; n < 20; n++) for (const socket of sockets) socket.send(frame);
  let isOver = false;
  const closed = Promise.all(sockets.map((socket) => socket.closed)).finally(() => {
    isOver = true;
  });
  let longest = 0;
  while (!isOver) {
    const begun = performance.now();
    expect((await ask("GET", "/livez", { token: null })).status).toBe(200);
    longest = Math.max(longest, performance.now() - begun);
  }
  expect(longest).toBeLessThan(500);
  for (const { code } of await closed) expect(code).toBe(4400);
});
