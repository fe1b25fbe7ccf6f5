import fc from "fast-check";
import { expect, test } from "vitest";
import { PersistentMap } from "../../core/log/persistent-map.ts";
import type { FieldType } from "../../protocol/schema/model-schema.ts";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/index.ts";
import { listQuery } from "./list-query.ts";
import { LiveCounts } from "./live-counts.ts";

const schema = defineSchema({
  models: {
    task: {
      fields: {
        status: { type: "enum", values: ["todo", "doing", "done"] },
        order: { type: "number" },
        tags: { type: "array", items: "string" },
        meta: { type: "json" },
      },
    },
  },
});

async function open() {
  const { client: make, settle } = createTestServer(schema);
  const { client } = make();
  await client.ready();
  return { tasks: client.models.task, settle };
}

test("[R26] count, exists and countBy say how many match, archived ones only if asked for", async () => {
  const { tasks, settle } = await open();
  expect([tasks.count(), tasks.exists(), tasks.countBy("status").size]).toEqual([0, false, 0]);
  tasks.create({ status: "todo", order: 1 }, { id: "1" });
  tasks.create({ status: "todo", order: 2 }, { id: "2" });
  tasks.create({ status: "done", order: 3 }, { id: "3" });
  tasks.create({}, { id: "4" });
  for (let round = 0; round < 2; round++) {
    expect(tasks.count()).toBe(4);
    expect(tasks.count({ where: { order: { gte: 2 } } })).toBe(2);
    expect(tasks.exists({ where: { status: "doing" } })).toBe(false);
    expect([...tasks.countBy("status")].sort()).toEqual(
      [
        ["done", 1],
        ["todo", 2],
        [null, 1],
      ].sort(),
    );
    await settle();
  }
  tasks.archive("1");
  expect([tasks.count(), tasks.count({ archived: "with" }), tasks.count({ archived: "only" })]).toEqual([3, 4, 1]);
  tasks.delete("3");
  expect(tasks.countBy("status").has("done")).toBe(false);
});

test("[R26] the same map is given until a count changes", async () => {
  const { tasks, settle } = await open();
  for (const id of ["1", "2"]) tasks.create({ status: "todo", order: 1 }, { id });
  await settle();
  const counts = tasks.countBy("status");
  tasks.update("1", { order: 2 });
  await settle();
  expect(tasks.countBy("status")).toBe(counts);
  tasks.update("1", { status: "done" });
  tasks.update("2", { status: "done" });
  expect(tasks.countBy("status")).not.toBe(counts);
  expect([...tasks.countBy("status")]).toEqual([["done", 2]]);
});

test("[R18] what cannot be counted by is refused", async () => {
  const { tasks } = await open();
  expect(() => tasks.countBy("meta")).toThrow(expect.objectContaining({ param: "field" }));
  expect(() => tasks.countBy("nothing" as "status")).toThrow(expect.objectContaining({ param: "field" }));
  expect(() => tasks.count({ where: { nothing: 1 } as object })).toThrow(
    expect.objectContaining({ param: "where.nothing" }),
  );
});

test("[R26] countBy an array says how many records have each item", async () => {
  const { tasks, settle } = await open();
  tasks.create({ tags: ["bug", "urgent"] }, { id: "1" });
  tasks.create({ tags: ["bug", "bug"] }, { id: "2" });
  tasks.create({ tags: [] }, { id: "3" });
  tasks.create({}, { id: "4" });
  await settle();
  const counts = tasks.countBy("tags");
  const bugs: number | undefined = counts.get("bug");
  expect(bugs).toBe(2);
  expect(counts).toEqual(
    new Map<string | null, number>([
      ["bug", 2],
      ["urgent", 1],
      [null, 1],
    ]),
  );
  tasks.update("1", { tags: ["urgent", "bug"], order: 3 });
  expect(tasks.countBy("tags")).toBe(counts);
  tasks.update("1", { tags: ["urgent"] });
  tasks.delete("4");
  expect([...tasks.countBy("tags")].sort()).toEqual([
    ["bug", 1],
    ["urgent", 1],
  ]);
  expect(tasks.countBy("tags", { where: { tags: { contains: "urgent" } } })).toEqual(new Map([["urgent", 1]]));
  expect(tasks.count()).toBe(3);
});

test("[R26] a value of another type than the field's, as after a forced push, counts as none", () => {
  const values = { a: 1, b: "1", c: { n: 1 }, d: null, e: 2 };
  const tables = {
    task: PersistentMap.empty<never>().edit((draft) => {
      for (const [id, value] of Object.entries(values))
        draft.set(id, { data: { id, order: value, tags: value }, archivedAt: null, syncId: 1 } as never);
    }),
  };
  const state = { rows: { logId: "log", position: 1, tables }, overlay: {} };
  const query = listQuery("task", {}, schema.models.task);
  const counts = (field: string, type: FieldType) => new LiveCounts(query, field, type).read(state);
  expect(counts("order", "number")).toEqual(new Map([...[1, 2].map((value) => [value, 1] as const), [null, 3]]));
  expect(counts("tags", "array")).toEqual(new Map([[null, 5]]));
});

test("[R26] counts that are mended equal those of a list, whatever changes", async () => {
  const status = fc.constantFrom("todo" as const, "doing" as const, "done" as const);
  const change = fc.tuple(fc.nat(5), fc.nat(7), status, fc.nat(3));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 40 }), async (changes) => {
      const { tasks } = await open();
      const where = { order: { gte: 1 } };
      for (const [kind, n, to, order] of changes) {
        const id = `${n}`;
        if (kind === 0) tasks.delete(id);
        else if (kind === 1) tasks.archive(id);
        else if (kind === 2) tasks.unarchive(id);
        else if (tasks.get(id)) tasks.update(id, { status: to, order, tags: [to, `${order}`] });
        else tasks.create({ status: to, order, tags: [to] }, { id });
        const listed = tasks.list({ where });
        expect(tasks.count({ where })).toBe(listed.length);
        for (const value of ["todo", "doing", "done"] as const)
          expect(tasks.countBy("status", { where }).get(value) ?? 0).toBe(
            listed.filter((task) => task.status === value).length,
          );
        for (const tag of ["todo", "doing", "1", "2"])
          expect(tasks.countBy("tags", { where }).get(tag) ?? 0).toBe(
            listed.filter(({ tags = [] }) => tags.includes(tag)).length,
          );
      }
    }),
    { numRuns: 60 },
  );
});
