import { expect, expectTypeOf, test } from "vitest";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/test-server.ts";

const plain = defineSchema({ models: { task: { fields: { title: { type: "string" } } } } });
const schema = defineSchema({
  models: {
    task: {
      fields: {
        title: { type: "string", default: "$now" },
        author: { type: "string", default: "$participant" },
        since: { type: "datetime", default: "$now" },
        owner: { type: "string", required: true, default: "$participant" },
      },
    },
  },
});

test("[C21] the client shows itself and its time, then what the server filled in", async () => {
  const { client: open, settle, server, clock } = createTestServer(schema);
  const { client, offline, online } = open();
  await client.ready();
  await settle();
  const { task } = client.models;
  offline();
  const now = new Date(clock.now()).toISOString();
  task.create({}, { id: "1" });
  expect(task.get("1")).toEqual({ id: "1", title: "$now", author: "user:ann", owner: "user:ann", since: now });
  task.update("1", { title: "b" });
  expect(task.list({ where: { author: "user:ann", since: now } })).toHaveLength(1);
  online();
  await settle();
  clock.advance(60_000);
  await settle();
  const at = server.log[0]?.createdAt;
  expect(task.get("1")).toEqual({ id: "1", title: "b", author: "user:ann", owner: "user:ann", since: at });
  expect(server.log[0]?.data).toMatchObject({ since: at, author: "user:ann" });
  await task.create({ author: "user:eve", owner: "x", since: "2031-01-01T00:00:00Z" }, { id: "2" }).receipt;
  expect(task.get("2")).toMatchObject({ author: "user:eve", owner: "x", since: "2031-01-01T00:00:00Z" });
});

test("[M22] a record from before such a default has no value", async () => {
  const before = createTestServer(plain);
  before.client().client.models.task.create({ title: "a" }, { id: "1" });
  await before.settle();
  const after = createTestServer(schema);
  Object.assign(after.server, { log: before.server.log, rows: before.server.rows });
  const { client } = after.client();
  await client.ready();
  expect(client.models.task.get("1")).toEqual({ id: "1", title: "a" });
  const [row] = client.models.task.list({ where: { author: null } });
  expectTypeOf(row?.author).toEqualTypeOf<string | undefined>();
  expectTypeOf<NonNullable<typeof row>["owner"]>().toEqualTypeOf<string>();
});
