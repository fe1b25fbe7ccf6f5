import { expect, test } from "vitest";
import { startApp } from "../testing/app.ts";
import { follow, type TestStream } from "../testing/stream/stream.ts";

const app = await startApp();
const { call, keys, url } = app;

let last = 0;
/** Sends a call, and returns its answer. */
async function ask(stream: TestStream, name: string, more: object = {}) {
  const n = ++last;
  stream.send({ frame: "call", n, name, ...more });
  return await answerTo(stream, n);
}

async function answerTo(stream: TestStream, n: number) {
  for (;;) {
    const answer = await stream.next("answer");
    if (answer.n === n) return answer as typeof answer & { readonly body: Record<string, unknown> };
  }
}

const connect = (token = keys.live) => follow(url, token);
const create = (id: string, title = "New") => ({
  clientTxId: `tx-${id}`,
  operations: [{ action: "create", model: "slide", id, data: { title } }],
});

const NUL = String.fromCharCode(0);

test.each<readonly [what: string, name: string, more: object, path: string, method: "POST" | "GET"]>([
  ["an unknown model", "queryRecords", { params: { model: "none" }, body: {} }, "/v1/models/none/query", "POST"],
  ["no body", "commit", {}, "/v1/commits", "POST"],
  ["a body of the wrong shape", "commit", { body: { operations: 1 } }, "/v1/commits", "POST"],
  ["a body that is a list", "commit", { body: [] }, "/v1/commits", "POST"],
  ["NUL in its body", "commit", { body: create("nul", NUL) }, "/v1/commits", "POST"],
  ["too large a number", "commit", { body: { ...create("big"), reads: [{ x: 1e300 }] } }, "/v1/commits", "POST"],
  ["an unknown commit", "readCommit", { params: { clientTxId: "none" } }, "/v1/commits/none", "GET"],
  ["an unknown parameter", "listClaims", { query: "what=1" }, "/v1/claims?what=1", "GET"],
])("[T19] a call with %s is refused as over HTTP, and the stream goes on", async (_, name, more, path, method) => {
  const stream = await connect();
  const answer = await ask(stream, name, more);
  const { body } = more as { body?: object };
  const over = await call(method, path, body === undefined ? {} : { json: body });
  const { request_id: _id, ...envelope } = answer.body;
  const { request_id: _other, ...expected } = over.body;
  expect([answer.status, envelope]).toEqual([over.status, expected]);
  expect((await ask(stream, "listOwnClaims")).status).toBe(200);
});

test("[T19] a call has the rights of the token that the stream has at that moment", async () => {
  const { body: minted } = await call("POST", "/v1/capabilities", {
    json: { participantId: "bot", operations: ["slide.*"], syncGroups: ["deck:d1"], ttlSeconds: 60 },
  });
  const { id, token } = minted as { id: string; token: string };
  const stream = await connect(token);
  const operations = [{ action: "create", model: "slide", id: "hidden", data: { deckId: "d2" } }];
  const hidden = await ask(stream, "commit", { body: { clientTxId: "tx-hidden", operations } });
  expect([hidden.status, hidden.body.code]).toEqual([403, "capability_scope_denied"]);
  await call("DELETE", `/v1/capabilities/${id}`);
  expect((await stream.closed).code).toBe(4401);
});
