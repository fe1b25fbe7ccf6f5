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
