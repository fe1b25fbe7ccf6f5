import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createBackend, type Revocation } from "@holdfast/sdk/backend";
import { createClient } from "@holdfast/sdk/node";
import { expect, onTestFinished, test, vi } from "vitest";
import { startReceiver } from "../../packages/server/src/testing/receiver.ts";
import { until } from "../../scripts/testing/until.ts";
import { startOperatedServer } from "./operated-server.ts";
import { schema } from "./people.ts";

const server = await startOperatedServer({ webhooks: { allowPrivate: true } });

async function organization(name: string) {
  const id = await server.organization(name);
  const key = await server.secretKey(id);
  const backend = createBackend({ url: server.url, key });
  await backend.pushSchema(schema);
  return { id, key, backend };
}

const ours = await organization("ours");
const theirs = await organization("theirs");

/** An address where a server was: `fetch` refuses the low ports by itself. */
async function closedAddress(): Promise<string> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return `http://127.0.0.1:${port}`;
}

async function clientOf(token: string) {
  const client = createClient({ schema, url: server.url, getToken: () => token });
  onTestFinished(() => client.close());
  await client.ready();
  return client;
}

test("[BE1] a person's token is for their groups, or for the whole organization, and no other", async () => {
  const narrow = await clientOf(await ours.backend.tokenFor("ann", { syncGroups: ["deck:d1"] }));
  const whole = await clientOf(await ours.backend.tokenFor("ben", { wholeOrganization: true }));
  const other = await clientOf(await theirs.backend.tokenFor("ben", { wholeOrganization: true }));
  await Promise.all([
    whole.models.slide.create({ title: "In d1", deckId: "d1" }, { id: "b1" }),
    whole.models.slide.create({ title: "In d2", deckId: "d2" }, { id: "b2" }),
  ]);
  await whole.drain({ timeoutMs: 10_000 });
  await until(async () => expect(await narrow.models.slide.list().map(({ id }) => id)).toEqual(["b1"]));
  expect(other.models.slide.list()).toEqual([]);
  const { organization: name, livemode } = await ours.backend.identity();
  expect({ name, livemode }).toEqual({ name: ours.id, livemode: true });
});

test("[BE2] tokens end one by one, or all of a person, and only those of the own organization", async () => {
  const agent = await ours.backend.agentToken({
    participantId: "bot",
    operations: ["slide.*"],
    syncGroups: ["deck:d1"],
  });
  expect(agent.token).toMatch(/^rk_/);
  for (let i = 0; i < 2; i++) await ours.backend.tokenFor("carl");
  const both = { user: "carl", capability: agent.id } as unknown as Revocation;
  await expect(ours.backend.revoke(both)).rejects.toMatchObject({ code: "invalid_options" });
  await expect(ours.backend.revoke({} as Revocation)).rejects.toThrow(/one of user, ephemeralKey and capability/);
  expect(await theirs.backend.revoke({ user: "carl" })).toMatchObject({ deleted: 0 });
  await expect(theirs.backend.revoke({ capability: agent.id })).rejects.toMatchObject({
    code: "capability_not_found",
    status: 404,
  });
  expect(await ours.backend.revoke({ user: "carl" })).toMatchObject({ deleted: 2 });
  expect(await ours.backend.revoke({ capability: agent.id })).toMatchObject({ deleted: true });
});

test("[BE3] a schema is pushed; what would hide data is refused unless forced", async () => {
  expect(await ours.backend.pushSchema(schema)).toMatchObject({ unchanged: true });
  const { deckId: _, ...fields } = schema.models.slide.fields;
  const client = await clientOf(await ours.backend.tokenFor("dora", { wholeOrganization: true }));
  client.models.slide.create({ title: "There", deckId: "d9" }, { id: "s9" });
  await client.drain({ timeoutMs: 10_000 });
  const without = { models: { slide: { fields } } };
  await expect(theirs.backend.pushSchema({ models: { "a b": { fields: {} } } })).rejects.toMatchObject({
    name: "SyncError",
    status: 400,
    param: "models.a b",
  });
  await expect(ours.backend.pushSchema(without)).rejects.toMatchObject({ name: "SyncError" });
  expect(await ours.backend.pushSchema(without, { force: true })).toMatchObject({ unchanged: false });
  await ours.backend.pushSchema(schema);
});

test("[BE4] a record is erased, and another organization's is not", async () => {
  const client = await clientOf(await ours.backend.tokenFor("eve", { wholeOrganization: true }));
  client.models.slide.create({ title: "Secret" }, { id: "e1" });
  await client.drain({ timeoutMs: 10_000 });
  expect(await theirs.backend.erase("slide", "e1")).toMatchObject({ missingIds: ["e1"] });
  expect(await ours.backend.erase("slide", "e1")).toMatchObject({ status: "confirmed" });
  await until(async () => expect(await client.models.slide.get("e1")).toBeUndefined());
  await expect(ours.backend.erase("a/b", "c")).rejects.toMatchObject({ code: "unknown_model" });
  await expect(ours.backend.erase("slide", "c?d")).rejects.toMatchObject({ code: "invalid_id" });
});

test("[BE5] webhook endpoints are registered, listed, changed and deleted", async () => {
  const { webhooks } = ours.backend;
  const made = await webhooks.create({ url: "https://example.com/hook", enabledEvents: ["slide"] });
  expect(made.secret).toMatch(/^whsec_/);
  expect((await webhooks.list()).map(({ id }) => id)).toEqual([made.id]);
  expect(await theirs.backend.webhooks.list()).toEqual([]);
  expect(await webhooks.update(made.id, { description: "Ours" })).toMatchObject({ description: "Ours" });
  await expect(theirs.backend.webhooks.delete(made.id)).rejects.toMatchObject({ code: "webhook_endpoint_not_found" });
  await webhooks.delete(made.id);
  expect(await webhooks.list()).toEqual([]);
});

test("[PK15] a number that JSON does not have is not sent as if it had been left out", async () => {
  await expect(ours.backend.tokenFor("ann", { ttlSeconds: Number.NaN })).rejects.toMatchObject({
    code: "invalid_options",
    message: expect.stringContaining("ttlSeconds is NaN"),
  });
});

test("[BE6] without a secret key, with a wrong one, or at a wrong address, the error says so", async () => {
  const url = server.url;
  expect(() => createBackend({ url, key: undefined })).toThrow(/HOLDFAST_SECRET_KEY/);
  expect(() => createBackend({ url, key: "ek_live_person" })).toThrow(/secret key/);
  expect(() => createBackend({ url: "sync.example.com", key: ours.key })).toThrow(/url must be/);
  vi.stubGlobal("document", {});
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(() => createBackend({ url, key: ours.key })).toThrow(/does not belong in a browser/);
  vi.unstubAllGlobals();
  await expect(createBackend({ url, key: "sk_live_wrong" }).tokenFor("ann")).rejects.toMatchObject({ status: 401 });
  const away = createBackend({ url: await closedAddress(), key: ours.key });
  await expect(away.identity()).rejects.toMatchObject({
    code: "unavailable",
    status: undefined,
    message: expect.stringMatching(/127\.0\.0\.1:\d+ could not be reached: .*ECONNREFUSED.*not known/),
  });
  expect(await createBackend({ url: `${url}/api/`, key: ours.key }).identity()).toMatchObject({
    organization: ours.id,
  });
});

test("[BE8] a commit is made once, however often it is sent under its name", async () => {
  const operations = [{ action: "create" as const, model: "slide", id: "once", data: { title: "Once" } }];
  const first = await ours.backend.commit(operations, { clientTxId: "import-1" });
  const again = await ours.backend.commit(operations, { clientTxId: "import-1" });
  expect(first).toMatchObject({ status: "confirmed" });
  expect(again.lastSyncId).toBe(first.lastSyncId);
  const changed = await ours.backend.commit([{ action: "update", model: "slide", id: "once", data: { title: "New" } }]);
  expect(changed.lastSyncId).toBeGreaterThan(first.lastSyncId as number);
  await expect(theirs.backend.commit([{ action: "create", model: "task", id: "x", data: {} }])).rejects.toMatchObject({
    code: "unknown_model",
    param: "operations[0].model",
  });
});

test("[BE8] a commit keeps the name that a backend gives it, under either option", async () => {
  const { backend } = ours;
  const operations = [{ action: "create" as const, model: "slide", id: "named", data: { title: "Named" } }];
  const first = await backend.commit(operations, { idempotencyKey: "import-2" });
  const again = await backend.commit(operations, { idempotencyKey: "import-2" });
  expect(again.serverTxId).toBe(first.serverTxId);
});

test("[BE13] a token is refused once it has expired, and once it was revoked", async () => {
  const { backend } = ours;
  const identityOf = async (token: string) => {
    const answer = await fetch(`${server.url}/v1/identity`, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, ...((await answer.json()) as { code?: string; participant?: string }) };
  };
  const short = await backend.tokenFor("fay", { ttlSeconds: 1 });
  expect(await identityOf(short)).toMatchObject({ status: 200, participant: "fay" });
  await until(async () => expect(await (await identityOf(short)).status).toBe(401));
  const long = await backend.tokenFor("fay");
  expect(await identityOf(long)).toMatchObject({ status: 200 });
  expect(await theirs.backend.revoke({ user: "fay" })).toMatchObject({ deleted: 0 });
  expect(await identityOf(long)).toMatchObject({ status: 200 });
  expect(await backend.revoke({ user: "fay" })).toMatchObject({ deleted: 1 });
  await until(async () => expect(await (await identityOf(long)).status).toBe(401));
  await expect(backend.tokenFor("fay", { ttlSeconds: 86_401 })).rejects.toMatchObject({ param: "ttlSeconds" });
});

test("[BE14] a delivery of a registered endpoint verifies, and a changed one does not", async () => {
  const receiver = await startReceiver();
  const { backend } = ours;
  const { id, secret = "" } = await backend.webhooks.create({ url: receiver.url, enabledEvents: ["slide"] });
  await backend.commit([{ action: "create", model: "slide", id: "w1", data: { title: "Sent" } }]);
  const sent = () => receiver.received.find(({ events }) => events.some(({ objectId }) => objectId === "w1"));
  await until(async () => expect(await sent()).toBeDefined());
  const { headers, body = "" } = sent() ?? {};
  const delivery = { secret, headers: headers as Record<string, string>, body };
  const { events } = await backend.webhooks.verify({ ...delivery, schema });
  expect(events).toContainEqual(expect.objectContaining({ model: "slide", objectId: "w1" }));
  const changed = backend.webhooks.verify({ ...delivery, body: body.replace("Sent", "Fake") });
  await expect(changed).rejects.toMatchObject({ code: "signature_mismatch" });
  await backend.webhooks.delete(id);
});

test("[BE16] what a run has changed is taken back, once", async () => {
  const { backend } = ours;
  const operation = (data: Record<string, unknown>, action: "create" | "update" = "update") => ({
    action,
    model: "slide",
    id: "taken",
    data,
  });
  await backend.commit([operation({ deckId: "d", title: "One" }, "create")]);
  await backend.commit([operation({ title: "Two" })], { run: "be16" });
  expect(await backend.revert({ run: "be16", dry: true })).toMatchObject({ dry: true, reverted: 1 });
  expect(await backend.revert({ run: "be16" })).toMatchObject({ reverted: 1, kept: [], run: "revert:be16" });
  expect(await backend.revert({ run: "be16" })).toMatchObject({ reverted: 0, kept: [] });
  await expect(backend.revert({})).rejects.toMatchObject({ code: "missing_field" });
});
