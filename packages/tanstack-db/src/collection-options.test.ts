import { defineSchema, type ModelSchema, type SyncClient } from "@holdfast/sdk";
import { createTestServer } from "@holdfast/sdk/testing";
import { createCollection, createLiveQueryCollection, eq } from "@tanstack/db";
import { afterEach, expect, test, vi } from "vitest";
import { holdfastCollectionOptions } from "./index.ts";

const schema = defineSchema({
  models: {
    project: { fields: { name: { type: "string", required: true } } },
    task: {
      fields: {
        title: { type: "string", required: true },
        done: { type: "boolean" },
        projectId: { type: "string" },
      },
    },
  },
});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close();
});

async function open() {
  const tests = createTestServer(schema);
  const ann = tests.client({ actor: "ann" });
  const ben = tests.client({ actor: "ben" });
  opened.push(ann.client, ben.client);
  await Promise.all([ann.client.ready({ rows: "complete" }), ben.client.ready({ rows: "complete" })]);
  const tasks = createCollection(holdfastCollectionOptions({ client: ann.client, model: "task" }));
  await tasks.preload();
  return { ...tests, ann, ben, tasks };
}

test("[TD1] an insert, an update and a delete reach another client", async () => {
  const { ann, ben, tasks, settle } = await open();
  const commit = vi.spyOn(ann.client, "commit");
  await tasks.insert({ id: "t1", title: "Milk" }).isPersisted.promise;
  await settle();
  expect(ben.client.models.task.get("t1")?.title).toBe("Milk");
  await tasks.update("t1", (draft) => {
    draft.done = true;
  }).isPersisted.promise;
  await settle();
  expect(ben.client.models.task.get("t1")).toMatchObject({ title: "Milk", done: true });
  expect(commit.mock.lastCall?.[0]).toEqual([{ action: "update", model: "task", id: "t1", data: { done: true } }]);
  await tasks.delete("t1").isPersisted.promise;
  await settle();
  expect(ben.client.models.task.get("t1")).toBeUndefined();
  expect(tasks.has("t1")).toBe(false);
});

test("[TD2] a live query joins two collections", async () => {
  const { ann, tasks, settle } = await open();
  const projects = createCollection(holdfastCollectionOptions({ client: ann.client, model: "project" }));
  const joined = createLiveQueryCollection((q) =>
    q
      .from({ task: tasks })
      .innerJoin({ project: projects }, ({ task, project }) => eq(task.projectId, project.id))
      .select(({ task, project }) => ({ id: task.id, title: task.title, project: project.name })),
  );
  await joined.preload();
  await projects.insert({ id: "p1", name: "Home" }).isPersisted.promise;
  await tasks.insert({ id: "t1", title: "Milk", projectId: "p1" }).isPersisted.promise;
  await settle();
  expect(joined.toArray).toEqual([expect.objectContaining({ title: "Milk", project: "Home" })]);
});

test("[TD3] offline, the transaction waits and the row shows; online, it is confirmed", async () => {
  const { ann, ben, tasks, settle, clock } = await open();
  ann.offline();
  const transaction = tasks.insert({ id: "t1", title: "Milk" });
  await settle();
  expect(transaction.state).toBe("persisting");
  expect(tasks.get("t1")?.title).toBe("Milk");
  ann.online();
  await settle();
  clock.advance(1_000);
  await transaction.isPersisted.promise;
  await settle();
  expect(ben.client.models.task.get("t1")?.title).toBe("Milk");
});

test("[TD4] after a reload offline, the collection is ready and shows the queued write", async () => {
  const { ann, tasks, settle, client } = await open();
  ann.offline();
  tasks.insert({ id: "t1", title: "Milk" }).isPersisted.promise.catch(() => {});
  await settle();
  await ann.client.close();
  const again = client({ actor: "ann", disk: ann.disk, paused: true });
  opened.push(again.client);
  const reloaded = createCollection(holdfastCollectionOptions({ client: again.client, model: "task" }));
  await reloaded.preload();
  expect(reloaded.get("t1")?.title).toBe("Milk");
});

test("[TD5] a refused write rejects and rolls back", async () => {
  const { ann, tasks, settle, server } = await open();
  server.refuse(() => "capability_scope_denied");
  await expect(tasks.insert({ id: "t1", title: "Milk" }).isPersisted.promise).rejects.toMatchObject({
    code: "capability_scope_denied",
  });
  await settle();
  expect(tasks.has("t1")).toBe(false);
  expect(ann.client.attention()).toHaveLength(1);
});

test("[TD6] a stale write rejects, and the conflict waits in the client", async () => {
  const { ann, ben, tasks, settle, clock } = await open();
  await tasks.insert({ id: "t1", title: "Milk" }).isPersisted.promise;
  await settle();
  ann.offline();
  const stale = tasks.update("t1", (draft) => {
    draft.title = "Oat milk";
  });
  const rejected = expect(stale.isPersisted.promise).rejects.toThrow();
  await ben.client.models.task.update("t1", { title: "Bread" }).receipt;
  ann.online();
  await settle();
  clock.advance(10_000);
  await rejected;
  const [conflict] = ann.client.conflicts();
  expect(conflict?.theirs).toEqual({ title: "Bread" });
  conflict?.takeTheirs();
  await settle();
  expect(tasks.get("t1")?.title).toBe("Bread");
});

test("[TD7] archived records leave the collection", async () => {
  const { ben, tasks, settle } = await open();
  await tasks.insert({ id: "t1", title: "Milk" }).isPersisted.promise;
  await settle();
  await ben.client.models.task.archive("t1").receipt;
  await settle();
  expect(tasks.has("t1")).toBe(false);
});

test("[TD8] two collections of one model show the same write", async () => {
  const { ann, tasks, settle } = await open();
  const others = createCollection(holdfastCollectionOptions({ client: ann.client, model: "task", id: "others" }));
  await others.preload();
  await tasks.insert({ id: "t1", title: "Milk" }).isPersisted.promise;
  await settle();
  expect(others.get("t1")?.title).toBe("Milk");
});

test("[TD9] cleanup ends every subscription", async () => {
  const { ann } = await open();
  const { client } = ann;
  let heard = 0;
  const counted = (end: () => void) => {
    heard += 1;
    return () => {
      heard -= 1;
      end();
    };
  };
  const ofClient = client.subscribe.bind(client);
  const ofModel = client.models.task.subscribe.bind(client.models.task);
  vi.spyOn(client, "subscribe").mockImplementation((listener) => counted(ofClient(listener)));
  const subscribeRows = vi.spyOn(client.models.task, "subscribe");
  subscribeRows.mockImplementation((query, listener) => counted(ofModel(query, listener)));
  const tasks = createCollection(holdfastCollectionOptions({ client: ann.client, model: "task", id: "counted" }));
  await tasks.preload();
  expect(heard).toBeGreaterThan(0);
  await tasks.cleanup();
  expect(heard).toBe(0);
});

test("[TD10] among 5 000 rows, one change is one message", async () => {
  const { ben, tasks, settle } = await open();
  for (let from = 0; from < 5_000; from += 100)
    await ben.client.transact((tx) => {
      for (let at = from; at < from + 100; at++) tx.task.create({ title: `${at}` }, { id: `t${at}` });
    }).receipt;
  await settle();
  expect(tasks.size).toBe(5_000);
  const messages: unknown[] = [];
  const subscription = tasks.subscribeChanges((changes) => messages.push(...changes));
  await ben.client.models.task.update("t7", { title: "Changed" }).receipt;
  await settle();
  expect(messages).toHaveLength(1);
  subscription.unsubscribe();
});

test("[TD11] an unknown model is named", async () => {
  const { ann } = await open();
  const untyped = ann.client as unknown as SyncClient<ModelSchema>;
  expect(() => holdfastCollectionOptions({ client: untyped, model: "nope" })).toThrow('no model "nope"');
});

test("[TD12] a write neither shows twice nor flickers, and other changes show when it settles", async () => {
  const { ann, tasks, settle, clock } = await open();
  const messages: { type: string; key: unknown }[] = [];
  const subscription = tasks.subscribeChanges((changes) => {
    for (const { type, key } of changes) messages.push({ type, key });
  });
  ann.offline();
  const transaction = tasks.insert({ id: "t1", title: "Milk" });
  ann.client.models.task.create({ title: "Bread" }, { id: "t2" });
  await settle();
  expect(tasks.has("t2")).toBe(false);
  ann.online();
  await settle();
  clock.advance(1_000);
  await transaction.isPersisted.promise;
  await settle();
  expect(tasks.has("t2")).toBe(true);
  const ofFirst = messages.filter(({ key }) => key === "t1").map(({ type }) => type);
  expect(ofFirst.filter((type) => type === "insert")).toHaveLength(1);
  expect(ofFirst).not.toContain("delete");
  subscription.unsubscribe();
});
