import { expect, test, vi } from "vitest";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/test-server.ts";

const fields = { title: { type: "string" }, order: { type: "number" }, tags: { type: "array" } } as const;
const before = { models: { slide: { fields } } } as const;
const after = defineSchema({
  models: {
    slide: {
      fields: {
        ...fields,
        status: { type: "enum", values: ["open", "done"], default: "open" },
        meta: { type: "json", default: { stars: 0 } },
      },
    },
  },
});

async function withOldRows() {
  const old = createTestServer(before);
  for (const id of ["a", "b"]) {
    const operations = [{ action: "create", model: "slide", id, data: { title: id } }];
    old.server.commit({ clientTxId: id, operations } as never, "ben");
  }
  const own = createTestServer(after);
  Object.assign(own.server, { log: old.server.log, rows: old.server.rows });
  const made = own.client();
  await made.client.ready();
  await own.settle();
  return { ...own, ...made, slides: made.client.models.slide };
}

test("[R19] a default that came after a row was written is read as if it had been there, by itself and in lists", async () => {
  const { slides, settle, disk } = await withOldRows();
  expect(slides.get("a")).toEqual({ id: "a", title: "a", status: "open", meta: { stars: 0 } });
  expect(slides.get("a")).toBe(slides.get("a"));
  expect(slides.list({ where: { status: "open" } }).map(({ id }) => id)).toEqual(["a", "b"]);
  expect(slides.list()[0]).toBe(slides.get("a"));
  slides.update("a", { status: "done" });
  await settle();
  expect(slides.list({ where: { status: "open" } }).map(({ id }) => id)).toEqual(["b"]);
  expect(slides.get("a")).toMatchObject({ status: "done", meta: { stars: 0 } });
  // In the store a row stays as the log has it.
  expect(disk.rows().tables.slide?.get("b")?.data).toEqual({ id: "b", title: "b" });
});

test("[R20] rows that are read anew and say the same are the same objects", async () => {
  const { client, slides, connection, settle, server } = await withOldRows();
  const [list, a] = [slides.list(), slides.get("a")];
  const update = { action: "update", model: "slide", id: "b", data: { title: "other" } };
  server.commit({ clientTxId: "u", operations: [update] } as never, "ben");
  await settle();
  const again = slides.list();
  // As over a network: rows that are read again are new objects.
  for (const [key, row] of server.rows) server.rows.set(key, structuredClone(row));
  connection.say({ frame: "resync", reason: "schema" } as never);
  await settle();
  expect(connection.asked.snapshot).toBe(2);
  expect(client.status().name).toBe("online");
  expect(slides.list()).toBe(again);
  expect(slides.get("a")).toEqual(a);
  expect(again[0]).toEqual(list[0]);
  expect(slides.get("a")).toBe(a);
});

test("[R21] while an app is developed its rows are frozen, in lists and all the way down; in production they are not", async () => {
  const { slides } = await withOldRows();
  slides.update("a", { tags: [{ deep: 1 }] });
  const row = slides.get("a") as unknown as { title: string; tags: { deep: number }[] };
  expect(() => {
    row.title = "changed in place";
  }).toThrow(TypeError);
  expect(() => {
    (row.tags[0] as { deep: number }).deep = 2;
  }).toThrow(TypeError);
  expect(Object.isFrozen(slides.list()[1])).toBe(true);
  vi.resetModules();
  vi.stubEnv("NODE_ENV", "production");
  const { asGiven } = await import("./shown-rows.ts");
  expect(Object.isFrozen(asGiven({ title: "x" }))).toBe(false);
  vi.unstubAllEnvs();
});
