import type { WebhookAttempt, WebhookEndpoint } from "@holdfast/sdk/protocol";
import { expect, onTestFinished, test } from "vitest";
import { giveTime } from "../../../../../../scripts/testing/give-time.ts";
import { until } from "../../../../../../scripts/testing/until.ts";
import { type App, startApp } from "../../../testing/app.ts";
import { type Receiver, startReceiver } from "../../../testing/receiver.ts";

// A second of ours is a day of theirs: the waits are short, and the schedule itself is tested without any. A request has
// longer than any test takes, so that a slow machine fails none.
const schedule = [0, 40, 60, 80, 100, 120, 140, 160];
const webhooks = { allowPrivate: true, schedule, requestMs: 300_000, connectMs: 300_000, leaseMs: 400_000 };
const app = await startApp({ webhooks });
const { call } = app;

type Endpoint = WebhookEndpoint & Record<string, unknown>;

async function register(receiver: Receiver, more: object = {}, from: App["call"] = call): Promise<Endpoint> {
  const answer = await from("POST", "/v1/webhook_endpoints", { json: { url: receiver.url, ...more } });
  expect(answer.status, answer.text).toBe(201);
  const endpoint = answer.body as Endpoint;
  onTestFinished(async () => void (await remove(endpoint.id)));
  receiver.secrets = [endpoint.secret as string];
  return endpoint;
}

const read = async (id: string) => (await call("GET", `/v1/webhook_endpoints/${id}`)).body as Endpoint;
const attempts = async (id: string) =>
  (await call("GET", `/v1/webhook_endpoints/${id}/attempts?limit=100`)).body.data as WebhookAttempt[];
const remove = (id: string) => call("DELETE", `/v1/webhook_endpoints/${id}`);

let made = 0;
/** New slides, in one commit for each hundred. Answers their ids. */
async function write(count: number, data: object = {}, model = "slide"): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `r${++made}`);
  for (let from = 0; from < count; from += 100) {
    const operations = ids.slice(from, from + 100).map((id) => ({ action: "create", model, id, data }));
    const answer = await call("POST", "/v1/commits", { json: { operations }, key: `w${made}-${from}` });
    expect(answer.status, answer.text).toBe(200);
  }
  return ids;
}

/** The lease of its request is over, as if its process had ended long ago. */
const endLease = (id: string) =>
  app.sql(
    "update holdfast.webhook_endpoint set leased_at = leased_at - interval '1 hour', leased_until = leased_until - interval '1 hour', version = version + 1 where id = $1",
    [id],
  );

const told = ({ received }: Receiver) => received.flatMap(({ events }) => events.map(({ objectId }) => objectId));

test("[W1] [W5] [W6] [W7] [W8] [W22] every verb is delivered, signed, in log order", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  const usage = async () =>
    ((await call("GET", "/v1/usage")).body.data as { event_name: string; count: number }[]).find(
      ({ event_name }) => event_name === "webhook_deliveries",
    )?.count ?? 0;
  const before = await usage();
  const begunAt = Math.floor(Date.now() / 1_000);
  await call("POST", "/v1/models/slide", { json: { id: "v", data: { title: "é \u2028", order: 1 } } });
  await call("PATCH", "/v1/models/slide/v", { json: { data: { title: "two" } } });
  await call("POST", "/v1/models/slide/v/archive");
  await call("POST", "/v1/models/slide/v/unarchive");
  await call("POST", "/v1/models/slide/v/claim");
  await call("DELETE", "/v1/models/slide/v");
  await until(() => expect(receiver.received.flatMap(({ events }) => events)).toHaveLength(5));
  const events = receiver.received.flatMap(({ events }) => events);
  expect(events.map(({ type }) => type)).toEqual(
    ["created", "updated", "archived", "unarchived", "deleted"].map((verb) => `slide.${verb}`),
  );
  const log = (await call("GET", `/v1/log?after=${endpoint.cursor}`)).body.data as Record<string, unknown>[];
  expect(events).toEqual(
    log.map(({ verb, model, id, data, syncId, createdAt }) => ({
      ...{ type: `slide.${verb}`, model, objectId: id, data, syncId, id: String(syncId), createdAt },
    })),
  );
  expect(events[2]?.data).toMatchObject({ title: "two", order: 1 });
  expect(receiver.refused).toEqual([]);
  for (const { id, events, timestamp, headers } of receiver.received) {
    expect(id).toBe(`msg_${endpoint.id}_1_${events[0]?.syncId}_${events.at(-1)?.syncId}`);
    expect(timestamp).toBeGreaterThanOrEqual(begunAt);
    expect(timestamp).toBeLessThanOrEqual(Date.now() / 1_000);
    expect(headers["content-type"]).toBe("application/json");
  }
  await until(async () => expect(await read(endpoint.id)).toMatchObject({ lag: 0, attempt: 0, lastError: null }));
  await until(async () => expect(await usage()).toBe(before + receiver.received.length));
});

test("[W1] `from: 0` begins at the beginning of the log, and a backlog comes in full batches", async () => {
  await write(250);
  const receiver = await startReceiver();
  const endpoint = await register(receiver, { from: 0 });
  await until(async () => expect(await read(endpoint.id)).toMatchObject({ lag: 0 }));
  const positions = receiver.received.flatMap(({ events }) => events.map(({ syncId }) => syncId));
  expect(positions).toEqual(Array.from({ length: positions.length }, (_, i) => i + 1));
  expect(positions.length).toBeGreaterThan(250);
  expect(receiver.received.slice(0, -1).every(({ events }) => events.length === 100)).toBe(true);
});

test("[W5] rows of 300 KiB: a body has 1 MiB at most", async () => {
  const receiver = await startReceiver();
  await register(receiver);
  for (let i = 0; i < 8; i++)
    expect(
      (await call("POST", "/v1/models/slide", { json: { id: `big${i}`, data: { title: "é".repeat(150_000) } } }))
        .status,
    ).toBe(200);
  await until(() => expect(told(receiver)).toHaveLength(8));
  expect(receiver.received.every(({ body }) => Buffer.byteLength(body) <= 1_048_576)).toBe(true);
  expect(receiver.refused).toEqual([]);
});

test("[W9] the cursor moves over what was not subscribed to without a request", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver, { enabledEvents: ["DOCUMENT"] });
  await write(130);
  const [id] = await write(1, {}, "document");
  await write(20);
  await until(() => expect(told(receiver)).toEqual([id]));
  await until(async () => expect(await read(endpoint.id)).toMatchObject({ lag: 0 }));
  expect(receiver.received).toHaveLength(1);
});

test("[W6] [W12] a failed batch is sent again unchanged, even if new entries have followed", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  receiver.answer(500, 503);
  const first = await write(3);
  await until(() => expect(receiver.received).toHaveLength(1));
  const later = await write(5);
  await until(() => expect(told(receiver).slice(-5)).toEqual(later));
  const [one, two, three] = receiver.received;
  expect(one?.body).toEqual(three?.body);
  expect(two?.body).toEqual(three?.body);
  expect(one?.id).toEqual(three?.id);
  expect(two?.id).toEqual(three?.id);
  expect(three?.events.map(({ objectId }) => objectId)).toEqual(first);
  expect((two?.at ?? 0) - (one?.endedAt ?? 0)).toBeGreaterThanOrEqual(40);
  expect((three?.at ?? 0) - (two?.endedAt ?? 0)).toBeGreaterThanOrEqual(60);
  const noted = await attempts(endpoint.id);
  expect(
    noted
      .map(({ outcome, status, attempt }) => [outcome, status, attempt])
      .reverse()
      .slice(0, 3),
  ).toEqual([
    ["failed", 500, 1],
    ["failed", 503, 2],
    ["succeeded", 204, 3],
  ]);
  expect(await read(endpoint.id)).toMatchObject({ lag: 0, lastError: { code: "unexpected_status", status: 503 } });
});

test("[W11] [W12] [W13] eight failures disable the endpoint; its batch shrinks to the failing event, which the owner skips", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  receiver.always((_, response, { events }) => {
    response.writeHead(events.some(({ data }) => data?.title === "poison") ? 500 : 204).end("no, thanks\0");
  });
  const before = await write(2);
  const [poison] = await write(1, { title: "poison" });
  const after = await write(120);
  await until(async () => expect(await read(endpoint.id)).toMatchObject({ status: "disabled" }));
  const stopped = await read(endpoint.id);
  expect(stopped).toMatchObject({ disabledReason: "attempts_exhausted", attempt: 8, nextAttemptAt: null });
  expect(stopped.lastError).toMatchObject({ code: "unexpected_status", status: 500 });
  expect(stopped.lastError?.from).toBe(stopped.lastError?.to);
  const [last] = await attempts(endpoint.id);
  expect(last).toMatchObject({
    outcome: "failed",
    response: "no, thanks",
    events: 1,
    error: { code: "unexpected_status" },
  });
  const count = receiver.received.length;
  await giveTime(300);
  expect(receiver.received).toHaveLength(count);

  const { to } = stopped.lastError as { to: number };
  expect(receiver.received.at(-1)?.events[0]?.objectId).toBe(poison);
  expect((await call("POST", `/v1/webhook_endpoints/${endpoint.id}/skip`, { json: { to } })).status).toBe(201);
  expect((await attempts(endpoint.id))[0]).toMatchObject({ kind: "skip", to, webhookId: null });
  expect((await call("POST", `/v1/webhook_endpoints/${endpoint.id}/enable`)).body).toMatchObject({ status: "enabled" });
  await until(async () => expect(await read(endpoint.id)).toMatchObject({ lag: 0, attempt: 0 }));
  const accepted = receiver.received.filter(({ events }) => !events.some(({ objectId }) => objectId === poison));
  expect(accepted.flatMap(({ events }) => events.map(({ objectId }) => objectId))).toEqual([...before, ...after]);
  const sizes = receiver.received.slice(count).map(({ events }) => events.length);
  expect(sizes).toEqual([1, 2, 4, 8, 16, 32, 57]);
  expect(receiver.refused).toEqual([]);
});

test("[W7] while a roll is fresh both secrets verify, then only the new one", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  const rolled = await call("POST", `/v1/webhook_endpoints/${endpoint.id}/roll_secret`);
  expect(rolled.status).toBe(201);
  const [old, next] = [endpoint.secret as string, rolled.body.secret as string];
  expect(next).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(rolled.body.secretLast4).toBe(next.slice(-4));
  receiver.secrets = [old, next];
  await write(1);
  await until(() => expect(receiver.received).toHaveLength(1));
  expect(receiver.refused).toEqual([]);
  await app.sql("update holdfast.webhook_endpoint set old_secret_until = now() - interval '1 s' where id = $1", [
    endpoint.id,
  ]);
  await write(1);
  await until(() => expect(receiver.received).toHaveLength(2));
  expect(receiver.refused).toHaveLength(1);
  receiver.secrets = [next];
  await write(1);
  await until(() => expect(receiver.received).toHaveLength(3));
  expect(receiver.refused).toHaveLength(1);
});

test("[W14] an attempt that its process did not end is unknown, and the same batch goes out once more", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  receiver.always((_, response) => {
    // A kill between the response and the cursor leaves a lease that no process ends.
    void app
      .sql("update holdfast.webhook_endpoint set lease = 'del_of_the_dead', version = version + 1 where id = $1", [
        endpoint.id,
      ])
      .then(() => response.writeHead(200).end());
    receiver.always(204);
  });
  const ids = await write(2);
  await until(() => expect(receiver.received).toHaveLength(1));
  const later = await write(1);
  // While the lease lasts, its process may still be alive.
  await giveTime(300);
  expect(receiver.received).toHaveLength(1);
  await endLease(endpoint.id);
  await until(() => expect(told(receiver)).toEqual([...ids, ...ids, ...later]));
  expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id);
  expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
  const noted = await attempts(endpoint.id);
  expect(noted.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
    ["succeeded", 1],
    ["succeeded", 2],
    ["unknown", 1],
  ]);
  expect(noted[2]).toMatchObject({ error: { code: "interrupted" }, webhookId: receiver.received[0]?.id });
});

test("[W25] a retry that was scheduled by a clock a year ahead is sent when the clock is right again", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  receiver.always((_, response) => {
    receiver.always(204);
    response.writeHead(503).end();
  });
  const ids = await write(1);
  await until(() => expect(receiver.received).toHaveLength(1));
  await app.sql(
    "update holdfast.webhook_endpoint set attempt = 1, next_attempt_at = now() + interval '1 year', lease = null, leased_at = null, version = version + 1 where id = $1",
    [endpoint.id],
  );
  await write(1);
  await until(() => expect(told(receiver).length).toBeGreaterThanOrEqual(3));
  expect(told(receiver)).toEqual(expect.arrayContaining(ids));
});

test("[W15] a receiver that hangs is given up; one that answers and then dribbles is judged by its status", async () => {
  const requestMs = 2_000;
  const hasty = await startApp({ webhooks: { ...webhooks, requestMs } });
  const receiver = await startReceiver();
  const endpoint = await register(receiver, {}, hasty.call);
  const of = `/v1/webhook_endpoints/${endpoint.id}`;
  receiver.answer(
    () => {},
    (request) => request.socket.destroy(),
    (request) => request.socket.end("nonsense\r\n\r\n"),
    (_, response) => void response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    (_, response) => {
      response.writeHead(200);
      const dribble = setInterval(() => response.write("x"), 50);
      response.on("close", () => clearInterval(dribble));
    },
  );
  await hasty.call("POST", "/v1/models/slide", { json: { id: "hangs", data: {} } });
  await until(() => expect(told(receiver)).toEqual(Array(5).fill("hangs")));
  await until(async () => expect((await hasty.call("GET", of)).body).toMatchObject({ lag: 0 }));
  const noted = ((await hasty.call("GET", `${of}/attempts?limit=100`)).body.data as WebhookAttempt[]).reverse();
  expect(noted.map(({ error }) => error?.code)).toEqual([
    "timeout",
    "connection_lost",
    "invalid_response",
    "redirected",
    undefined,
  ]);
  expect(noted[0]?.durationMs).toBeGreaterThanOrEqual(requestMs);
  expect(noted[4]).toMatchObject({ outcome: "succeeded", status: 200, response: expect.stringMatching(/^x+$/) });
});

test("[W15] at most 16 KiB of a response are read", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  let sent = 0;
  receiver.answer((_, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 120))) sent += 65_536;
    };
    response.on("drain", more);
    response.on("error", () => {});
    more();
  });
  await write(1);
  await until(async () => expect(await read(endpoint.id)).toMatchObject({ lag: 0 }));
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  expect((await attempts(endpoint.id))[0]?.response).toHaveLength(1_024);
});

test("[W16] another subscription while a request is in flight: its answer moves nothing, and it is tried anew", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver, { enabledEvents: ["document"] });
  let release = () => {};
  receiver.answer((_, response) => {
    release = () => void response.writeHead(200).end();
  });
  const [slide] = await write(1);
  const [document] = await write(1, {}, "document");
  await until(() => expect(told(receiver)).toEqual([document]));
  const patched = await call("PATCH", `/v1/webhook_endpoints/${endpoint.id}`, { json: { enabledEvents: ["*"] } });
  expect(patched.body).toMatchObject({ enabledEvents: ["*"] });
  release();
  await until(async () => expect(await read(endpoint.id)).toMatchObject({ lag: 0 }));
  expect(told(receiver)).toEqual([document, slide, document]);
  expect(receiver.received[1]?.id).toMatch(new RegExp(`^msg_${endpoint.id}_2_`));
});

test("[W6] [W16] a schema push raises the revision: the retry uses the new field names, under another webhook-id", async () => {
  const key = { token: app.keys.test };
  const receiver = await startReceiver();
  const models = { note: { fields: { title: { type: "string" } } } };
  await call("POST", "/v1/schema", { ...key, json: { models, force: true } });
  const { body: endpoint } = await call("POST", "/v1/webhook_endpoints", { ...key, json: { url: receiver.url } });
  receiver.secrets = [String(endpoint.secret)];
  let release = () => {};
  receiver.answer((_, response) => {
    release = () => void response.writeHead(500).end();
  });
  await call("POST", "/v1/models/note", { ...key, json: { id: "n", data: { title: "one" } } });
  await until(() => expect(receiver.received).toHaveLength(1));
  const renamed = { note: { fields: { name: { type: "string" } } } };
  const push = { models: renamed, renames: [{ model: "note", from: "title", to: "name" }] };
  const pushed = await call("POST", "/v1/schema", { ...key, json: push });
  expect(pushed.status, pushed.text).toBe(201);
  release();
  await until(() => expect(receiver.received).toHaveLength(2));
  const [one, two] = receiver.received;
  expect(one?.events[0]?.data).toEqual({ id: "n", title: "one" });
  expect(two?.events[0]?.data).toEqual({ id: "n", name: "one" });
  expect([one?.id, two?.id].map((id) => id?.split("_").slice(3))).toEqual([
    ["1", "1", "1"],
    ["2", "1", "1"],
  ]);
  await call("DELETE", `/v1/webhook_endpoints/${endpoint.id}`, key);
});

test("[W16] a deleted endpoint gets nothing more, also in the middle of its retries", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  receiver.always(500);
  await write(1);
  await until(() => expect(receiver.received.length).toBeGreaterThan(1));
  expect((await remove(endpoint.id)).body).toEqual({ object: "webhook_endpoint", id: endpoint.id, deleted: true });
  await giveTime(50);
  const count = receiver.received.length;
  await write(1);
  await giveTime(400);
  expect(receiver.received).toHaveLength(count);
  expect((await call("GET", `/v1/webhook_endpoints/${endpoint.id}`)).status).toBe(404);
});

test("[W18] a test event is sent and answered for, also while it is disabled, and not while a delivery is in flight", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  const path = `/v1/webhook_endpoints/${endpoint.id}/test`;
  const first = await call("POST", path);
  expect(first.status).toBe(201);
  expect(first.body).toMatchObject({ kind: "test", outcome: "succeeded", status: 204, from: null, attempt: 0 });
  expect(receiver.received[0]?.events).toMatchObject([{ type: "webhook_endpoint.test", syncId: endpoint.cursor }]);
  await call("POST", `/v1/webhook_endpoints/${endpoint.id}/disable`);
  receiver.answer(500);
  expect((await call("POST", path)).body).toMatchObject({ outcome: "failed", error: { code: "unexpected_status" } });
  expect(await read(endpoint.id)).toMatchObject({ attempt: 0, status: "disabled", disabledReason: "owner" });
  await call("POST", `/v1/webhook_endpoints/${endpoint.id}/enable`);
  let release = () => {};
  receiver.answer((_, response) => {
    release = () => void response.writeHead(200).end();
  });
  await write(1);
  await until(() => expect(receiver.received).toHaveLength(3));
  expect((await call("POST", path)).body).toMatchObject({ code: "endpoint_busy" });
  release();
  await until(async () => expect((await call("POST", path)).status).toBe(201));
  expect(receiver.refused).toEqual([]);
});

test("[W14] [W18] a disabled endpoint with an abandoned request can be tested when the lease is over", async () => {
  const receiver = await startReceiver();
  const endpoint = await register(receiver);
  receiver.answer((_, response) => {
    void app
      .sql("update holdfast.webhook_endpoint set lease = 'del_of_the_dead', version = version + 1 where id = $1", [
        endpoint.id,
      ])
      .then(() => response.writeHead(200).end());
  });
  await write(1);
  await until(() => expect(receiver.received).toHaveLength(1));
  await call("POST", `/v1/webhook_endpoints/${endpoint.id}/disable`);
  const path = `/v1/webhook_endpoints/${endpoint.id}/test`;
  expect((await call("POST", path)).body.code).toBe("endpoint_busy");
  await endLease(endpoint.id);
  await until(async () => expect((await call("POST", path)).body).toMatchObject({ outcome: "succeeded" }));
  expect((await attempts(endpoint.id)).map(({ kind, outcome }) => [kind, outcome])).toEqual([
    ["test", "succeeded"],
    ["delivery", "unknown"],
  ]);
});

test("[W20] an endpoint that hangs does not delay others", async () => {
  const [slow, fast] = [await startReceiver(), await startReceiver()];
  for (const receiver of [slow, fast]) await register(receiver);
  slow.always(() => {});
  for (let i = 0; i < 10; i++) {
    const [id] = await write(1);
    await until(() => expect(told(fast).at(-1)).toBe(id));
    await until(() => expect(slow.received).toHaveLength(1));
  }
  // Its first request still hangs.
  expect(slow.received[0]?.endedAt).toBeUndefined();
});

test("[W14] a server that stops aborts its request, and records its outcome as unknown", async () => {
  const other = await startApp({ webhooks });
  const receiver = await startReceiver();
  const endpoint = await register(receiver, {}, other.call);
  receiver.always(() => {});
  await other.call("POST", "/v1/models/slide", { json: { id: "s", data: {} } });
  await until(() => expect(receiver.received).toHaveLength(1));
  // It does not wait until the request's time is over.
  await other.server.close();
  const [row] = await other.sql(
    "select lease, attempt, next_attempt_at, last_error from holdfast.webhook_endpoint where id = $1",
    [endpoint.id],
  );
  expect(row).toMatchObject({ lease: null, attempt: 1, last_error: { code: "interrupted" } });
  expect(row?.next_attempt_at).not.toBeNull();
});
