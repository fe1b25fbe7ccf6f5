import { connect } from "node:net";
import type { LogEntry } from "@holdfast/sdk/protocol";
import { afterAll, expect, test } from "vitest";
import { ADMIN, type Asking, startApp } from "../testing/app.ts";
import { follow, type Hello, openStream, type TestStream } from "../testing/stream.ts";

const app = await startApp();
const second = await app.another();
const { call, keys, organization, url } = app;
const slides = "/v1/models/slide";
const DENIED = "capability_scope_denied";

const capability = async (body: object, asking: Asking = {}) =>
  (await call("POST", "/v1/capabilities", { json: body, ...asking })).body as { id: string; token: string };
const person = async (id: string, body: object = {}) =>
  (await call("POST", "/v1/ephemeral_keys", { json: { user: { id }, ...body } })).body as { id: string; token: string };
const make = async (id: string, data: object = {}, token = keys.live) =>
  Number((await call("POST", slides, { json: { id, data }, token })).body.lastSyncId);
const change = (id: string, data: object, rest: object = {}) =>
  call("PATCH", `${slides}/${id}`, { json: { data }, ...rest });
const headOf = async () => Number((await call("GET", "/v1/log?limit=1")).body.stamp);
const ids = (entries: unknown) => (entries as LogEntry[]).map(({ id }) => id);
const deck = (id: string, operations = ["slide.*"]) => capability({ operations, syncGroups: [`deck:${id}`] });

const streams: TestStream[] = [];
afterAll(() => {
  for (const { socket } of streams) socket.terminate();
});
const hear = async (token: string, hello: Hello = {}, where = url) => {
  const stream = await follow(where, token, hello);
  streams.push(stream);
  return stream;
};

test("[K1] a capability is told with its token once, and listed, read and named without it", async () => {
  const { status, body } = await call("POST", "/v1/capabilities", {
    json: { operations: ["slide.*"], syncGroups: ["deck:1"], label: "worker", userMeta: { run: 7 } },
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    object: "capability",
    id: expect.stringMatching(/^cap_[0-9A-Za-z]{24}$/),
    capabilityId: body.id,
    token: expect.stringMatching(/^rk_[0-9A-Za-z]{36}$/),
    participantKind: "agent",
    participantId: body.id,
    operations: ["slide.*"],
    syncGroups: ["deck:1"],
    scope: {
      organizationId: organization,
      participantKind: "agent",
      participantId: expect.any(String),
      operations: ["slide.*"],
      syncGroups: ["deck:1"],
    },
    organizationId: organization,
    livemode: true,
    label: "worker",
    userMeta: { run: 7 },
    status: "active",
    issuedAt: expect.any(String),
    expiresAt: expect.any(String),
    revokedAt: null,
    lastUsedAt: null,
  });
  expect(Date.parse(String(body.expiresAt)) - Date.parse(String(body.issuedAt))).toBe(600_000);
  const { token, ...told } = body;
  expect((await call("GET", `/v1/capabilities/${body.id}`)).body).toEqual(told);
  expect((await call("GET", "/v1/capabilities?limit=100")).body.data).toContainEqual(told);
  expect((await call("GET", `/v1/capabilities/${body.id}`, { token: keys.test })).status).toBe(404);
  expect((await call("GET", `/v1/capabilities/${body.id}`, { token: keys.other })).status).toBe(404);
  const [stored] = await app.sql<{ n: number }>(
    "select count(*)::int as n from holdfast.scoped_token t where t::text like '%' || $1 || '%'",
    [String(token).slice(3)],
  );
  expect(stored?.n).toBe(0);
  await call("GET", "/v1/identity", { token: String(token) });
  expect((await call("GET", `/v1/capabilities/${body.id}`)).body.lastUsedAt).toEqual(expect.any(String));
});

test("[K1] what a token is asked for with is checked and its place named", async () => {
  const refused = async (path: string, json: object) => {
    const { status, body } = await call("POST", path, { json });
    return `${status} ${body.code} ${body.param}`;
  };
  expect(await refused("/v1/capabilities", {})).toBe("400 narrow_scope_required operations");
  expect(await refused("/v1/capabilities", { wideScope: true, participantKind: "user" })).toBe(
    "400 invalid_participant_kind participantKind",
  );
  expect(await refused("/v1/capabilities", { wideScope: true, ttlSeconds: 86_401 })).toBe(
    "400 invalid_value ttlSeconds",
  );
  expect(await refused("/v1/capabilities", { wideScope: true, colour: 1 })).toBe("400 unknown_field colour");
  expect(await refused("/v1/ephemeral_keys", {})).toBe("400 missing_field user");
  expect(await refused("/v1/ephemeral_keys", { user: { id: "a", name: "b" } })).toBe("400 unknown_field user.name");
  expect((await capability({ wideScope: true, ttlSeconds: 86_400 })).token).toMatch(/^rk_/);
});

test("[K1] tokens are listed in pages, oldest first, and a person's alone", async () => {
  const mine = await Promise.all(Array.from({ length: 5 }, () => person("lister")));
  const seen: string[] = [];
  let cursor = "";
  do {
    const { body } = await call("GET", `/v1/ephemeral_keys?user=lister&limit=2${cursor}`);
    seen.push(...(body.data as { id: string }[]).map(({ id }) => id));
    cursor = body.has_more ? `&starting_after=${body.next_cursor}` : "";
  } while (cursor !== "");
  expect(seen.toSorted()).toEqual(mine.map(({ id }) => id).toSorted());
  const { body } = await call("GET", "/v1/ephemeral_keys?user=lister&limit=2");
  const elsewhere = `/v1/ephemeral_keys?user=other&limit=2&starting_after=${body.next_cursor}`;
  expect((await call("GET", elsewhere)).body.code).toBe("invalid_cursor");
});

test("[K9] a token can ask who it is", async () => {
  const { token } = await person("ada", { syncGroups: ["deck:1"], operations: ["slide.read"] });
  const { body } = await call("GET", "/v1/identity", { token });
  const { logId } = (await call("GET", "/v1/log")).body;
  expect(body).toEqual({
    object: "identity",
    organization,
    livemode: true,
    participant: "ada",
    participantKind: "user",
    operations: ["slide.read"],
    syncGroups: ["deck:1"],
    expiresAt: expect.any(String),
    logId,
    owner: `${organization}/live/user/ada`,
    viewHash: expect.stringMatching(/^[\w-]{22}$/),
  });
  expect((await call("GET", "/v1/identity", { token: keys.test })).body).toMatchObject({
    livemode: false,
    participantKind: "system",
    operations: ["*.*", "claim.preempt", "claim.reorder"],
    syncGroups: [`org:${organization}`],
    expiresAt: null,
  });
});

test("[K10] a scoped token mints nothing and pushes no schema, however wide it is", async () => {
  const { token } = await capability({ wideScope: true });
  const routes = [
    ["POST", "/v1/capabilities"],
    ["GET", "/v1/capabilities"],
    ["POST", "/v1/ephemeral_keys"],
    ["DELETE", "/v1/ephemeral_keys?user=ada"],
    ["POST", "/v1/schema"],
  ] as const;
  for (const [method, path] of routes) {
    const { status, body } = await call(method, path, { token, ...(method === "POST" && { json: {} }) });
    expect([path, status, body.code]).toEqual([path, 403, "secret_key_required"]);
  }
  expect((await call("POST", "/v1/organizations", { token, json: { name: "x" } })).body.code).toBe("admin_required");
});

test("[K3] [K4] writes within the groups land, others are 403 with what was lacked, and leave no trace", async () => {
  await make("k3-b", { deckId: "k3-2", title: "B" });
  const { token, id } = await deck("k3-1");
  await make("k3-a", { deckId: "k3-1" }, token);
  expect((await call("GET", "/v1/log?limit=1000&after=0&group=deck:k3-1")).body.data).toContainEqual(
    expect.objectContaining({ id: "k3-a", actor: id, participantKind: "agent" }),
  );
  const before = await headOf();
  const tries = [
    await change("k3-b", { title: "x" }, { token }),
    await change("k3-a", { deckId: "k3-2" }, { token }),
    await call("DELETE", `${slides}/k3-b`, { token }),
    await call("POST", `${slides}/k3-b/archive`, { token }),
    await call("POST", slides, { token, json: { id: "k3-c", data: { deckId: "k3-2" } } }),
    await call("POST", "/v1/models/document", { token, json: { id: "k3-d", data: {} } }),
  ];
  for (const { status, body } of tries) {
    expect([status, body.code]).toEqual([403, DENIED]);
    const { error } = body.receipt as { error: { requiredCapability: object } };
    expect(body.requiredCapability).toEqual(error.requiredCapability);
    expect(body.requiredCapability).toMatchObject({ can: expect.any(String), scope: expect.stringMatching(/\./) });
  }
  const batch = await call("POST", "/v1/commits", {
    token,
    json: {
      operations: Array.from({ length: 10 }, (_, i) => ({
        action: "create",
        model: "slide",
        id: `k3-batch-${i}`,
        data: { deckId: i === 6 ? "k3-2" : "k3-1" },
      })),
    },
  });
  expect([batch.status, batch.body.param]).toEqual([403, "operations[6]"]);
  expect(batch.body.requiredCapability).toEqual({
    can: "create",
    model: "slide",
    syncGroup: "deck:k3-2",
    scope: "slide.create",
  });
  expect(await headOf()).toBe(before);
});

test("[K13] a denial names verb, model and group; a create without the field that names its group is told which", async () => {
  const { token } = await deck("k13");
  const foreign = await call("POST", slides, { json: { id: "k13-a", data: { deckId: "k13-other" } }, token });
  expect([foreign.status, foreign.body.message]).toEqual([
    403,
    "The token's scope does not cover slide.create in deck:k13-other.",
  ]);
  const single = await call("POST", slides, { json: { id: "k13-b", data: { title: "x" } }, token });
  expect([single.status, single.body.code, single.body.param]).toEqual([400, "missing_field", "data.deckId"]);
  const operations = [{ action: "create", model: "slide", id: "k13-c", data: {} }];
  const { status, body } = await call("POST", "/v1/commits", { json: { operations }, token });
  expect([status, body.code, body.param]).toEqual([400, "missing_field", "operations[0].data.deckId"]);
  const reader = await deck("k13", ["slide.read"]);
  const denied = await call("POST", slides, { json: { id: "k13-d", data: {} }, token: reader.token });
  expect(denied.body.code).toBe(DENIED);
});

test("[K4] the favorite's denial says what to ask for", async () => {
  const { token } = await person("fay", { operations: ["slide.read"] });
  const { status, body } = await call("PATCH", "/v1/models/favorite/f", { token, json: { data: { recordId: "x" } } });
  expect(status).toBe(403);
  expect(body.requiredCapability).toEqual({
    can: "update",
    model: "favorite",
    syncGroup: "user:fay",
    scope: "favorite.update",
    constraints: { model: "favorite", syncGroup: "user:fay" },
    issuer: organization,
    ttlSeconds: 600,
    nonce: expect.stringMatching(/^stx_/),
  });
});

test("[K6] reading: a record out of sight is missing, a model out of scope is 403", async () => {
  await make("k6-a", { deckId: "k6-1" });
  await make("k6-b", { deckId: "k6-2" });
  const { token } = await deck("k6-1", ["slide.update"]);
  expect((await call("GET", `${slides}/k6-a`, { token })).status).toBe(200);
  expect((await call("GET", `${slides}/k6-b`, { token })).body.code).toBe("record_not_found");
  const { status, body } = await call("GET", "/v1/models/document/x", { token });
  expect([status, body.code, body.param]).toEqual([403, DENIED, "model"]);
  expect(body.requiredCapability).toMatchObject({ can: "read", model: "document", scope: "document.read" });
});

test("[K6] lists hold what the token covers and no more, page by page", async () => {
  for (const id of ["a", "b", "c", "d"]) await make(`k6l-${id}`, { deckId: id === "c" ? "k6l-2" : "k6l-1" });
  const { token } = await deck("k6l-1");
  const first = (await call("GET", `${slides}?limit=2`, { token })).body;
  const rest = (await call("GET", `${slides}?limit=2&starting_after=${first.next_cursor}`, { token })).body;
  expect([ids(first.data), ids(rest.data), rest.has_more]).toEqual([["k6l-a", "k6l-b"], ["k6l-d"], false]);
  expect(ids((await call("GET", `${slides}?ids=k6l-a,k6l-c`, { token })).body.data)).toEqual(["k6l-a"]);
  expect((await call("GET", `${slides}?deckId=k6l-2`, { token })).body.data).toEqual([]);
  const elsewhere = `${slides}?limit=2&starting_after=${first.next_cursor}`;
  expect((await call("GET", elsewhere)).body.code).toBe("invalid_cursor");
  expect((await call("GET", "/v1/models/document", { token })).body.code).toBe(DENIED);
});

test("[K6] the feed and the snapshot hold what the token covers and no more", async () => {
  const from = await headOf();
  await make("k6c-a", { deckId: "k6c-1" });
  await make("k6c-b", { deckId: "k6c-2" });
  await call("POST", "/v1/models/document", { json: { id: "k6c-doc", data: {} } });
  const { token } = await deck("k6c-1");
  const feed = (await call("GET", `/v1/log?after=${from}`, { token })).body;
  expect([ids(feed.data), feed.stamp, feed.next_cursor]).toEqual([["k6c-a"], from + 3, String(from + 3)]);
  const { text } = await call("GET", "/v1/snapshot", { token });
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id?: string; count?: number });
  expect(lines.slice(1, -1).map(({ id }) => id)).toEqual(["k6c-a"]);
  for (const path of ["/v1/log?group=deck:k6c-2", "/v1/log?model=document", "/v1/snapshot?group=deck:k6c-2"]) {
    const { status, body } = await call("GET", path, { token });
    expect([path, status, body.code]).toEqual([path, 403, DENIED]);
  }
  const whole = await call("GET", `/v1/snapshot?group=org:${organization}`, { token });
  expect(whole.body.requiredCapability).toMatchObject({ syncGroup: `org:${organization}` });
});

test("[K7] what leaves a reader's groups disappears there, and what enters appears whole, in feed and stream", async () => {
  await make("k7-s", { deckId: "k7-1", title: "T" });
  const from = await headOf();
  const readers = [await deck("k7-1"), await deck("k7-2")];
  const heard = await Promise.all(readers.map(({ token }) => hear(token, { since: from })));
  const elsewhere = await Promise.all(readers.map(({ token }) => hear(token, { since: from }, second.server.url)));
  await change("k7-s", { title: "moving", deckId: "k7-2" });
  const to = await headOf();
  const feeds = await Promise.all(
    readers.map(async ({ token }) => (await call("GET", `/v1/log?after=${from}`, { token })).body.data),
  );
  const left = expect.objectContaining({ id: "k7-s", verb: "deleted", data: null, left: true, changedFields: null });
  const came = expect.objectContaining({
    id: "k7-s",
    verb: "updated",
    data: expect.objectContaining({ title: "moving" }),
  });
  expect(feeds).toEqual([[left], [came]]);
  for (const streams of [heard, elsewhere]) {
    await Promise.all(streams.map((stream) => stream.reaches(to)));
    expect(streams.map(({ entries }) => entries)).toEqual(feeds);
  }
  await change("k7-s", { title: "out of sight" });
  await Promise.all(heard.map((stream) => stream.reaches(to + 1)));
  expect(heard.map(({ entries }) => entries.length)).toEqual([1, 2]);
});

test("[K6] a stream that asks for more than its token covers is told what it lacked, and closed", async () => {
  const { token } = await deck("k6s");
  const refused = async (hello: object) => {
    const stream = await openStream(url);
    streams.push(stream);
    stream.send({ frame: "hello", token, ...hello });
    const { code } = await stream.closed;
    return [code, stream.frames] as const;
  };
  const [code, frames] = await refused({ groups: ["deck:other"], since: 0 });
  expect(code).toBe(4403);
  expect(frames).toEqual([
    expect.objectContaining({
      frame: "error",
      code: DENIED,
      param: "groups",
      requiredCapability: expect.objectContaining({ can: "read", syncGroup: "deck:other" }),
    }),
  ]);
  expect((await refused({ models: ["document"] }))[0]).toBe(4403);
  const stream = await hear(token);
  stream.send({ frame: "follow", groups: ["deck:other"] });
  expect((await stream.closed).code).toBe(4403);
});

test("[K8] a token ends when its time is over: 401, and its stream closes", async () => {
  const { token } = await capability({ wideScope: true, ttlSeconds: 1 });
  const stream = await hear(token);
  expect(stream.frames[0]).toMatchObject({ frame: "welcome", expiresAt: expect.any(String) });
  expect((await stream.closed).code).toBe(4401);
  const { status, headers, body } = await call("GET", "/v1/identity", { token });
  expect([status, headers["www-authenticate"], body.code]).toEqual([401, "Bearer", "token_expired"]);
});

test("[K8] a revoked token ends within 5 s in every process, and its streams with it", async () => {
  const { token, id } = await capability({ wideScope: true });
  await second.call("GET", "/v1/identity", { token });
  const [here, there] = [await hear(token), await hear(token, {}, second.server.url)];
  const { body } = await call("DELETE", `/v1/capabilities/${id}`);
  const at = Date.now();
  expect(body).toEqual({ object: "capability", id, deleted: true, activeSessionsClosed: 1 });
  expect((await here.closed).code).toBe(4401);
  expect((await call("GET", "/v1/identity", { token })).body.code).toBe("token_revoked");
  expect((await there.closed).code).toBe(4401);
  expect((await second.call("GET", "/v1/identity", { token })).body.code).toBe("token_revoked");
  expect(Date.now() - at).toBeLessThan(5_000);
  expect((await call("GET", `/v1/capabilities/${id}`)).body).toMatchObject({ status: "revoked" });
  expect((await call("DELETE", "/v1/capabilities/cap_none")).body.code).toBe("capability_not_found");
});

test("[K8] a token that ends while its request waits for news, or is still being sent, is refused", async () => {
  const { token, id } = await deck("k8");
  const head = await make("k8-before", { deckId: "k8" });
  const poll = call("GET", `/v1/log?after=${head}&wait=10000`, { token });
  const body = JSON.stringify({ id: "k8-late", data: { deckId: "k8" } });
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const answered = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(chunk.toString())));
  socket.write(`POST ${slides} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`);
  socket.write(`content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n{`);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await call("DELETE", `/v1/capabilities/${id}`);
  await make("k8-after", { deckId: "k8" });
  expect((await poll).body).toMatchObject({ code: "token_revoked" });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  socket.write(body.slice(1));
  expect(await answered).toMatch(/^HTTP\/1\.1 401 .*token_revoked/s);
  socket.destroy();
  expect((await call("GET", `${slides}/k8-late`)).status).toBe(404);
});

test("[K8] a rotated token goes on for its grace, and the new one is the same participant with the same scope", async () => {
  const first = await capability({ operations: ["slide.*"], syncGroups: ["deck:1"], participantId: "worker" });
  const { status, body } = await call("POST", `/v1/capabilities/${first.id}/rotate`, {
    json: { graceSeconds: 60, ttlSeconds: 30 },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    rotatedFrom: { id: first.id, expiresAt: expect.any(String) },
    participantId: "worker",
    operations: ["slide.*"],
  });
  expect(body.token).not.toBe(first.token);
  for (const token of [first.token, String(body.token)])
    expect((await call("GET", "/v1/identity", { token })).body.participant).toBe("worker");
  const third = await call("POST", `/v1/capabilities/${body.id}/rotate`);
  expect((await call("GET", "/v1/identity", { token: String(body.token) })).body.code).toBe("token_revoked");
  expect((await call("POST", `/v1/capabilities/${body.id}/rotate`)).body.code).toBe("capability_not_found");
  expect((await call("GET", "/v1/identity", { token: String(third.body.token) })).status).toBe(200);
});

test("[K8] of rotations at the same time one wins: a token has one successor", async () => {
  for (let round = 0; round < 5; round++) {
    const { id } = await capability({ wideScope: true });
    const answers = await Promise.all(Array.from({ length: 4 }, () => call("POST", `/v1/capabilities/${id}/rotate`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404]);
  }
});

test("[H7] what cannot be a token's id names none", async () => {
  for (const id of ["%00", "a%00b", "%F0%9F%98%80", ".", "a".repeat(300)])
    for (const [method, path, code] of [
      ["GET", `/v1/capabilities/${id}`, "capability_not_found"],
      ["DELETE", `/v1/capabilities/${id}`, "capability_not_found"],
      ["POST", `/v1/capabilities/${id}/rotate`, "capability_not_found"],
      ["DELETE", `/v1/ephemeral_keys/${id}`, "ephemeral_key_not_found"],
    ] as const)
      expect([id, (await call(method, path)).body.code]).toEqual([id, code]);
});

test("[K8] every key of a person can be revoked at once", async () => {
  const mine = [await person("gone"), await person("gone")];
  const other = await person("stays");
  const stream = await hear(mine[0]?.token ?? "");
  const { body } = await call("DELETE", "/v1/ephemeral_keys?user=gone");
  expect(body).toEqual({ object: "ephemeral_key_revocation", user: "gone", deleted: 2, activeSessionsClosed: 1 });
  expect((await stream.closed).code).toBe(4401);
  for (const { token } of mine) expect((await call("GET", "/v1/identity", { token })).body.code).toBe("token_revoked");
  expect((await call("GET", "/v1/identity", { token: other.token })).status).toBe(200);
  expect((await call("DELETE", "/v1/ephemeral_keys")).body).toMatchObject({ code: "missing_field", param: "user" });
  expect((await call("DELETE", `/v1/ephemeral_keys/${other.id}`)).body).toMatchObject({ deleted: true });
});

test("[K8] a made-up token is refused by its checksum, a well-formed one by the database", async () => {
  const { token } = await capability({ wideScope: true });
  const end = token.at(-1) === "0" ? "1" : "0";
  for (const wrong of [`${token.slice(0, -1)}${end}`, token.replace("rk_", "ek_"), "rk_", `${token}0`])
    expect((await call("GET", "/v1/identity", { token: wrong })).body.code).toBe("apikey_invalid");
});

test("[K11] a fresh token goes on where the old one was; one with another scope has the reader resync", async () => {
  const same = { operations: ["slide.*"], syncGroups: ["deck:k11"], participantId: "k11" };
  const [first, next, other] = [
    await capability(same),
    await capability({ ...same, syncGroups: ["deck:k11", "deck:k11"] }),
    await capability({ ...same, syncGroups: ["deck:k11", "deck:k11b"] }),
  ];
  const stream = await hear(first.token);
  stream.send({ frame: "auth", token: next.token });
  const position = await make("k11-a", { deckId: "k11" });
  await stream.reaches(position);
  stream.send({ frame: "auth", token: other.token });
  expect(await stream.next("renewed")).toMatchObject({
    owner: `${organization}/live/agent/k11`,
    models: ["slide"],
    expiresInMs: expect.closeTo(600_000, -4),
  });
  expect(await stream.next("resync")).toEqual({ frame: "resync", reason: "scope" });
  stream.send({ frame: "hello", token: other.token, since: position });
  const later = await make("k11-b", { deckId: "k11b" });
  await stream.reaches(later);
  expect(ids(stream.entries)).toEqual(["k11-a", "k11-b"]);
});

test("[K6] of what is asked for by name a reader gets what its token covers, and is told what that is", async () => {
  const from = await headOf();
  await make("k6n-a", { deckId: "k6n-1" });
  await make("k6n-b", { deckId: "k6n-2" });
  const { token } = await deck("k6n-1");
  const models = "model=document&model=slide&model=notPushedYet";
  const feed = (await call("GET", `/v1/log?after=${from}&${models}&group=deck:k6n-2&group=deck:k6n-1`, { token })).body;
  expect([ids(feed.data), feed.models]).toEqual([["k6n-a"], ["slide"]]);
  const { text } = await call("GET", `/v1/snapshot?${models}`, { token });
  expect(JSON.parse(text.split("\n")[0] as string)).toMatchObject({ models: ["slide"] });
  const stream = await hear(token, { models: ["document", "slide", "notPushedYet"] });
  expect(stream.frames[0]).toMatchObject({ frame: "welcome", models: ["slide"] });
  for (const path of ["/v1/log?model=notPushedYet", "/v1/snapshot?model=notPushedYet"]) {
    const { status, body } = await call("GET", path);
    expect([path, status, body.code, body.param]).toEqual([path, 400, "unknown_model", "model"]);
  }
});

test("[K12] everything that is read says whose token it was and under which view", async () => {
  const { token } = await person("k12", { syncGroups: ["deck:1", "deck:2"], operations: ["slide.read"] });
  const again = await person("k12", { syncGroups: ["deck:2", "deck:1"], operations: ["slide.*"] });
  const wider = await person("k12", { syncGroups: ["deck:1", "deck:2", "deck:3"], operations: ["slide.read"] });
  const said = async (bearer: string) => {
    const { text } = await call("GET", "/v1/snapshot?limit=1", { token: bearer });
    const stream = await hear(bearer);
    const all = [
      (await call("GET", "/v1/identity", { token: bearer })).body,
      (await call("GET", "/v1/log?limit=1", { token: bearer })).body,
      JSON.parse(text.split("\n")[0] as string),
      stream.frames[0],
    ];
    const [first, ...rest] = all.map(({ owner, viewHash }) => ({ owner, viewHash }));
    for (const other of rest) expect(other).toEqual(first);
    return first as { owner: string; viewHash: string };
  };
  const [one, same, other] = [await said(token), await said(again.token), await said(wider.token)];
  expect(one.owner).toBe(`${organization}/live/user/k12`);
  expect(same).toEqual(one);
  expect(other.owner).toBe(one.owner);
  expect(other.viewHash).not.toBe(one.viewHash);
  expect((await said(keys.test)).owner).toMatch(new RegExp(`^${organization}/test/system/key_`));
  const stream = await hear(wider.token, { view: one.viewHash });
  expect(await stream.next("resync")).toEqual({ frame: "resync", reason: "scope" });
});

test("[K3] the tenants of one organization are apart for scoped tokens too", async () => {
  await make("k3w", { deckId: "k3w" });
  const { token } = await capability({ wideScope: true }, { token: keys.test });
  expect((await call("GET", `${slides}/k3w`, { token })).status).toBe(404);
  expect((await call("GET", "/v1/identity", { token })).body.livemode).toBe(false);
  expect((await call("GET", "/v1/organizations", { token: ADMIN })).status).toBe(200);
});
