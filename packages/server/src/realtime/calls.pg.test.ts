import { limits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { startApp } from "../testing/app.ts";
import { follow, openStream, type TestStream } from "../testing/stream/stream.ts";

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

test("[T19] a commit on the stream is a commit: its receipt, its name, its entry on the same stream", async () => {
  const stream = await connect();
  const { status, body } = await ask(stream, "commitBulk", { body: { commits: [create("c1"), create("c2")] } });
  expect(status).toBe(200);
  const [first] = body.data as { lastSyncId: number; httpStatus: number }[];
  expect(first).toMatchObject({ httpStatus: 200 });
  await stream.reaches(Number(first?.lastSyncId));
  const again = await call("POST", "/v1/commits/bulk", { json: { commits: [create("c1"), create("c2")] } });
  expect(again.body).toEqual(body);
  const one = await ask(stream, "commit", { body: create("c1") });
  expect(one).toMatchObject({ status: 200, headers: { "idempotent-replayed": "true" } });
  expect((await ask(stream, "readCommit", { params: { clientTxId: "tx-c2" } })).status).toBe(200);
  const found = await ask(stream, "queryRecords", { params: { model: "slide" }, body: { where: { id: "c1" } } });
  expect(found.body.data).toMatchObject([{ id: "c1" }]);
});

test("[T19] claims on the stream", async () => {
  const stream = await connect();
  await call("POST", "/v1/models/slide", { json: { id: "claimed", data: {} } });
  const on = { model: "slide", id: "claimed" };
  const { status, body } = await ask(stream, "acquireClaim", { params: on, body: { ttl: 60_000 } });
  expect(status).toBe(201);
  const claim = (body.claim ?? body) as { id: string };
  expect((await ask(stream, "readClaim", { params: { id: claim.id } })).body).toMatchObject({ status: "active" });
  expect((await ask(stream, "listOwnClaims")).status).toBe(200);
  expect((await ask(stream, "releaseClaim", { params: { id: claim.id } })).status).toBe(200);
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

test("[T19] what is no call of the stream is refused by its number", async () => {
  const stream = await connect();
  for (const name of ["pushSchema", "createEphemeralKey", "readSnapshot", "dance", "__proto__"]) {
    const answer = await ask(stream, name, { body: {} });
    expect([answer.status, answer.body.code]).toEqual([404, "route_not_found"]);
  }
  const large = await ask(stream, "commit", { body: create("large", "x".repeat(65 * 1024)) });
  expect([large.status, large.body.code]).toEqual([413, "request_too_large"]);
  const deep = `${"[".repeat(100)}${"]".repeat(100)}`;
  stream.send(`{"frame":"call","n":70001,"name":"commit","body":${deep}}`);
  expect((await answerTo(stream, 70_001)).status).toBe(400);
  const extra = await ask(stream, "commit", { more: 1 });
  expect([extra.status, extra.body.code]).toEqual([400, "unknown_field"]);
  expect((await ask(stream, "listOwnClaims")).status).toBe(200);
});

test("[T19] before welcome a call is refused by its number, and a hello still works", async () => {
  const stream = await openStream(url);
  stream.send({ frame: "call", n: 1, name: "listOwnClaims" });
  expect((await answerTo(stream, 1)).body).toMatchObject({ code: "invalid_frame" });
  stream.send({ frame: "hello", token: keys.live });
  await stream.next("welcome");
});

test("[T19] the ninth call in flight is 429, and so many are answered; a number that is in use is refused", async () => {
  const stream = await connect();
  const slow = (n: number) =>
    stream.send({ frame: "call", n, name: "readClaim", params: { id: "clm_none" }, query: "" });
  const first = last + 1;
  last += limits.callsInFlight + 2;
  for (let n = first; n <= first + limits.callsInFlight; n++) slow(n);
  slow(first);
  const answers = await Promise.all(Array.from({ length: limits.callsInFlight + 2 }, () => stream.next("answer")));
  const of = (n: number) => answers.filter((answer) => answer.n === n).map(({ status }) => status);
  expect(of(first + limits.callsInFlight)).toEqual([429]);
  expect(of(first).sort()).toEqual([400, 404]);
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(limits.callsInFlight);
});

test.each([
  ["without the parts of its path", "acquireClaim", {}, "missing_field"],
  ["with an empty one", "readCommit", { params: { clientTxId: "" } }, "missing_field"],
  ["with another one", "listClaims", { params: { id: "x" } }, "unknown_field"],
])("[T19] a call %s is refused", async (_, name, more, code) => {
  const { status, body } = await ask(await connect(), name, more);
  expect([status, body.code]).toEqual([400, code]);
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
