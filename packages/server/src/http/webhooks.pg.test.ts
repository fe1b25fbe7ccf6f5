import { expect, test, vi } from "vitest";
import { newMasterKey } from "../encryption.ts";
import { startServer } from "../server.ts";
import { ADMIN, caller, startApp } from "../testing/app.ts";
import { startReceiver } from "../testing/receiver.ts";

const app = await startApp();
const { call, keys } = app;
const PATH = "/v1/webhook_endpoints";
const url = "https://hooks.invalid/hooks";

test("[W1] a registration tells the secret once; it begins behind the head", async () => {
  const { body: made } = await call("POST", "/v1/models/slide", { json: { id: "h1", data: {} } });
  const answer = await call("POST", PATH, { json: { url, enabledEvents: ["SLIDE", "document"], description: "mine" } });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    object: "webhook_endpoint",
    id: expect.stringMatching(/^we_[0-9A-Za-z]{24}$/),
    url,
    status: "enabled",
    enabledEvents: ["slide", "document"],
    description: "mine",
    cursor: made.lastSyncId,
    lag: 0,
    attempt: 0,
    nextAttemptAt: null,
    lastError: null,
    lastSuccessAt: null,
    disabledReason: null,
    secretLast4: String(answer.body.secret).slice(-4),
    createdAt: expect.stringMatching(/Z$/),
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const { secret, ...known } = answer.body;
  expect((await call("GET", `${PATH}/${known.id}`)).body).toEqual(known);
  expect((await call("GET", PATH)).body).toMatchObject({ object: "list", data: [known], has_more: false });
  const rolled = await call("POST", `${PATH}/${known.id}/roll_secret`);
  expect(rolled.status).toBe(201);
  expect(rolled.body.secret).not.toBe(secret);
  expect((await call("GET", `${PATH}/${known.id}`)).body).not.toHaveProperty("secret");
  const [row] = await app.sql<{ text: string }>(
    "select row_to_json(e)::text as text from holdfast.webhook_endpoint e where id = $1",
    [known.id],
  );
  expect(row?.text).not.toContain(Buffer.from(String(rolled.body.secret)).toString("hex"));
  await call("DELETE", `${PATH}/${known.id}`);
});

test.each([
  [{}, "missing_field", "url"],
  [{ url: 5 }, "invalid_type", "url"],
  [{ url: "http://hooks.invalid" }, "invalid_url", "url"],
  [{ url: "https://localhost" }, "blocked_address", "url"],
  [{ url, enabledEvents: ["nobody"] }, "unknown_model", "enabledEvents[0]"],
  [{ url, enabledEvents: ["slide", "sl\0ide"] }, "invalid_value", "enabledEvents[1]"],
  [{ url, enabledEvents: [] }, "invalid_value", "enabledEvents"],
  [{ url, enabledEvents: "*" }, "invalid_type", "enabledEvents"],
  [{ url, from: -1 }, "invalid_value", "from"],
  [{ url, from: 1.5 }, "invalid_type", "from"],
  [{ url, from: 1e9 }, "read_at_in_future", "from"],
  [{ url, description: "x".repeat(1_001) }, "invalid_value", "description"],
  [{ url, secret: "mine" }, "unknown_field", "secret"],
])("[W1] [W2] %j is refused with %s", async (json, code, param) => {
  const answer = await call("POST", PATH, { json });
  expect([answer.status, answer.body.code, answer.body.param]).toEqual([400, code, param]);
  expect((await call("GET", PATH)).body.data).toEqual([]);
});

test("[W4] twenty, of which only their own tenant knows, and only its secret keys", async () => {
  const made = await Promise.all(Array.from({ length: 24 }, () => call("POST", PATH, { json: { url } })));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(made.filter(({ body }) => body.code === "too_many_endpoints" && body.type === "conflict_error")).toHaveLength(
    4,
  );
  const id = String(made.find(({ status }) => status === 201)?.body.id);
  const { body: capability } = await call("POST", "/v1/capabilities", { json: { wideScope: true } });
  const routes = [
    ["GET", ""],
    ["PATCH", "", {}],
    ["DELETE", ""],
    ["POST", "/roll_secret"],
    ["POST", "/enable"],
    ["POST", "/disable"],
    ["POST", "/test"],
    ["POST", "/skip", { to: 1 }],
    ["GET", "/attempts"],
  ] as const;
  for (const [method, suffix, json] of routes) {
    for (const token of [keys.test, keys.other])
      expect((await call(method, `${PATH}/${id}${suffix}`, { token, json })).body).toMatchObject({
        code: "webhook_endpoint_not_found",
        param: "id",
      });
    const scoped = await call(method, `${PATH}/${id}${suffix}`, { token: String(capability.token), json });
    expect([scoped.status, scoped.body.code]).toEqual([403, "secret_key_required"]);
  }
  expect((await call("POST", PATH, { token: String(capability.token), json: { url } })).status).toBe(403);
  expect((await call("GET", PATH, { token: keys.other })).body.data).toEqual([]);
  const listed = (await call("GET", PATH)).body.data as { id: string }[];
  expect(listed.map((one) => one.id).sort()).toEqual(
    made.flatMap(({ body }) => (body.id ? [String(body.id)] : [])).sort(),
  );
  for (const one of listed) expect((await call("DELETE", `${PATH}/${one.id}`)).status).toBe(200);
});

test("[W1] [H4] null is absent in a registration; a route without a body takes none", async () => {
  const json = { url, enabledEvents: null, description: null, from: null };
  const { status, body: endpoint } = await call("POST", PATH, { json });
  expect([status, endpoint.enabledEvents, endpoint.description]).toEqual([201, ["*"], null]);
  const path = `${PATH}/${endpoint.id}`;
  for (const [method, suffix] of [
    ["POST", "/enable"],
    ["POST", "/disable"],
    ["POST", "/roll_secret"],
    ["POST", "/test"],
    ["DELETE", ""],
  ] as const) {
    expect((await call(method, path + suffix, { json: { x: 1 } })).body).toMatchObject({
      code: "unknown_field",
      param: "x",
    });
    expect((await call(method, path + suffix, { json: [1] })).body.code).toBe("invalid_body");
  }
  expect((await call("POST", `${path}/disable`, { json: {} })).status).toBe(201);
  expect((await call("DELETE", path)).status).toBe(200);
});

test("[W13] a skip goes forward only, and not beyond the log", async () => {
  const { body: endpoint } = await call("POST", PATH, { json: { url, from: 0 } });
  await call("POST", `${PATH}/${endpoint.id}/disable`);
  const skip = async (to: unknown) => (await call("POST", `${PATH}/${endpoint.id}/skip`, { json: { to } })).body;
  expect(await skip(0)).toMatchObject({ code: "invalid_value", param: "to" });
  expect(await skip("1")).toMatchObject({ code: "invalid_type", param: "to" });
  expect(await skip(1)).toMatchObject({ cursor: 1, status: "disabled" });
  expect(await skip(1)).toMatchObject({ code: "invalid_value", param: "to" });
  expect(await skip(1e6)).toMatchObject({ code: "read_at_in_future", param: "to" });
  await call("DELETE", `${PATH}/${endpoint.id}`);
});

test("[W17] the newest thousand attempts, a page at a time, newest first", async () => {
  const { body: endpoint } = await call("POST", PATH, { json: { url } });
  const path = `${PATH}/${endpoint.id}/attempts`;
  await call("POST", `${PATH}/${endpoint.id}/disable`);
  expect((await call("GET", path)).body).toMatchObject({ data: [], has_more: false, next_cursor: null });
  for (let i = 0; i < 5; i++) {
    const { body } = await call("POST", "/v1/models/slide", { json: { id: `w17-${i}`, data: {} } });
    await call("POST", `${PATH}/${endpoint.id}/skip`, { json: { to: body.lastSyncId } });
  }
  // As after 1 998 of them: the next take the last slot, and then the first ones.
  await app.sql("update holdfast.webhook_endpoint set attempts = 1998 where id = $1", [endpoint.id]);
  for (let i = 0; i < 5; i++) {
    const { body } = await call("POST", "/v1/models/slide", { json: { id: `w17b-${i}`, data: {} } });
    await call("POST", `${PATH}/${endpoint.id}/skip`, { json: { to: body.lastSyncId } });
  }
  const pages = [];
  let cursor: unknown = "";
  for (; cursor !== null; cursor = pages.at(-1)?.body.next_cursor)
    pages.push(await call("GET", `${path}?limit=3${cursor === "" ? "" : `&starting_after=${cursor}`}`));
  const all = pages.flatMap(({ body }) => body.data as { to: number; kind: string }[]);
  // Of the first five, those whose slots were taken again are gone.
  expect(all).toHaveLength(7);
  expect(all.map(({ to }) => to)).toEqual(all.map(({ to }) => to).toSorted((a, b) => b - a));
  expect((await call("GET", `${path}?limit=0`)).body.code).toBe("invalid_limit");
  expect((await call("GET", `${path}?starting_after=x`)).body.code).toBe("invalid_cursor");
  await call("DELETE", `${PATH}/${endpoint.id}`);
});

test("[W19] secrets survive another master key, as long as the old one is there once", async () => {
  const receiver = await startReceiver();
  const [old, next] = [newMasterKey(), newMasterKey()];
  const start = async (...masterKeys: string[]) => {
    const server = await startServer({
      ...{ databaseUrl: app.databaseUrl, adminToken: ADMIN, port: 0, masterKeys },
      webhooks: { allowPrivate: true, schedule: [0, 50, 50, 50, 50, 50, 50, 50] },
    });
    return { server, call: caller(server.url, keys.test) };
  };
  await app.server.close();
  const one = await start(old);
  const { body: endpoint } = await one.call("POST", PATH, { json: { url: receiver.url } });
  receiver.secrets = [String(endpoint.secret)];
  await one.server.close();
  const two = await start(next, old);
  await two.server.close();
  const three = await start(next);
  await three.call("POST", "/v1/models/slide", { json: { id: "k1", data: {} } });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 5_000 });
  expect(receiver.refused).toEqual([]);
  await three.server.close();

  // With neither key nothing is signed, and the owner is told.
  const four = await start(old);
  await four.call("POST", "/v1/models/slide", { json: { id: "k2", data: {} } });
  const read = async () => (await four.call("GET", `${PATH}/${endpoint.id}`)).body;
  await vi.waitFor(async () => expect(await read()).toMatchObject({ lastError: { code: "secret_unreadable" } }), 5_000);
  expect(receiver.received).toHaveLength(1);
  const { body: rolled } = await four.call("POST", `${PATH}/${endpoint.id}/roll_secret`);
  receiver.secrets = [String(rolled.secret)];
  await four.call("POST", `${PATH}/${endpoint.id}/enable`);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 5_000 });
  expect(receiver.refused).toEqual([]);
  await four.server.close();
});

test("[W3] an address that leads inside, whatever it was at its registration: a failed attempt, and no connection", async () => {
  const receiver = await startReceiver();
  const other = await startApp({ webhooks: { schedule: [0, 50, 50, 50, 50, 50, 50, 50] } });
  const { body: endpoint } = await other.call("POST", PATH, { json: { url } });
  await other.sql("update holdfast.webhook_endpoint set url = $1 where id = $2", [receiver.url, endpoint.id]);
  await other.call("POST", "/v1/models/slide", { json: { id: "r5", data: {} } });
  const read = async () => (await other.call("GET", `${PATH}/${endpoint.id}`)).body;
  await vi.waitFor(async () => expect(await read()).toMatchObject({ status: "disabled" }), { timeout: 8_000 });
  expect(await read()).toMatchObject({ attempt: 8, lastError: { code: "blocked_address" } });
  expect(receiver.received).toEqual([]);
});
