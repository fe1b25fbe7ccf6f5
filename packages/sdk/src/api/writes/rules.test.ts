import { expect, test } from "vitest";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/index.ts";
import { increment } from "./changes.ts";

const schema = defineSchema({
  models: {
    task: {
      fields: {
        title: { type: "string", required: true, maxLength: 5 },
        effort: { type: "integer", min: 1 },
        slug: { type: "string", readonlyAfterCreate: true },
      },
    },
  },
});

test("[M15] [M40] the client refuses what breaks a rule where it is written, with the rule's name", async () => {
  const { client } = createTestServer(schema).client();
  await client.ready();
  const { task } = client.models;
  const refused = (write: () => unknown, param: string, rule: string) =>
    expect(write).toThrow(expect.objectContaining({ name: "SyncError", code: "rule_broken", param, rule }));
  refused(() => task.create({ title: "longer" }), "data.title", "maxLength");
  refused(() => task.create({ title: "a", effort: 0 }), "data.effort", "min");
  task.create({ title: "a", effort: 1, slug: "s" }, { id: "1" });
  refused(() => task.update("1", { title: "longer" }), "data.title", "maxLength");
  // @ts-expect-error: the types do not have it in an update.
  refused(() => task.update("1", { slug: "t" }), "data.slug", "readonlyAfterCreate");
  expect(task.get("1")).toEqual({ id: "1", title: "a", effort: 1, slug: "s" });
  expect(client.pending()).toHaveLength(1);
});

const ruled = defineSchema({
  models: {
    task: {
      fields: {
        slug: { type: "string", pattern: "[a-z]+" },
        status: {
          type: "enum",
          values: ["todo", "doing", "done"],
          default: "todo",
          transitions: { todo: ["doing"], doing: ["todo", "done"] },
        },
        note: { type: "string", writableBy: ["$createdBy"] },
        price: { type: "number", writableBy: ["$createdBy"] },
        tag: { type: "string", writableBy: ["$createdBy", "group:role:owner"] },
      },
    },
    rule: { fields: { text: { type: "string" } }, writableBy: ["$createdBy"] },
  },
});

async function two() {
  const { client: open, settle, server } = createTestServer(ruled);
  const [{ client: ann, offline, online }, { client: ben }] = [open(), open({ actor: "ben" })];
  await ann.ready();
  await ben.ready();
  await settle();
  const refused = (write: () => unknown, param: string, rule: string) =>
    expect(write).toThrow(expect.objectContaining({ name: "SyncError", code: "rule_broken", param, rule }));
  return { ann: ann.models, ben: ben.models, settle, server, refused, client: ann, offline, online };
}

test("[M19] the client refuses a text that breaks a pattern", async () => {
  const { ann, refused } = await two();
  refused(() => ann.task.create({ slug: "A" }), "data.slug", "pattern");
  ann.task.create({ slug: "a" }, { id: "1" });
  refused(() => ann.task.update("1", { slug: "a1" }), "data.slug", "pattern");
  expect(() => ann.task.update("1", { slug: "a1" })).toThrow('The "slug" field must match [a-z]+.');
});

test("[M21] the client refuses a change of an enum that its transitions lack, as the record is shown", async () => {
  const { ann, refused } = await two();
  ann.task.create({ slug: "a" }, { id: "1" });
  refused(() => ann.task.update("1", { status: "done" }), "data.status", "transitions");
  expect(() => ann.task.update("1", { status: "done" })).toThrow("can go from todo only to doing");
  ann.task.update("1", { status: "todo" });
  ann.task.update("1", { status: "doing" });
  ann.task.update("1", { status: "done" });
  expect(() => ann.task.update("1", { status: "todo" })).toThrow("can go from done to no other value");
  ann.task.create({ status: "done" }, { id: "2" });
  expect(ann.task.get("2")?.status).toBe("done");
});

test("[M20] [M43] the client refuses what only the creator can write, and leaves groups to the server", async () => {
  const { ann, ben, settle, refused } = await two();
  ann.task.create({ note: "a", price: 1 }, { id: "1" });
  ann.rule.create({ text: "a" }, { id: "r" });
  await settle();
  refused(() => ben.task.update("1", { note: "b" }), "data.note", "writableBy");
  refused(() => ben.task.update("1", { price: increment(1) }), "changes.price", "writableBy");
  refused(() => ben.rule.update("r", { text: "b" }), "id", "writableBy");
  refused(() => ben.rule.delete("r"), "id", "writableBy");
  refused(() => ben.rule.archive("r"), "id", "writableBy");
  ben.task.update("1", { note: "a", slug: "b" });
  ben.task.update("1", { tag: "b" });
  ann.task.update("1", { note: "c" });
  ben.rule.create({ text: "b" }, { id: "s" });
  ben.rule.update("s", { text: "c" });
  await settle();
  expect(ben.task.get("1")).toMatchObject({ note: "c", slug: "b", tag: "b" });
});

test("[C20] [C32] a write from before a rule is sent, and waits with the rule's name if the server refuses it", async () => {
  const before = defineSchema({ models: { task: { fields: { slug: { type: "string" } } } } });
  const after = defineSchema({ models: { task: { fields: { slug: { type: "string", pattern: "[a-z]+" } } } } });
  const old = createTestServer(before).client();
  await old.client.ready();
  old.offline();
  const write = old.client.models.task.create({ slug: "A1" }, { id: "1" });
  await write.queued;
  await old.client.close();
  const { client: open, settle, server } = createTestServer(after);
  server.refuse(({ data }) => (data?.slug === "A1" ? "rule_broken" : undefined));
  const { client } = open({ disk: old.disk });
  client.models.task.create({ slug: "b" }, { id: "2" });
  await client.ready();
  await settle();
  expect(client.attention()).toMatchObject([{ error: { code: "rule_broken" } }]);
  expect(client.models.task.list().map(({ id }) => id)).toEqual(["2"]);
});
