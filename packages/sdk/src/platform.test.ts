import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClientOn } from "./platform.ts";
import { type KeyValueStore, keyValueStorage } from "./storage/key-value.ts";
import { fakeClock } from "./testing/fake-clock.ts";
import { ModelServer } from "./testing/model-server.ts";
import { TestConnection } from "./testing/test-connection.ts";
import { testStream } from "./testing/test-stream.ts";
import { testTransport } from "./testing/test-transport.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;

beforeEach(() => {
  for (const name of ["indexedDB", "BroadcastChannel", "navigator", "localStorage"]) vi.stubGlobal(name, undefined);
});
afterEach(() => vi.unstubAllGlobals());

function mapStore(texts: Map<string, string>): KeyValueStore {
  return {
    get: (key) => texts.get(key),
    entries: (from, to) => [...texts].filter(([key]) => key >= from && key < to),
    write(changes) {
      for (const change of changes)
        if (change.type === "put") texts.set(change.key, change.value);
        else if (change.type === "delete") texts.delete(change.key);
        else for (const key of texts.keys()) if (key >= change.from && key < change.to) texts.delete(key);
    },
    close: () => {},
  };
}

test("[D39] with a storage alone, a client keeps its writes and rows, and the next one sends and shows them", async () => {
  const server = new ModelServer(schema, () => 0);
  const texts = new Map<string, string>();
  const stores: string[] = [];
  const open = (isUp: boolean) => {
    const connection = new TestConnection(schema.models);
    connection.actor = "ann";
    connection.up = isUp;
    return createClientOn(
      {
        storage: async (name) => {
          stores.push(name);
          return keyValueStorage(mapStore(texts));
        },
        server: (token) => testTransport(server, fakeClock(), connection, () => token.current()),
        stream: () => testStream(server, connection),
      },
      { schema, url: "http://holdfast.test", user: "ann", getToken: () => "token" },
    );
  };

  const first = open(false);
  await first.models.slide.create({ title: "On a phone" }, { id: "s1" }).queued;
  expect(first.status()).toMatchObject({ storage: "disk", leads: true, pending: 1 });
  await first.close();

  const second = open(true);
  await second.drain({ timeoutMs: 5_000 });
  expect(server.rows.size).toBe(1);
  await second.close();

  const third = open(false);
  await third.ready();
  expect(third.models.slide.get("s1")?.title).toBe("On a phone");
  expect(third.status().pending).toBe(0);
  await third.close();
  expect(new Set(stores)).toEqual(new Set(["holdfast:holdfast.test:ann"]));
});

test("[PK14] what is undefined in a platform, options or a query counts as left out", async () => {
  const client = createClientOn(
    {
      storage: async () => keyValueStorage(mapStore(new Map())),
      tabs: undefined,
      signals: undefined,
      fetch: undefined,
    },
    { schema, url: "http://127.0.0.1:9", getToken: () => "token", store: undefined, stream: undefined, paused: true },
  );
  const write = client.models.slide.create({ title: "a" }, { id: undefined, readAt: undefined, claim: undefined });
  await write.queued;
  const rows = client.models.slide.list({ where: undefined, orderBy: undefined, limit: undefined, from: undefined });
  expect(rows).toMatchObject([{ title: "a" }]);
  client.commit([{ action: "delete", model: "slide", id: write.id }], { reads: undefined, onStale: undefined });
  expect(client.models.slide.count({ where: undefined })).toBe(0);
  await client.close();
});
