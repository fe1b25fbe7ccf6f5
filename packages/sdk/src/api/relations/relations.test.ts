import fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";
import { noSignals } from "../../browser/signals.ts";
import { alone } from "../../browser/tabs.ts";
import { createShell } from "../../client.ts";
import { type Relation, relationsOf } from "../../protocol/schema/relations.ts";
import { defineSchema, type RowOf } from "../../protocol/schema/row-types.ts";
import { openRuntime } from "../../runtime.ts";
import { memoryStorage } from "../../storage/memory.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { createTestServer } from "../../testing/test-server.ts";
import { mergeText } from "../../text/merge-text.ts";
import type { SyncClient } from "../sync-client.ts";
import { Joins } from "./joins.ts";

const schema = defineSchema({
  models: {
    project: { fields: { name: { type: "string", required: true } } },
    label: { fields: { name: { type: "string", required: true } } },
    task: {
      fields: {
        title: { type: "string", required: true },
        projectId: { type: "string", nullable: true, references: "project", inverse: "tasks" },
        labelIds: { type: "array", references: "label", inverse: "tasks" },
        parent: { type: "string", references: "task", inverse: "parts" },
        rank: { type: "integer" },
      },
    },
    comment: {
      fields: {
        text: { type: "string", required: true },
        taskId: { type: "string", required: true, references: "task", inverse: "comments" },
        at: { type: "integer", default: 0 },
      },
    },
  },
});

async function tracker() {
  const { client: make, settle, server } = createTestServer(schema);
  const { client, connection } = make();
  await client.ready();
  return { client, ...client.models, settle, server, connection };
}

test("[R31] [R84] a query includes what a field references, one or several, and what references the record", async () => {
  const { project, label, task, comment } = await tracker();
  project.create({ name: "Site" }, { id: "p1" });
  label.create({ name: "bug" }, { id: "l1" });
  label.create({ name: "now" }, { id: "l2" });
  task.create({ title: "Mend", projectId: "p1", labelIds: ["l2", "gone", "l1"] }, { id: "t1" });
  task.create({ title: "Paint", projectId: null, parent: "t1" }, { id: "t2" });
  comment.create({ text: "later", taskId: "t1", at: 2 }, { id: "c2" });
  comment.create({ text: "first", taskId: "t1", at: 1 }, { id: "c1" });
  comment.create({ text: "third", taskId: "t1", at: 3 }, { id: "c3" });

  const rows = task.list({
    include: {
      project: true,
      labels: true,
      comments: { orderBy: "at", order: "desc", limit: 2 },
      parent: true,
      parts: { include: { parent: { include: { project: true } } } },
    },
  });
  expect(rows).toMatchObject([
    {
      id: "t1",
      project: { id: "p1", name: "Site" },
      labels: [{ name: "now" }, { name: "bug" }],
      comments: [{ text: "third" }, { text: "later" }],
      parent: null,
      parts: [{ id: "t2", parent: { title: "Mend", project: { name: "Site" } } }],
    },
    { id: "t2", project: null, labels: [], comments: [], parent: { id: "t1" }, parts: [] },
  ]);
  expectTypeOf(rows[0]?.project).toEqualTypeOf<RowOf<typeof schema, "project"> | null | undefined>();
  expectTypeOf(rows[0]?.comments[0]?.text).toEqualTypeOf<string | undefined>();
  expectTypeOf(rows[0]?.parts[0]?.parent?.project?.name).toEqualTypeOf<string | undefined>();
  expectTypeOf(rows[0]?.projectId).toEqualTypeOf<string | null | undefined>();
  expectTypeOf(task.list()[0]?.parent).toEqualTypeOf<string | undefined>();
  expect(label.list({ include: { tasks: { where: { title: "Mend" } } } })[0]?.tasks).toMatchObject([{ id: "t1" }]);
});

test("[R31] [R84] included records can be chosen and ordered; archived ones are left out unless asked for", async () => {
  const { project, label, task } = await tracker();
  for (const id of ["c", "a", "b"]) label.create({ name: id }, { id });
  project.create({ name: "Old" }, { id: "p1" });
  project.archive("p1");
  task.create({ title: "T", projectId: "p1", labelIds: ["c", "a", "b", "a"] }, { id: "t1" });
  const first = (include: Parameters<typeof task.list>[0]) => task.list(include)[0];
  const names = (rows: unknown) => (rows as { name: string }[]).map(({ name }) => name).join("");
  expect(names(task.list({ include: { labels: true } })[0]?.labels)).toBe("cab");
  expect(names(task.list({ include: { labels: { orderBy: "name" } } })[0]?.labels)).toBe("abc");
  expect(names(task.list({ include: { labels: { limit: 2 } } })[0]?.labels)).toBe("ca");
  expect(names(task.list({ include: { labels: { where: { name: { not: "c" } } } } })[0]?.labels)).toBe("ab");
  expect(first({ include: { project: true } })).toMatchObject({ project: null });
  expect(task.list({ include: { project: { archived: "with" } } })[0]?.project?.name).toBe("Old");
});

test("[R31] [R84] what an array references is in its order, or in that of the query, which may be that of the ids", async () => {
  const { project, label, task } = await tracker();
  project.create({ name: "P" }, { id: "p1" });
  for (const id of ["a", "b", "c"]) label.create({ name: id }, { id });
  task.create({ title: "T", projectId: "p1", labelIds: ["c", "a", "b"] }, { id: "t1" });
  const labels = (labels: true | { order?: "asc" | "desc"; limit?: number; orderBy?: "id" }) =>
    task.list({ include: { labels } })[0]?.labels.map(({ id }) => id);
  expect(labels(true)).toEqual(["c", "a", "b"]);
  expect(labels({ limit: 2 })).toEqual(["c", "a"]);
  expect(labels({ order: "desc", limit: 2 })).toEqual(["c", "b"]);
  expect(labels({ order: "asc" })).toEqual(["a", "b", "c"]);
  expect(labels({ orderBy: "id" })).toEqual(["a", "b", "c"]);
});

test("[R32] a change gives new objects only where it shows, up to the record that includes it", async () => {
  const { project, label, task, comment } = await tracker();
  project.create({ name: "Site" }, { id: "p1" });
  label.create({ name: "bug" }, { id: "l1" });
  task.create({ title: "A", projectId: "p1", labelIds: ["l1"] }, { id: "t1" });
  task.create({ title: "B", projectId: "p1" }, { id: "t2" });
  comment.create({ text: "one", taskId: "t1", at: 1 }, { id: "c1" });
  const read = () => task.list({ include: { project: true, labels: true, comments: { orderBy: "at", limit: 1 } } });
  const before = read();
  expect(read()).toBe(before);

  comment.create({ text: "behind the limit", taskId: "t1", at: 5 }, { id: "c2" });
  expect(read()).toBe(before);
  comment.create({ text: "of the other", taskId: "t2", at: 5 }, { id: "c3" });
  const withComment = read();
  expect(withComment[0]).toBe(before[0]);
  expect(withComment[1]?.comments).toHaveLength(1);
  expect(withComment[1]?.project).toBe(before[1]?.project);

  label.update("l1", { name: "fault" });
  const renamed = read();
  expect(renamed[0]?.labels[0]?.name).toBe("fault");
  expect(renamed[1]).toBe(withComment[1]);
  project.update("p1", { name: "Shop" });
  expect(read().map((row) => row.project?.name)).toEqual(["Shop", "Shop"]);
  project.delete("p1");
  expect(read().map((row) => row.project)).toEqual([null, null]);
  project.create({ name: "Again" }, { id: "p1" });
  expect(read().map((row) => row.project?.name)).toEqual(["Again", "Again"]);
  comment.update("c1", { taskId: "t2" });
  expect(read().map((row) => row.comments.map(({ text }) => text))).toEqual([["behind the limit"], ["one"]]);
});

test("[R32] a record that two relations include is followed until neither does", async () => {
  const { task } = await tracker();
  task.create({ title: "A", parent: "t2" }, { id: "t1" });
  task.create({ title: "B", parent: "t1" }, { id: "t2" });
  const read = () => task.list({ where: { id: "t1" }, include: { parent: true, parts: true } })[0];
  expect([read()?.parent?.title, read()?.parts.length]).toEqual(["B", 1]);
  const parent = read()?.parent;
  task.update("t2", { parent: "nothing" });
  expect([read()?.parent?.title, read()?.parts.length]).toEqual(["B", 0]);
  expect(read()?.parent).not.toBe(parent);
  task.update("t2", { title: "C" });
  expect(read()?.parent?.title).toBe("C");
  task.delete("t2");
  expect(read()?.parent).toBeNull();
  task.create({ title: "D" }, { id: "t2" });
  expect(read()?.parent?.title).toBe("D");
});

test("[R33] an unknown relation, and a wrong query in one, say where they are", async () => {
  const { task, label } = await tracker();
  const param = (query: object) => {
    try {
      task.list(query);
      return undefined;
    } catch (error) {
      return (error as { param?: string }).param;
    }
  };
  expect(param({ include: { owner: true } })).toBe("include.owner");
  expect(() => task.list({ include: { owner: true } as never })).toThrow(
    /It has project, labels, parent, parts, comments/,
  );
  expect(() => label.list({ include: { owner: true } as never })).toThrow(/relation "owner"\. It has tasks\./);
  expect(param({ include: { project: 1 } })).toBe("include.project");
  expect(param({ include: [] })).toBe("include");
  expect(param({ include: { comments: { include: { task: { where: { nope: 1 } } } } } })).toBe(
    "include.comments.include.task.where.nope",
  );
  expect(param({ include: { comments: { orderBy: ["at", { field: "nope" }] } } })).toBe("include.comments.orderBy[1]");
  expect(param({ include: { project: undefined } })).toBeUndefined();
});

test("[R37] without the code for relations, writes are queued and other lists are shown", async () => {
  const clock = fakeClock();
  const { settle } = createTestServer(schema);
  const merging = async () => ({ mergeText });
  const ports = { storage: async () => memoryStorage(), tabs: alone, signals: noSignals, merging };
  let isThere = false;
  const client = createShell(
    {
      clock,
      random: { roll: () => 0.5, id: () => crypto.randomUUID() },
      runtime: async () => ({ openRuntime: (deps) => openRuntime(ports, deps) }),
      relations: async () => {
        if (!isThere) throw new Error("Failed to fetch");
        return { Joins };
      },
      collab: () => import("../claims/collab.ts"),
    },
    { schema, url: "http://127.0.0.1:9", getToken: () => "token", paused: true },
  );
  const told: number[] = [];
  client.models.project.subscribe({ include: { tasks: true } }, (rows) => told.push(rows.length));
  await client.models.project.create({ name: "Site" }).queued;
  expect(client.models.project.list()).toHaveLength(1);
  expect(client.models.project.list({ include: { tasks: true } })).toEqual([]);
  isThere = true;
  clock.advance(3_000);
  await settle();
  expect(told).toEqual([0, 1]);
  await client.close();
});

test("[R34] lists that share an index are kept together, also without a subscriber", async () => {
  const { task, comment } = await tracker();
  task.create({ title: "Long" }, { id: "t1" });
  for (let i = 0; i < 5_000; i++) comment.create({ text: `${i}`, taskId: "t1", at: i });
  const read = () =>
    Array.from({ length: 50 }, (_, i) =>
      task.list({ where: { rank: { not: i } }, include: { comments: { orderBy: "at", limit: 1 } } }),
    );
  const first = read();
  for (const [i, list] of read().entries()) expect(list).toBe(first[i]);
});

test("[R32] whatever changes, a list that includes others says what joining plain lists says", async () => {
  const ids = fc.constantFrom("1", "2", "3");
  const change = fc.oneof(
    fc.record({ kind: fc.constant("project" as const), id: ids, name: ids }),
    fc.record({ kind: fc.constant("label" as const), id: ids, name: ids }),
    fc.record({
      kind: fc.constant("task" as const),
      id: ids,
      projectId: fc.option(ids),
      labelIds: fc.array(ids, { maxLength: 3 }),
      parent: ids,
      rank: fc.integer({ min: 0, max: 3 }),
    }),
    fc.record({
      kind: fc.constant("comment" as const),
      id: fc.constantFrom("1", "2", "3", "4", "5"),
      taskId: ids,
      at: fc.integer({ min: 0, max: 3 }),
    }),
    fc.record({
      kind: fc.constantFrom("delete", "archive", "unarchive" as const),
      model: fc.constantFrom("project", "label", "task", "comment"),
      id: ids,
    }),
  );
  const query = {
    orderBy: "rank",
    limit: 2,
    include: {
      project: { include: { tasks: { orderBy: "rank", limit: 2 } } },
      labels: { orderBy: "name", include: { tasks: true } },
      comments: { orderBy: "at", order: "desc", limit: 2, where: { at: { lt: 3 } } },
      parent: true,
      parts: { include: { parent: true, parts: true, comments: { archived: "with" } } },
    },
  } as const;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { maxLength: 12 }), async (rounds) => {
      const { client, project, label, task, comment, settle } = await tracker();
      for (const round of rounds) {
        for (const each of round) {
          if (each.kind === "project") put(project, each.id, { name: each.name });
          else if (each.kind === "label") put(label, each.id, { name: each.name });
          else if (each.kind === "task") {
            const { kind: _, id, ...data } = each;
            put(task, id, { title: id, ...data });
          } else if (each.kind === "comment")
            put(comment, each.id, { text: each.id, taskId: each.taskId, at: each.at });
          else if (client.models[each.model as "task"].get(each.id))
            client.models[each.model as "task"][each.kind as "delete"](each.id);
        }
        expect(task.list(query)).toEqual(joined(client, "task", query as unknown as Asked));
      }
      await settle();
      await client.close();
    }),
    { numRuns: 60 },
  );
});

type Plain = Record<string, unknown> & { readonly id: string };
type Asked = object & {
  readonly include?: Readonly<Record<string, true | Asked>>;
  readonly limit?: number;
  readonly orderBy?: string;
};

/** The same without anything that is kept from one reading to the next. */
function joined(client: SyncClient<typeof schema>, model: string, { include = {}, ...query }: Asked): Plain[] {
  const list = (name: string, plain: object) => client.models[name as "task"].list(plain) as readonly Plain[];
  return list(model, query).map((row) => {
    const parts = Object.entries(include).map(([name, wanted]) => {
      const { model: other, field, kind } = relationsOf(schema.models, model).get(name) as Relation;
      const { limit, ...asked } = wanted === true ? {} : wanted;
      const { include: _, ...plain } = asked;
      const fieldOf = new Map(list(other, plain).map((each) => [each.id, each[field]]));
      const all = joined(client, other, asked);
      if (kind === "inverse")
        return [name, all.filter(({ id }) => idsOf(fieldOf.get(id)).includes(row.id)).slice(0, limit)];
      const ids = idsOf(row[field]);
      const found = all.filter(({ id }) => ids.includes(id));
      if (!asked.orderBy) found.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
      return [name, kind === "one" ? (found[0] ?? null) : found.slice(0, limit)];
    });
    return { ...row, ...Object.fromEntries(parts) };
  });
}

const idsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [value as string]);

function put(
  api: {
    get(id: string): unknown;
    create(data: never, options: { id: string }): unknown;
    update(id: string, data: never): unknown;
  },
  id: string,
  data: object,
): void {
  if (api.get(id)) api.update(id, data as never);
  else api.create(data as never, { id });
}
