import { expect, test } from "vitest";
import { startClient } from "../testing/start-client.ts";
import { createTestServer, type TestClientOptions } from "../testing/test-server.ts";
import "./claims/collab.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;

async function start(options: TestClientOptions = {}) {
  const made = await startClient(schema, options);
  return { ...made, slides: made.client.models.slide };
}

test("[N8] a claim that waits for its record ends with the client", async () => {
  const { client, slides, connection, settle } = await start();
  connection.up = false;
  slides.create({ title: "One" }, { id: "s1" });
  const claim = slides.claim("s1");
  await settle();
  await client.close();
  await expect(claim).rejects.toMatchObject({ code: "client_closed" });
});

test("[N8] a client that is being closed is not resumed", async () => {
  const { client, connection, settle } = await start();
  const closing = client.close();
  client.resume();
  await closing;
  await settle();
  expect(connection.cut).toBeUndefined();
});

test("[N8] a client that waits for a token is closed at once, and leaves no timer behind", async () => {
  const own = createTestServer(schema);
  const { client, connection } = own.client({ getToken: () => new Promise<string>(() => {}) });
  await own.settle();
  expect(own.clock.waiting).toBeGreaterThan(0);
  await client.close();
  expect(own.clock.waiting).toBe(0);
  expect(connection.sent).toEqual([]);
});

test("[N8] a drain ends with the client, its timer too", async () => {
  const { client, slides, connection, clock } = await start();
  connection.up = false;
  slides.create({ title: "One" });
  const drained = client.drain({ timeoutMs: 600_000 });
  await client.close();
  await expect(drained).rejects.toMatchObject({ code: "client_closed" });
  expect(clock.waiting).toBe(0);
});

test("[N8] [D13] a closed client takes no export, and one that has not read its store exports when it has", async () => {
  const { client, slides, connection, disk, open } = await start();
  connection.up = false;
  await slides.create({ title: "One" }).queued;
  await client.close();
  const again = open({ disk, paused: true }).client;
  const exported = await again.exportPending();
  expect(exported.writes).toHaveLength(1);
  await again.close();
  await expect(again.importPending(exported)).rejects.toMatchObject({ code: "client_closed" });
});

test("[Q22] [R10] a drain follows its writes to the log that replaces theirs", async () => {
  const { client, slides, server, connection, clock, pass, settle } = await start();
  connection.up = false;
  connection.socketUp = false;
  connection.cut?.();
  await settle();
  slides.create({ title: "One" });
  await settle();
  let isDone = false;
  const drained = client.drain().then(() => {
    isDone = true;
  });
  server.restoreTo(0, "log_2");
  for (let i = 0; i < 20; i++) connection.answers.push({ kind: "answer", status: 503, body: undefined });
  connection.up = true;
  connection.socketUp = true;
  await pass(8);
  expect(client.pending()).toMatchObject([{ clientTxId: expect.stringMatching(/~1$/) }]);
  expect(isDone).toBe(false);
  connection.answers.length = 0;
  clock.advance(60_000);
  await settle();
  await drained;
  expect(server.rows.size).toBe(1);
});

const noNumbers = [Number.NaN, null, "5", -1] as const;

test.each(noNumbers)("[PK15] drain refuses the timeout %s", async (timeoutMs) => {
  const { client } = await start();
  await expect(client.drain({ timeoutMs: timeoutMs as number })).rejects.toMatchObject({ code: "invalid_options" });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, null])("[PK15] a claim refuses the ttl %s", async (ttl) => {
  const { slides, connection } = await start();
  await expect(slides.claim("s1", { ttl: ttl as number })).rejects.toMatchObject({ code: "invalid_ttl", param: "ttl" });
  expect(connection.requests).toEqual([]);
});

test.each(noNumbers)("[PK15] createClient refuses %s as a number", (given) => {
  const open = createTestServer(schema).client;
  for (const name of ["requestTimeoutMs", "releasedParts", "releasedRows"])
    expect(() => open({ [name]: given } as TestClientOptions)).toThrow(name);
});
