import fc from "fast-check";
import { expect, test } from "vitest";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/index.ts";

const schema = defineSchema({
  models: {
    task: {
      fields: {
        title: { type: "string", required: true },
        owner: { type: "string", nullable: true },
        order: { type: "number", default: 0 },
        note: { type: "string" },
      },
    },
  },
});

async function open() {
  const own = createTestServer(schema);
  const { client, connection } = own.client({ actor: "ann" });
  const { client: other } = own.client({ actor: "ben" });
  await client.ready({ rows: "complete" });
  return { ...own, client, connection, other, tasks: client.models.task };
}

test("[R29] undo takes back a create, an update, a deletion and archiving, on the server too", async () => {
  const { tasks, settle, server } = await open();
  const made = tasks.create({ title: "One", owner: "ann" }, { id: "1" });
  const update = tasks.update("1", { title: "Two", owner: null });
  const before = tasks.get("1");
  const archived = tasks.archive("1");
  expect(archived.undo()).toBeDefined();
  expect(tasks.list()).toEqual([before]);
  const removed = tasks.delete("1");
  expect(tasks.get("1")).toBeUndefined();
  removed.undo();
  expect(tasks.get("1")).toEqual(before);
  tasks.archive("1");
  tasks.delete("1").undo();
  expect([tasks.list(), tasks.list({ archived: "only" })]).toEqual([[], [before]]);
  tasks.unarchive("1");
  update.undo();
  expect(tasks.get("1")).toEqual({ id: "1", title: "One", owner: "ann", order: 0 });
  await settle();
  expect(server.rows.get("task/1")?.data).toEqual({ id: "1", title: "One", owner: "ann", order: 0 });
  made.undo();
  await settle();
  expect([tasks.count(), server.rows.size]).toEqual([0, 0]);
});

test("[R29] of a record, undo takes back what the write has changed, and leaves what others changed since", async () => {
  const { client, tasks, other, settle } = await open();
  await tasks.create({ title: "One", owner: "ann" }, { id: "1" }).receipt;
  const write = tasks.update("1", { title: "Mine" });
  await write.receipt;
  await other.ready({ rows: "complete" });
  await other.models.task.update("1", { owner: "ben" }).receipt;
  await settle();
  write.undo();
  expect(tasks.get("1")).toMatchObject({ title: "One", owner: "ben" });
  await settle();
  expect(client.conflicts()).toEqual([]);
});

test("[R30] an undo conflicts as any write does, with what its author has not seen", async () => {
  const { client, tasks, connection, other, settle } = await open();
  await tasks.create({ title: "One" }, { id: "1" }).receipt;
  const write = tasks.update("1", { title: "Mine" });
  await write.receipt;
  await other.ready({ rows: "complete" });
  connection.quiet = true;
  await other.models.task.update("1", { title: "Theirs" }).receipt;
  write.undo();
  await settle();
  connection.flush();
  await settle();
  expect(client.conflicts()).toMatchObject([{ mine: { title: "One" }, theirs: { title: "Theirs" } }]);
});

test("[R29] [R82] there is nothing to undo twice, and a record that is gone meanwhile comes back as it was", async () => {
  const { tasks, other, settle } = await open();
  await tasks.create({ title: "One" }, { id: "1" }).receipt;
  const write = tasks.update("1", { title: "Two" });
  expect(write.undo()).toBeDefined();
  expect(write.undo()).toBeUndefined();
  const next = tasks.update("1", { title: "Three" });
  await next.receipt;
  await other.ready({ rows: "complete" });
  await other.models.task.delete("1").receipt;
  await settle();
  // It was there before the write, so it comes back as it was then.
  next.undo();
  expect(tasks.get("1")).toMatchObject({ title: "One" });
});

test("[R29] [R83] a commit is undone as a whole, and an undo can be undone", async () => {
  const { client, tasks } = await open();
  tasks.create({ title: "A" }, { id: "a" });
  tasks.create({ title: "B" }, { id: "b" });
  const before = tasks.list();
  const write = client.commit([
    { action: "update", model: "task", id: "a", data: { title: "A2" } },
    { action: "delete", model: "task", id: "b" },
    { action: "create", model: "task", id: "c", data: { title: "C" } },
    { action: "update", model: "task", id: "c", data: { title: "C2" } },
  ]);
  const after = tasks.list();
  const undone = write.undo();
  expect(tasks.list()).toEqual(before);
  undone?.undo();
  expect(tasks.list()).toEqual(after);
});

test("[R29] a field that cannot be empty again keeps its value", async () => {
  const { tasks } = await open();
  tasks.create({ title: "One" }, { id: "1" });
  const write = tasks.update("1", { note: "n", title: "Two" });
  write.undo();
  expect(tasks.get("1")).toEqual({ id: "1", title: "One", order: 0, note: "n" });
});

test("[R29] undone in reverse, any writes leave what was there before them", async () => {
  const act = fc.tuple(fc.nat(4), fc.nat(2), fc.constantFrom("x", "y", "z"));
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
      const { tasks } = await open();
      tasks.create({ title: "there", owner: null }, { id: "0" });
      const before = tasks.list({ archived: "with" });
      const writes = acts.flatMap(([kind, n, title]) => {
        const id = `${n}`;
        if (!tasks.get(id)) return tasks.create({ title, owner: null }, { id });
        if (kind === 0) return tasks.delete(id);
        if (kind === 1) return tasks.archive(id);
        if (kind === 2) return tasks.unarchive(id);
        return tasks.update(id, kind === 3 ? { title } : { owner: title });
      });
      for (const write of writes.reverse()) write.undo();
      expect(tasks.list({ archived: "with" })).toEqual(before);
    }),
    { numRuns: 60 },
  );
});
