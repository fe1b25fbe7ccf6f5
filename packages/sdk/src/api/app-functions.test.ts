import fc from "fast-check";
import { expect, test } from "vitest";
import { schemaHash } from "../core/schema/schema-hash.ts";
import { appClock, appRandom } from "../engine/app-platform.ts";
import type { Storage } from "../engine/ports.ts";
import { systemClock } from "../engine/system.ts";
import { keyValueStorage } from "../storage/key-value.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { nonsense, silence } from "../testing/nonsense.ts";
import { passing } from "../testing/start-client.ts";
import { createTestServer } from "../testing/test-server.ts";
import { httpServer } from "../transport/http.ts";
import { kyExchange } from "../transport/ky-exchange.ts";
import { tokenSource } from "../transport/token.ts";
import { reportedErrors } from "./testing/reported-errors.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;
const { signal } = new AbortController();

const reported = reportedErrors();

/** A server and one client of it, whose functions may be nonsense. */
function opened(options: Parameters<ReturnType<typeof createTestServer<typeof schema>>["client"]>[0]) {
  const own = createTestServer(schema);
  const made = own.client(options);
  const names = new Set<string>();
  made.client.subscribe(() => names.add(made.client.status().name));
  return { ...own, ...made, names, later: passing(own) };
}

test.each([...nonsense, silence])(
  "[N31] a getToken that %s is asked again, and the client continues with its next token",
  async (_, play) => {
    let isOdd = true;
    let calls = 0;
    const { client, server, settle, later } = opened({
      getToken: () => {
        calls += 1;
        return (isOdd ? play() : "good") as string;
      },
    });
    client.models.slide.create({ title: "Mine" }, { id: "s1" });
    await later(70);
    expect(calls).toBeGreaterThan(1);
    expect(client.status()).toMatchObject({ pending: 1, reason: expect.stringContaining("getToken") });
    expect(client.status().name).toBe(play === silence[1] ? "connecting" : "needs-auth");
    isOdd = false;
    await later(100);
    await settle();
    expect(client.status()).toMatchObject({ name: "online", pending: 0 });
    expect(server.log.map(({ id }) => id)).toEqual(["s1"]);
    await client.close();
  },
);

test.each([
  ["a portal's page", "<html>\n</html>"],
  ["an emoji", "good😀"],
  ["a NUL character", "go\u0000od"],
  ["letters beyond ASCII", "gööd"],
  ["white space only", " \n"],
  ["more than a header takes", "x".repeat(20_000)],
])("[N31] %s is no token: no request is sent with it, and the message does not repeat it", async (_, text) => {
  const tokens = [text, "good"];
  const source = tokenSource(() => tokens.shift() as string, systemClock);
  const error = await source.current().catch((reason: Error) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toMatch(/getToken must return a token/);
  expect(String(error)).not.toContain(text.trim() || "\n");
  expect(await source.current()).toBe("good");
});

test("[N31] white space around a token is removed", async () => {
  expect(await tokenSource(() => "good\n", systemClock).current()).toBe("good");
  expect(await tokenSource(async () => " \tgood\r\n", systemClock).current()).toBe("good");
});

test("[N31] a getToken that does anything, in any order, is asked until it returns a token", async () => {
  const any = fc.array(fc.constantFrom(...nonsense, silence), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(any, async (plays) => {
      const left = [...plays];
      const { client, later } = opened({ getToken: () => (left.shift()?.[1]() ?? "good") as string });
      client.models.slide.create({ title: "Mine" });
      for (let i = 0; i < 40 && client.status().pending > 0; i++) await later(10);
      expect(client.status()).toMatchObject({ name: "online", pending: 0 });
      await client.close();
    }),
    { numRuns: 25 },
  );
});

const operations = [
  "open",
  "enqueue",
  "takeLead",
  "readQueue",
  "keep",
  "forget",
  "keepRows",
  "keepPage",
  "own",
] as const;
const storagePlays = operations.flatMap((operation) =>
  nonsense
    // An object without a number is what these return if the queue has not changed.
    .filter(
      ([name]) => !/^(returns an (empty object|array|object)|resolves)/.test(name) || !/keep|forget/.test(operation),
    )
    .map(([name, play]) => [operation, name, play] as const),
);

test.each(storagePlays)(
  "[N32] [N66] a storage whose %s %s loses no write: the client goes on in memory, and says why",
  async (operation, _, play) => {
    const disk = new MemoryDisk();
    const storage = memoryStorage(disk);
    let calls = 0;
    const odd = {
      ...storage,
      [operation]: () => {
        calls += 1;
        return play();
      },
    } as unknown as Storage;
    const { client, server, later } = opened({ disk, platform: { storage: async () => odd } });
    const { slide } = client.models;
    slide.create({ title: "One" }, { id: "s1" });
    await later(3);
    slide.update("s1", { title: "Two" });
    await later(3);
    expect(server.rows.get("slide/s1")?.data.title).toBe("Two");
    expect(client.status().pending).toBe(0);
    const { storage: state, reason } = client.status();
    if (calls > 0) expect({ state, reason }).toEqual({ state: "memory", reason: expect.any(String) });
    await client.close().catch(() => {});
  },
);

test.each(nonsense)("[N32] a storage function that %s: the client goes on in memory", async (_, play) => {
  const { client, server, later } = opened({ platform: { storage: play as () => Promise<Storage> } });
  client.models.slide.create({ title: "One" }, { id: "s1" });
  await later(3);
  expect(server.log.map(({ id }) => id)).toEqual(["s1"]);
  expect(client.status()).toMatchObject({ pending: 0, storage: "memory", reason: expect.any(String) });
  await client.close();
});

test.each(
  (["get", "entries", "write"] as const).flatMap((name) => nonsense.map(([what, play]) => [name, what, play] as const)),
)("[N32] a store of texts whose %s %s loses no write", async (name, _, play) => {
  const texts = new Map<string, string>();
  const store = {
    get: (key: string) => texts.get(key),
    entries: () => [],
    write: () => {},
    close: () => {},
    [name]: play,
  };
  const { client, server, later } = opened({ platform: { storage: async () => keyValueStorage(store as never) } });
  client.models.slide.create({ title: "One" }, { id: "s1" });
  await later(3);
  expect(server.log.map(({ id }) => id)).toEqual(["s1"]);
  expect(client.status().pending).toBe(0);
  await client.close().catch(() => {});
});

test.each(nonsense)(
  "[N32] [N66] an upcast that %s leaves the write to a person, and a later one sends it",
  async (what, play) => {
    const renamed = { models: { slide: { fields: { heading: { type: "string" } } } } } as const;
    const disk = new MemoryDisk();
    const old = createTestServer(schema).client({ disk, paused: true });
    await old.client.models.slide.create({ title: "Mine" }, { id: "s1" }).queued;
    await old.client.close();
    const now = createTestServer(renamed);
    const open = async (upcast: unknown) => {
      const made = now.client({ disk, upcast: { [schemaHash(schema)]: upcast as never } });
      await made.client.ready();
      await now.settle();
      return made.client;
    };
    const odd = await open(play);
    expect(odd.attention(), what).toMatchObject([
      { code: "schema_changed", operations: [{ id: "s1", data: { title: "Mine" } }] },
    ]);
    expect(now.server.log).toEqual([]);
    await odd.close();
    const fine = await open(({ data, ...o }: { data: { title: string } }) => ({ ...o, data: { heading: data.title } }));
    expect(fine.status()).toMatchObject({ pending: 0, attention: 0 });
    expect(now.server.rows.get("slide/s1")?.data.heading).toBe("Mine");
    await fine.close();
  },
);

test.each([
  ["a value that JSON drops", { heading: undefined }],
  ["a Date", { heading: new Date(0) }],
  ["a NUL character", { heading: "\u0000" }],
  ["no object", "heading"],
])("[N32] an upcast whose data is or has %s leaves the write to a person", async (_, data) => {
  const renamed = { models: { slide: { fields: { heading: { type: "string" } } } } } as const;
  const disk = new MemoryDisk();
  const old = createTestServer(schema).client({ disk, paused: true });
  await old.client.models.slide.create({ title: "Mine" }, { id: "s1" }).queued;
  await old.client.close();
  const upcast = { [schemaHash(schema)]: ((o: object) => ({ ...o, data })) as never };
  const { client } = createTestServer(renamed).client({ disk, upcast });
  await client.ready();
  expect(client.attention()).toMatchObject([{ code: "schema_changed" }]);
  await client.close();
});

test.each([...nonsense, silence])(
  "[N32] [N66] a fetch that %s counts as no response, and the next one works",
  async (_, play) => {
    let isOdd = true;
    const fetch = () => (isOdd ? play() : Promise.resolve(new Response('{"ok":true}')));
    const http = httpServer({
      ...{ url: "http://own.test", timeoutMs: 5, models: [], exchange: kyExchange(fetch as typeof globalThis.fetch) },
      token: tokenSource(() => "t", systemClock),
    });
    expect(await http.send("{}", signal)).toMatchObject({ kind: "silence", reason: expect.any(String) });
    expect(await http.readLog(0, signal)).toMatchObject({ kind: "silence" });
    expect(await http.readSnapshot(null, signal)).toMatchObject({ kind: "silence" });
    isOdd = false;
    expect(await http.send("{}", signal)).toMatchObject({ kind: "answer", status: 200 });
  },
);

test.each(
  (["now", "monotonic", "wait"] as const).flatMap((name) =>
    nonsense.map(([what, play]) => [name, what, play] as const),
  ),
)("[N32] [N67] a clock whose %s %s for a while stops nothing, and the app is told", async (name, what, play) => {
  const own = createTestServer(schema);
  let isOdd = true;
  const clock = {
    ...own.clock,
    [name]: (...args: never[]) => (isOdd ? play() : (own.clock[name] as (...args: never[]) => unknown)(...args)),
  };
  const { client, connection } = own.client({ platform: { clock } });
  connection.answers.push("lost");
  client.models.slide.create({ title: "One" }, { id: "s1" });
  await own.settle();
  isOdd = false;
  client.models.slide.create({ title: "Two" }, { id: "s2" });
  await passing(own)(40);
  const isFine = (name === "wait" && what === "returns a function") || (name !== "wait" && what === "returns a number");
  expect(reported.length > 0).toBe(!isFine);
  expect(client.status()).toMatchObject({ name: "online", pending: 0 });
  expect(own.server.log.map(({ id }) => id).sort()).toEqual(["s1", "s2"]);
  await client.close();
});

test("[N32] a timer of an app's clock that fires twice, or after it was cancelled, counts once or not at all", () => {
  const alarms: (() => void)[] = [];
  const clock = appClock(
    { ...fakeClock(), wait: (_, then) => (alarms.push(then) > 0 ? () => {} : () => {}) },
    reportError,
  );
  let fired = 0;
  const count = () => {
    fired += 1;
  };
  clock.wait(5, count);
  const cancel = clock.wait(5, count);
  alarms[0]?.();
  alarms[0]?.();
  cancel();
  alarms[1]?.();
  expect(fired).toBe(1);
  expect(reported).toEqual([]);
});

test.each(nonsense)("[N32] [N67] random numbers of an app whose source %s are replaced by the system's", (_, play) => {
  const random = appRandom({ roll: play as () => number, id: play as () => string }, () => {});
  const roll = random.roll();
  expect(roll >= 0 && roll < 1).toBe(true);
  expect(random.id()).toMatch(/^[\w~-]+$/);
});
