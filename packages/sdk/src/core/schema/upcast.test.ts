import { expect, test } from "vitest";
import type { Storage } from "../../engine/ports.ts";
import type { ClientOptions } from "../../options.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import { MemoryDisk, memoryStorage } from "../../storage/memory.ts";
import { createTestServer } from "../../testing/test-server.ts";
import type { OldOperation } from "./old-operation.ts";
import { schemaHash } from "./schema-hash.ts";

const first = {
  models: { slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 } } } },
} as const;
/** Nothing that was there has changed. */
const added = {
  models: {
    deck: { fields: { name: { type: "string" } } },
    slide: { fields: { order: { type: "number", default: 0 }, title: { type: "string" }, notes: { type: "string" } } },
  },
} as const;
/** `title` is `heading` by now. */
const renamed = {
  models: { slide: { fields: { heading: { type: "string" }, order: { type: "number", default: 0 } } } },
} as const;

/** Writes offline with one schema, and opens the same store with another. */
async function across(then: ModelSchema, upcast: ClientOptions<ModelSchema>["upcast"] = {}) {
  const disk = new MemoryDisk();
  const before = createTestServer(first);
  const old = before.client({ disk, paused: true });
  const write = old.client.models.slide.create({ title: "Hello", order: 2 }, { id: "a" });
  await write.queued;
  await old.client.close();
  const now = createTestServer(then);
  const open = async (by = upcast) => {
    const made = now.client({ disk, upcast: by });
    await made.client.ready();
    await now.settle();
    return made;
  };
  return { ...now, ...(await open()), open, name: write.clientTxId, disk };
}

test("[Q31] a schema has one hash however its keys are ordered, and another one when anything in it differs", () => {
  expect(schemaHash(first)).toMatch(/^[0-9a-z]{11}$/);
  const turned = {
    models: { slide: { fields: { order: { default: 0, type: "number" }, title: { type: "string" } } } },
  } as const;
  expect(schemaHash(turned)).toBe(schemaHash(first));
  const others = [
    added,
    renamed,
    { models: { slide: { fields: { title: { type: "string", required: true } } } } } as const,
  ];
  expect(new Set([first, ...others].map(schemaHash)).size).toBe(4);
});

test("[Q31] a field that has become a reference changes nothing in a queued write", async () => {
  const title = { type: "string", references: "slide" } as const;
  const { client, server, name } = await across({
    models: { slide: { fields: { title, order: { type: "number", default: 0 } } } },
  });
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
  expect(server.receiptOf("ann", name)).toMatchObject({ status: "confirmed" });
});

test("[Q31] a field whose texts are merged from now on changes nothing in a queued write", async () => {
  const title = { type: "string", merge: "text" } as const;
  const { client, server, name } = await across({
    models: { slide: { fields: { title, order: { type: "number", default: 0 } } } },
  });
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
  expect(server.receiptOf("ann", name)).toMatchObject({ status: "confirmed" });
});

test("[Q31] a write that uses nothing of what has changed goes as it was written, under its name", async () => {
  const { client, server, name, connection } = await across(added);
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
  expect(server.receiptOf("ann", name)).toMatchObject({ status: "confirmed" });
  expect(JSON.parse(connection.sent[0] ?? "").commits[0].operations[0].data).toEqual({ title: "Hello", order: 2 });
});

test("[Q31] if the schema has changed, the app's upcast function converts the write", async () => {
  const { client, server, name } = await across(renamed, {
    [schemaHash(first)]: ({ data, ...o }: OldOperation) => {
      const { title, ...rest } = data ?? {};
      return { ...o, data: { ...rest, ...(title !== undefined && { heading: title }) } };
    },
  });
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
  expect(server.receiptOf("ann", name)).toMatchObject({ status: "confirmed" });
  expect(server.rows.get("slide/a")?.data).toEqual({ id: "a", order: 2, heading: "Hello" });
});

test("[Q32] a write of an unknown schema needs attention with the reason, and is sent when a later version can convert it", async () => {
  const { client, connection, open, server, settle, disk } = await across(renamed);
  expect(connection.sent).toEqual([]);
  expect(client.attention()).toMatchObject([
    {
      code: "schema_changed",
      error: { message: expect.stringContaining(schemaHash(first)) },
      operations: [{ id: "a" }],
    },
  ]);
  await client.close();
  const later = await open({
    [schemaHash(first)]: ({ data, ...o }) => ({ ...o, data: { heading: `${data?.title}!` } }),
  });
  await settle();
  expect(later.client.status()).toMatchObject({ pending: 0, attention: 0 });
  expect(server.rows.get("slide/a")?.data.heading).toBe("Hello!");
  expect(disk.queue()).toEqual([]);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("odd");
    },
    /failed: odd/,
  ],
  ["says nothing", () => undefined, /must return operations that fit the schema/],
  [
    "says what the schema does not know",
    (o: OldOperation) => ({ ...o, model: "nope" }),
    /must return operations that fit the schema/,
  ],
] as const)("[Q32] when the function %s the write waits for a person, and is not lost", async (_, upcast, message) => {
  const { client, disk } = await across(renamed, { [schemaHash(first)]: upcast as never });
  expect(client.attention()).toMatchObject([
    { code: "schema_changed", error: { message: expect.stringMatching(message) } },
  ]);
  expect(disk.queue().map((m) => [m.stage.phase, m.operations[0]?.data])).toEqual([
    ["rejected", { title: "Hello", order: 2 }],
  ]);
});

const bring = ({ data, ...o }: OldOperation): OldOperation | undefined => {
  const { title, ...rest } = data ?? {};
  return title === "unknown" ? undefined : { ...o, data: { ...rest, ...(title !== undefined && { heading: title }) } };
};

/** A store that stands still for ever from its n-th call on, done or not done. */
function dyingAt(n: number, isDone: boolean, disk: MemoryDisk): { storage: Storage; calls: () => number } {
  const storage = memoryStorage(disk);
  let calls = 0;
  const mortal = Object.entries(storage).map(([name, work]: [string, (...args: never[]) => Promise<unknown>]) => [
    name,
    async (...args: never[]) => {
      calls += 1;
      if (calls < n) return work(...args);
      if (calls === n && isDone) await work(...args);
      return new Promise(() => {});
    },
  ]);
  return { storage: Object.fromEntries(mortal) as Storage, calls: () => calls };
}

test.each([
  ["was not done", false],
  ["was done", true],
])(
  "[Q31] killed at every step of taking over an older version's queue, the step %s: each write is done once, or waits",
  async (_, isDone) => {
    for (let n = 1, reached = true; reached; n++) {
      const disk = new MemoryDisk();
      const own = createTestServer(renamed);
      const old = createTestServer(first).client({ disk, paused: true });
      const { slide } = old.client.models;
      slide.create({ title: "one" }, { id: "a" });
      slide.update("a", { order: 5 });
      slide.update("a", { title: "two" });
      await slide.create({ title: "unknown" }, { id: "b" }).queued;
      await old.client.close();
      const upcast = { [schemaHash(first)]: bring };
      const dying = dyingAt(n, isDone, disk);
      own.client({ disk, upcast, platform: { storage: async () => dying.storage } });
      for (let i = 0; i < 4; i++) await own.settle();
      reached = dying.calls() >= n;

      const { client } = own.client({ disk, upcast });
      for (let i = 0; i < 4; i++) await own.settle();
      expect(own.server.rows.get("slide/a")?.data, `killed at ${n}`).toEqual({ id: "a", heading: "two", order: 5 });
      expect(own.server.head, `killed at ${n}`).toBe(3);
      expect(client.attention()).toMatchObject([
        { code: "schema_changed", operations: [{ id: "b", data: { title: "unknown" } }] },
      ]);
      expect(disk.queue().map((m) => m.stage.phase)).toEqual(["rejected"]);
    }
  },
);

test("[ER10] [ER15] what an undo copied is still known as such in a write that was converted", async () => {
  const disk = new MemoryDisk();
  const before = createTestServer(first);
  const old = before.client({ disk, paused: true });
  const write = old.client.models.slide.create({ title: "Hello", order: 2 }, { id: "a" });
  await write.queued;
  const deleted = old.client.models.slide.delete("a");
  await deleted.undo()?.queued;
  await old.client.close();
  const now = createTestServer(renamed);
  const upcast = { [schemaHash(first)]: bring };
  const { client } = now.client({ disk, upcast, paused: true });
  await now.settle();
  const { writes } = await client.exportPending();
  expect(writes.at(-1)?.operations).toMatchObject([{ copied: ["order", "heading"] }]);
});
