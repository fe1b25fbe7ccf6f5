import { expect, test } from "vitest";
import { MemoryDisk } from "../storage/memory.ts";
import { passing } from "../testing/start-client.ts";
import { createTestServer } from "../testing/test-server.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;

/** A client that was online once, and is opened again with an app that gives tokens, or whose backend is away. */
async function reopened(app: { isAway: boolean; tokens: string[] }) {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const before = own.client({ disk });
  await before.client.ready();
  await before.client.close();
  const getToken = async () => {
    // The error of `fetch` without an answer.
    if (app.isAway) throw new TypeError("Failed to fetch");
    return app.tokens.shift() ?? "new";
  };
  const made = own.client({ disk, getToken });
  const names = new Set<string>();
  made.client.subscribe(() => names.add(made.client.status().name));
  await own.settle();
  return { ...own, ...made, names, later: passing(own) };
}

test("[N30] without a network at the start the status is not needs-auth, and the queue is sent once the network is back", async () => {
  const app = { isAway: true, tokens: [] };
  const { client, connection, names, later, server } = await reopened(app);
  connection.up = false;
  await client.models.slide.create({ title: "On a train" }, { id: "s1" }).queued;
  await later(120);
  expect(client.status()).toMatchObject({ name: "connecting", pending: 1, reason: expect.any(String) });
  expect(client.status().retryAt).toBeDefined();
  app.isAway = false;
  connection.up = true;
  await later(31);
  expect(client.status()).toMatchObject({ name: "online", pending: 0 });
  expect(server.log.map(({ id }) => id)).toEqual(["s1"]);
  expect(names).not.toContain("needs-auth");
  await client.close();
});

test("[N30] a token that expires while the app's backend is unreachable does not lead to needs-auth", async () => {
  const app = { isAway: false, tokens: ["old"] };
  const { client, connection, names, later } = await reopened(app);
  expect(client.status().name).toBe("online");
  app.isAway = true;
  connection.badTokens.add("old");
  connection.cut?.();
  client.models.slide.create({ title: "Mine" });
  await later(30);
  expect(client.status()).toMatchObject({ name: "connecting", pending: 1 });
  app.isAway = false;
  await later(61);
  expect(client.status()).toMatchObject({ name: "online", pending: 0 });
  expect(names).not.toContain("needs-auth");
  await client.close();
});

test("[N30] a signed-out client without a network is offline: signing in needs the network", async () => {
  const own = createTestServer(schema);
  const { client, connection, signals } = own.client({ getToken: () => "old" });
  connection.badTokens.add("old");
  await own.settle();
  expect(client.status().name).toBe("needs-auth");
  signals.network(false);
  expect(client.status().name).toBe("offline");
  signals.network(true);
  await own.settle();
  expect(client.status().name).toBe("needs-auth");
  await client.close();
});
