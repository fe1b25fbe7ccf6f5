import { expect, test } from "vitest";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/index.ts";

const schema = defineSchema({
  models: {
    label: { fields: { name: { type: "string", unique: true } } },
    task: {
      fields: {
        title: { type: "string" },
        label: { type: "string", nullable: true, references: "label", onDelete: "setNull" },
        parent: { type: "string", nullable: true, references: "task", onDelete: "cascade" },
      },
    },
  },
});

async function open() {
  const own = createTestServer(schema);
  const { client, offline, online } = own.client({ actor: "ann" });
  await client.ready({ rows: "complete" });
  return { ...own, client, offline, online, ...client.models };
}

test("[Q44] a write that the server refuses for a unique field or a reference waits in attention", async () => {
  const { client, label, task, settle } = await open();
  label.create({ name: "Red" }, { id: "r" });
  label.create({ name: "Red" }, { id: "again" });
  task.create({ title: "One", label: "none" }, { id: "t" });
  await settle();
  expect(client.attention().map(({ code, operations }) => [code, operations[0]?.id])).toEqual([
    ["not_unique", "again"],
    ["invalid_reference", "t"],
  ]);
  expect(label.list().map(({ id }) => id)).toEqual(["r"]);
  expect(task.list()).toEqual([]);
});

test("[Q45] what a delete takes with it leaves when the log says so, and stays if the delete is refused", async () => {
  const { label, task, offline, online, settle } = await open();
  label.create({ name: "Red" }, { id: "r" });
  task.create({ title: "Root", label: "r" }, { id: "root" });
  task.create({ title: "Child", parent: "root" }, { id: "child" });
  await settle();
  offline();
  task.delete("root");
  label.delete("r");
  expect(task.list().map(({ id }) => id)).toEqual(["child"]);
  online();
  await settle();
  expect(task.list()).toEqual([]);
  expect(label.list()).toEqual([]);
});

test("[Q46] creates that were queued offline and reference each other are confirmed", async () => {
  const { client, label, task, offline, online, settle, server } = await open();
  offline();
  label.create({ name: "Red" }, { id: "r" });
  task.create({ title: "Root", label: "r" }, { id: "root" });
  task.create({ title: "Child", parent: "root", label: "r" }, { id: "child" });
  online();
  await settle();
  expect(client.attention()).toEqual([]);
  expect([...server.rows.keys()]).toEqual(["label/r", "task/root", "task/child"]);
});
