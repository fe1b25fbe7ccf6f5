import { connect } from "node:net";
import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { holdClock } from "../../testing/held-clock.ts";
import { follow } from "../../testing/stream/stream.ts";
import { countReceived } from "../../testing/waiting/metrics.ts";

const app = await startApp({ metricsLoopback: true });
const second = await app.another();
const { call, capability, url } = app;
const slides = "/v1/models/slide";
const hear = (token: string, where = url) => follow(where, token);

test("[K1] a token is nowhere in the database", async () => {
  const { token } = await capability({ wideScope: true });
  const stored = await app.sql("select 1 from holdfast.scoped_token t where t::text like '%' || $1 || '%'", [
    token.slice(3),
  ]);
  expect(stored).toEqual([]);
});

test("[K8] a revoked token ends in every process, and its streams with it", async () => {
  const { token, id } = await capability({ wideScope: true });
  await second.call("GET", "/v1/identity", { token });
  const [here, there] = [await hear(token), await hear(token, second.server.url)];
  const { body } = await call("DELETE", `/v1/capabilities/${id}`);
  expect(body).toMatchObject({ deleted: true, activeSessionsClosed: 1 });
  expect((await here.closed).code).toBe(4401);
  expect((await call("GET", "/v1/identity", { token })).body.code).toBe("token_revoked");
  expect((await there.closed).code).toBe(4401);
  expect((await second.call("GET", "/v1/identity", { token })).body.code).toBe("token_revoked");
});

test("[K8] a token that ends while its request waits for news, or is still being sent, is refused", async () => {
  const { token, id } = await capability({ operations: ["slide.*"], syncGroups: ["deck:k8"] });
  const make = (slide: string) => call("POST", slides, { json: { id: slide, data: { deckId: "k8" } } });
  const head = (await make("k8-before")).body.lastSyncId;
  const received = await countReceived(call);
  const poll = call("GET", `/v1/log?after=${head}&wait=10000`, { token });
  const body = JSON.stringify({ id: "k8-late", data: { deckId: "k8" } });
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const answered = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(chunk.toString())));
  socket.write(`POST ${slides} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`);
  socket.write(`content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n{`);
  await received.reaches(2);
  await call("DELETE", `/v1/capabilities/${id}`);
  await make("k8-after");
  expect((await poll).body).toMatchObject({ code: "token_revoked" });
  // A token is looked at again if its body took longer than a second.
  holdClock().pass(2_000);
  socket.write(body.slice(1));
  expect(await answered).toMatch(/^HTTP\/1\.1 401 .*token_revoked/s);
  socket.destroy();
  expect((await call("GET", `${slides}/k8-late`)).status).toBe(404);
});
