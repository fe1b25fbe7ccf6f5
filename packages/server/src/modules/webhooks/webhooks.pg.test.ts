import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { newMasterKey } from "../../encryption.ts";
import { startServer } from "../../server.ts";
import { ADMIN, caller, startApp } from "../../testing/app.ts";
import { startReceiver } from "../../testing/receiver.ts";

const app = await startApp();
const { call, keys } = app;
const PATH = "/v1/webhook_endpoints";
const url = "https://hooks.invalid/hooks";

test("[W17] the newest thousand attempts, a page at a time, newest first", async () => {
  const { body: endpoint } = await call("POST", PATH, { json: { url } });
  const path = `${PATH}/${endpoint.id}/attempts`;
  await call("POST", `${PATH}/${endpoint.id}/disable`);
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
  await call("DELETE", `${PATH}/${endpoint.id}`);
});

test("[W19] a secret is stored encrypted", async () => {
  const { body } = await call("POST", PATH, { json: { url } });
  const [row] = await app.sql<{ text: string }>(
    "select e::text as text from holdfast.webhook_endpoint e where id = $1",
    [body.id],
  );
  const secret = String(body.secret);
  expect(row?.text).not.toContain(Buffer.from(secret).toString("hex"));
  expect(row?.text).not.toContain(Buffer.from(secret.slice(6), "base64").toString("hex"));
  expect(row?.text).not.toContain(secret.slice(6));
  await call("DELETE", `${PATH}/${body.id}`);
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
  await until(() => expect(receiver.received).toHaveLength(1));
  expect(receiver.refused).toEqual([]);
  await three.server.close();

  // With neither key nothing is signed, and the endpoint shows the error.
  const four = await start(old);
  await four.call("POST", "/v1/models/slide", { json: { id: "k2", data: {} } });
  const read = async () => (await four.call("GET", `${PATH}/${endpoint.id}`)).body;
  await until(async () => expect(await read()).toMatchObject({ lastError: { code: "secret_unreadable" } }));
  expect(receiver.received).toHaveLength(1);
  const { body: rolled } = await four.call("POST", `${PATH}/${endpoint.id}/roll_secret`);
  receiver.secrets = [String(rolled.secret)];
  await four.call("POST", `${PATH}/${endpoint.id}/enable`);
  await until(() => expect(receiver.received).toHaveLength(2));
  expect(receiver.refused).toEqual([]);
  await four.server.close();
});

test("[W3] a host that now resolves to a private address is a failed attempt without a connection", async () => {
  const receiver = await startReceiver();
  const other = await startApp({ webhooks: { schedule: [0, 50, 50, 50, 50, 50, 50, 50] } });
  const { body: endpoint } = await other.call("POST", PATH, { json: { url } });
  await other.sql("update holdfast.webhook_endpoint set url = $1 where id = $2", [receiver.url, endpoint.id]);
  await other.call("POST", "/v1/models/slide", { json: { id: "r5", data: {} } });
  const read = async () => (await other.call("GET", `${PATH}/${endpoint.id}`)).body;
  await until(async () => expect(await read()).toMatchObject({ status: "disabled" }));
  expect(await read()).toMatchObject({ attempt: 8, lastError: { code: "blocked_address" } });
  expect(receiver.received).toEqual([]);
});
