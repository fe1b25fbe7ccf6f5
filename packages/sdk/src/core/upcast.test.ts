import { expect, test } from "vitest";
import type { ClientOptions } from "../options.ts";
import type { ModelSchema } from "../protocol/model-schema.ts";
import { MemoryDisk } from "../storage/memory.ts";
import { lab } from "../testing/lab.ts";
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
  const before = lab(first);
  const old = before.client({ disk, paused: true });
  const write = old.client.models.slide.create({ title: "Hello", order: 2 }, { id: "a" });
  await write.queued;
  await old.client.close();
  const now = lab(then);
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

test("[Q31] a write that uses nothing of what has changed goes as it was written, under its name", async () => {
  const { client, server, name, line } = await across(added);
  expect(client.status()).toMatchObject({ pending: 0, attention: 0 });
  expect(server.receiptOf("ann", name)).toMatchObject({ status: "confirmed" });
  expect(JSON.parse(line.sent[0] ?? "").commits[0].operations[0].data).toEqual({ title: "Hello", order: 2 });
});

test("[Q31] where something has changed the app's function says what the write means now", async () => {
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

test("[Q32] a write of a schema that nobody knows needs attention with the reason, and goes on when a later version knows it", async () => {
  const { client, line, open, server, settle, disk } = await across(renamed);
  expect(line.sent).toEqual([]);
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
    /failed: Error: odd/,
  ],
  ["says nothing", () => undefined, /gave nothing that the schema knows/],
  [
    "says what the schema does not know",
    (o: OldOperation) => ({ ...o, model: "nope" }),
    /gave nothing that the schema knows/,
  ],
] as const)("[Q32] when the function %s the write waits for a person, and is not lost", async (_, upcast, message) => {
  const { client, disk } = await across(renamed, { [schemaHash(first)]: upcast as never });
  expect(client.attention()).toMatchObject([
    { code: "schema_changed", error: { message: expect.stringMatching(message) } },
  ]);
  expect(disk.queue().map((m) => [m.stage.phase, m.operations[0]?.data])).toEqual([
    ["parked", { title: "Hello", order: 2 }],
  ]);
});
