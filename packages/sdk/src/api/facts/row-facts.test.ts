import { expect, test } from "vitest";
import { changeTables } from "../../core/log/tables.ts";
import { initialState } from "../../core/state.ts";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/test-server.ts";
import { rowFacts } from "./row-facts.ts";

const schema = defineSchema({
  models: {
    project: { fields: { name: { type: "string" } } },
    task: {
      fields: {
        title: { type: "string" },
        projectId: { type: "string", references: "project", inverse: "tasks" },
      },
    },
  },
});

async function board() {
  const { client: make, settle, server, clock } = createTestServer(schema);
  const { client, connection, disk } = make();
  await client.ready();
  await settle();
  return { client, task: client.models.task, settle, server, connection, make, clock, disk };
}

const FACTS = ["$createdAt", "$createdBy", "$updatedAt", "$updatedBy", "$archivedAt", "$syncId"] as const;
type Facts = Partial<Record<(typeof FACTS)[number], unknown>>;
const factsOf = (row: Facts | undefined) => row && Object.fromEntries(FACTS.map((name) => [name, row[name]]));

test("[R39] a row says who created and changed it and when, in every client, and after a reload", async () => {
  const { task, settle, make, server, disk } = await board();
  task.create({ title: "a" }, { id: "1" });
  await settle();
  const made = server.log[0]?.createdAt;
  const created = { $createdAt: made, $createdBy: "user:ann", $updatedAt: made, $updatedBy: "user:ann" };
  expect(factsOf(task.get("1"))).toEqual({ ...created, $archivedAt: null, $syncId: 1 });
  const { client: other } = make({ actor: "ben" });
  await other.ready();
  await settle();
  expect(factsOf(other.models.task.get("1"))).toEqual({ ...created, $archivedAt: null, $syncId: 1 });
  other.models.task.update("1", { title: "b" });
  await settle();
  const updated = { ...created, $updatedAt: server.log[1]?.createdAt, $updatedBy: "user:ben" };
  expect(factsOf(task.get("1"))).toEqual({ ...updated, $archivedAt: null, $syncId: 2 });
  other.models.task.archive("1");
  await settle();
  const archivedAt = server.log[2]?.createdAt;
  const archived = { ...updated, $updatedAt: archivedAt, $archivedAt: archivedAt, $syncId: 3 };
  expect(factsOf(task.list({ archived: "only" })[0])).toEqual(archived);
  const { client: third } = make({ actor: "cleo" });
  await third.ready();
  expect(factsOf(third.models.task.get("1"))).toEqual(archived);
  const { client: again } = make({ disk, paused: true });
  await again.ready();
  expect(factsOf(again.models.task.get("1"))).toEqual(archived);
});

test("[R39] [R87] facts are no part of the data: a copy is without them, and equal to its values", async () => {
  const { task, settle } = await board();
  task.create({ title: "a" }, { id: "1" });
  await settle();
  const row = task.get("1");
  expect(row).toStrictEqual({ id: "1", title: "a" });
  expect(row && { ...row }).not.toHaveProperty("$createdBy");
  expect(JSON.stringify(row)).toBe('{"id":"1","title":"a"}');
  const copy = task.create({ title: "", ...row, id: "2" } as { title: string }, { id: "2" });
  if (row) task.update("1", { ...row, title: "b" });
  if (row) task.update("1", row);
  await copy.receipt;
  expect(task.get("2")).toEqual({ id: "2", title: "a" });
});

test("[R39] [R87] a write that names a fact is refused, and the error says why", async () => {
  const { task } = await board();
  const write = () => task.create({ title: "a", $createdBy: "user:eve" } as { title: string });
  expect(write).toThrow('The server sets "$createdBy"');
  expect(() => task.update("1", { $syncId: 3 } as object)).toThrow('The server sets "$syncId"');
});

test("[R39] rows of a server that does not say them are without facts", async () => {
  const { settle, make, server } = await board();
  const snapshot = server.snapshot.bind(server);
  server.snapshot = () => {
    const { lines, ...rest } = snapshot();
    return { ...rest, lines: lines.map(({ createdAt: _, createdBy: __, ...line }) => line) };
  };
  const { client } = make();
  client.models.task.create({ title: "a" }, { id: "1" });
  await settle();
  const { client: late } = make();
  await late.ready();
  const { task } = late.models;
  expect(factsOf(task.get("1"))).toEqual({ $archivedAt: null, $syncId: 1 });
  expect(task.list({ where: { $createdBy: null } })).toHaveLength(1);
  task.update("1", { title: "b" });
  await settle();
  expect(task.get("1")).toMatchObject({ $createdBy: undefined, $updatedBy: "user:ann" });
});

test("[R40] a pending write has this participant and the time of this device, then the server's", async () => {
  const { client, task, settle, server, connection, clock } = await board();
  connection.up = false;
  const own = new Date(clock.now()).toISOString();
  task.create({ title: "a" }, { id: "1" });
  const pending = task.get("1");
  const facts = { $createdAt: own, $createdBy: "user:ann", $updatedAt: own, $updatedBy: "user:ann" };
  expect(factsOf(pending)).toEqual({ ...facts, $archivedAt: null, $syncId: undefined });
  clock.advance(1_000);
  task.update("1", { title: "b" });
  const later = new Date(clock.now()).toISOString();
  expect(task.get("1")).toMatchObject({ $createdAt: own, $updatedAt: later });
  connection.up = true;
  client.pause();
  client.resume();
  await settle();
  expect(task.get("1")).toMatchObject({
    $createdAt: server.log[0]?.createdAt,
    $updatedAt: server.log[1]?.createdAt,
    $syncId: 2,
  });
  expect(factsOf(pending)).toEqual({ ...facts, $archivedAt: null, $syncId: undefined });
});

test("[R40] [R88] an object that was read of is replaced when its write settles, any other stays", async () => {
  const { task, settle, connection } = await board();
  connection.quiet = true;
  task.create({ title: "a" }, { id: "1" });
  task.create({ title: "b" }, { id: "2" });
  const [list, one, two] = [task.list(), task.get("1"), task.get("2")];
  expect(one?.$createdBy).toBe("user:ann");
  await settle();
  connection.flush();
  await settle();
  expect(task.get("1")).not.toBe(one);
  expect(task.get("1")).toEqual(one);
  expect(task.get("2")).toBe(two);
  expect(task.list()).not.toBe(list);
  expect(task.list()[0]).toBe(task.get("1"));
  expect(task.list()[1]).toBe(two);
});

test("[R40] a write that was made before the client had loaded gets facts too", async () => {
  const { client: make, settle } = createTestServer(schema);
  const { client } = make();
  client.models.task.create({ title: "a" }, { id: "1" });
  const early = client.models.task.list();
  expect(early[0]?.$createdBy).toBeUndefined();
  await client.ready();
  await settle();
  expect(client.models.task.get("1")?.$createdBy).toBe("user:ann");
  expect(client.models.task.list()[0]?.$syncId).toBe(1);
});

test("[R41] queries filter, sort and count by facts, and follow their changes", async () => {
  const { task, settle, make, connection } = await board();
  const { client: other } = make({ actor: "ben" });
  await other.ready();
  for (const id of ["1", "2", "3"]) {
    task.create({ title: id }, { id });
    await settle();
  }
  other.models.task.create({ title: "4" }, { id: "4" });
  await settle();
  const ids = (query: Parameters<typeof task.list>[0]) => task.list(query).map(({ id }) => id);
  const newest = { orderBy: "$updatedAt", order: "desc" } as const;
  const byBen = { where: { $updatedBy: "user:ben" }, orderBy: "$syncId" } as const;
  expect(ids(newest)).toEqual(["4", "3", "2", "1"]);
  expect(ids(byBen)).toEqual(["4"]);
  expect(ids({ where: { $createdBy: { not: "user:ben" } } })).toEqual(["1", "2", "3"]);
  expect(Object.fromEntries(task.countBy("$createdBy"))).toEqual({ "user:ann": 3, "user:ben": 1 });
  other.models.task.update("2", { title: "mended" });
  await settle();
  expect(ids(newest)).toEqual(["2", "4", "3", "1"]);
  expect(ids(byBen)).toEqual(["4", "2"]);
  connection.quiet = true;
  task.update("1", { title: "own" });
  expect(ids({ where: { $updatedBy: "user:ann" }, orderBy: "$syncId" })).toEqual(["1", "3"]);
  await settle();
  connection.flush();
  await settle();
  expect(ids({ where: { $updatedBy: "user:ann" }, orderBy: "$syncId" })).toEqual(["3", "1"]);
  expect(ids({ where: { $createdAt: { lte: task.get("2")?.$createdAt ?? "" } } })).toEqual(["1", "2"]);
  expect(() => task.list({ orderBy: "$deletedAt" as never })).toThrow("no field");
});

test("[R41] included records have facts, which sort them", async () => {
  const { client, task, settle } = await board();
  client.models.project.create({ name: "P" }, { id: "p" });
  for (const id of ["b", "a"]) {
    task.create({ title: id, projectId: "p" }, { id });
    await settle();
  }
  const query = { include: { tasks: { orderBy: "$updatedAt", order: "desc" } } } as const;
  const first = client.models.project.list(query);
  expect(first[0]?.$createdBy).toBe("user:ann");
  expect(first[0]?.tasks.map(({ id }) => id)).toEqual(["a", "b"]);
  expect(first[0]?.tasks[0]?.$syncId).toBe(3);
  expect(task.list({ include: { project: true } })[0]?.project?.$syncId).toBe(1);
  task.update("b", { title: "c" });
  await settle();
  expect(client.models.project.list(query)[0]?.tasks.map(({ $syncId }) => $syncId)).toEqual([4, 3]);
});

test("[R40] [R88] where rows are not frozen, as in production, one that has said something is another object once that changes", () => {
  const data = { id: "1", title: "a" };
  const rowAt = (syncId: number) => ({ data, archivedAt: null, syncId, createdAtMs: 0, createdBy: "user:ann" });
  const stateAt = (syncId: number) => {
    const tables = changeTables({}, [{ record: { model: "task", id: "1" }, value: rowAt(syncId) as never }]);
    return {
      ...initialState({ schema, paused: false, sendAtMost: 100 }),
      rows: { tables, logId: "log", position: syncId },
    };
  };
  let state = stateAt(1);
  const facts = rowFacts(() => state);
  const given = (syncId: number): Facts => facts.give("task", facts.show("task", rowAt(syncId)).data) as Facts;
  const first = given(1);
  state = stateAt(2);
  // Nothing was read of it.
  expect(given(2)).toBe(first);
  expect(first.$syncId).toBe(2);
  state = stateAt(3);
  const second = given(3);
  expect([second === first, first.$syncId, second.$syncId]).toEqual([false, 2, 3]);
  expect(given(3)).toBe(second);
});
