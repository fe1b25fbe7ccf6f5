import { expect, test } from "vitest";
import { defineSchema } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/test-server.ts";
import { reportedErrors } from "../testing/reported-errors.ts";

const reported = reportedErrors();
const schema = defineSchema({
  models: {
    project: { fields: { name: { type: "string", required: true } } },
    task: {
      fields: { title: { type: "string", required: true }, projectId: { type: "string", references: "project" } },
    },
  },
});

async function open() {
  const { client: make, settle, server } = createTestServer(schema);
  const { client } = make();
  await client.ready();
  return { client, settle, server };
}

test("[R35] what a transaction does is one commit, in its order, with ids for references", async () => {
  const { client, settle, server } = await open();
  const write = client.transact((tx) => {
    const projectId = tx.project.create({ name: "Site" });
    const first = tx.task.create({ title: "One", projectId });
    tx.task.create({ title: "Two", projectId }, { id: "two" });
    tx.task.update(first, { title: "First" });
    tx.task.archive("two");
  });
  expect(client.models.task.list({ where: { projectId: write.id } })).toMatchObject([{ title: "First" }]);
  expect((await write.receipt).status).toBe("confirmed");
  await settle();
  expect(server.log.map(({ model, verb }) => `${model} ${verb}`)).toEqual([
    "project created",
    "task created",
    "task created",
    "task updated",
    "task archived",
  ]);
  write.undo();
  expect([...client.models.project.list(), ...client.models.task.list({ archived: "with" })]).toEqual([]);
});

test("[R35] if its function throws, or does nothing, nothing is written", async () => {
  const { client } = await open();
  expect(() =>
    client.transact((tx) => {
      tx.project.create({ name: "Lost" });
      throw new Error("Changed my mind.");
    }),
  ).toThrow("Changed my mind.");
  expect(() => client.transact(() => {})).toThrow(/1 to 100 operations/);
  expect(() =>
    client.transact((tx) => {
      for (let i = 0; i < 101; i++) tx.project.create({ name: `${i}` });
    }),
  ).toThrow(/1 to 100 operations/);
  // @ts-expect-error: the field is required
  expect(() => client.transact((tx) => tx.project.create({}))).toThrow(/name/);
  expect(client.pending()).toEqual([]);
});

test("[R35] what an async function adds too late throws there", async () => {
  const { client } = await open();
  let late: Promise<void> | undefined;
  client.transact((tx) => {
    tx.project.create({ name: "In time" });
    late = Promise.resolve().then(() => tx.project.delete("p"));
  });
  await expect(late).rejects.toMatchObject({ code: "invalid_options" });
  expect(client.pending().flatMap(({ operations }) => operations)).toHaveLength(1);
});

test("[R36] a subscribed query tells its records at once, and again when something in them changes", async () => {
  const { client, settle } = await open();
  const told: string[][] = [];
  const end = client.models.task.subscribe({ where: { projectId: "p1" }, include: { project: true } }, (rows) =>
    told.push(rows.map(({ title, project }) => `${title} ${project?.name ?? "-"}`)),
  );
  client.models.task.create({ title: "Elsewhere" });
  client.models.task.create({ title: "Here", projectId: "p1" });
  client.models.project.create({ name: "P" }, { id: "p1" });
  await settle();
  expect(told).toEqual([[], ["Here -"], ["Here P"]]);
  end();
  client.models.task.create({ title: "After", projectId: "p1" });
  expect(told).toHaveLength(3);
  expect(() => client.models.task.subscribe({ where: { nope: 1 } } as never, () => {})).toThrow(/nope/);
});

test("[R36] a listener that throws stops neither the client nor another listener", async () => {
  const { client } = await open();
  const told: number[] = [];
  client.models.task.subscribe({}, () => {
    throw new Error("A fault of the app.");
  });
  client.models.task.subscribe({}, (rows) => told.push(rows.length));
  client.models.task.create({ title: "One" });
  expect(told).toEqual([0, 1]);
  expect(reported).toHaveLength(2);
});
