import { expect, test } from "vitest";
import { createTestServer, type TestClient } from "../testing/test-server.ts";
import type { UndoableWrite } from "./writes/write-api.ts";

const schema = {
  models: {
    person: {
      fields: { name: { type: "string" }, mail: { type: "string" }, age: { type: "number" } },
    },
  },
} as const;

type Schema = typeof schema;

const SECRET = "secret";
const ROW = { name: `${SECRET} name`, mail: `${SECRET} mail`, age: 1 };

function people() {
  const own = createTestServer(schema);
  const [ann, ben] = [own.client({ actor: "ann" }), own.client({ actor: "ben" })];
  return { ...own, ann, ben, persons: ann.client.models.person, theirs: ben.client.models.person };
}

/** A person whose record both clients have. */
async function known() {
  const all = people();
  await all.ann.client.ready();
  await all.ben.client.ready();
  all.theirs.create(ROW, { id: "p1" });
  await all.settle();
  return all;
}

/** All that a client can give of what it has, and all that is on its disk. */
async function everything({ client, disk }: TestClient<Schema>): Promise<string> {
  const { queue, rows, partial } = { ...disk.read("fresh"), queue: disk.queue() };
  const tables = [rows.tables, partial?.tables ?? {}].flatMap((each) =>
    Object.values(each).flatMap((table) => [...table.entries()]),
  );
  const said = [client.conflicts(), client.attention(), client.pending(), await client.exportPending()];
  return JSON.stringify([said, client.models.person.list({ archived: "with" }), queue, tables]);
}

/** What leads to a value of the record in the queue of Ann, and what she typed herself. */
const cases: readonly (readonly [what: string, lead: (all: Awaited<ReturnType<typeof known>>) => Promise<unknown>])[] =
  [
    [
      "an update is in conflict",
      async ({ ann, persons, theirs, settle }) => {
        ann.client.pause();
        theirs.update("p1", { name: `${SECRET} too` });
        await settle();
        persons.update("p1", { name: "typed" });
        persons.update("p1", { mail: "typed later" });
        ann.client.resume();
        await settle();
      },
    ],
    [
      "a delete is in conflict, and the record was created again",
      async ({ ann, persons, theirs, settle }) => {
        ann.client.pause();
        theirs.update("p1", { name: `${SECRET} too` });
        await settle();
        persons.delete("p1");
        persons.create({ name: "typed" }, { id: "p1" });
        ann.client.resume();
        await settle();
      },
    ],
    [
      "an archive is in conflict with a delete",
      async ({ ann, persons, theirs, settle }) => {
        ann.client.pause();
        theirs.delete("p1");
        await settle();
        persons.archive("p1");
        persons.update("p1", { name: "typed" });
        ann.client.resume();
        await settle();
      },
    ],
    [
      "an update was refused",
      async ({ server, persons, settle }) => {
        const end = server.refuse(() => "rule_broken");
        persons.update("p1", { name: "typed" });
        await settle();
        end();
      },
    ],
    [
      "an undo is in conflict",
      async ({ ann, persons, theirs, settle }) => {
        const write = persons.update("p1", { name: "typed" });
        await settle();
        ann.client.pause();
        theirs.update("p1", { name: "Ben's" });
        await settle();
        write.undo();
        ann.client.resume();
        await settle();
        // What it was before is in the conflict as mine.
        expect(ann.client.conflicts()).toMatchObject([{ mine: { name: ROW.name } }]);
        persons.update("p1", { mail: "typed" });
      },
    ],
    [
      "a restored record is in conflict again",
      async ({ ann, persons, theirs, settle }) => {
        ann.client.pause();
        theirs.delete("p1");
        await settle();
        persons.update("p1", { name: "typed" });
        ann.client.resume();
        await settle();
        theirs.create({ name: "Ben's" }, { id: "p1" });
        theirs.delete("p1");
        ann.client.conflicts()[0]?.keepMine();
        await settle();
      },
    ],
  ];

test.each(cases)(
  "[ER10] [ER14] a client that reads an erasure while %s keeps no value of the record, and what its user typed",
  async (_, lead) => {
    const all = await known();
    await lead(all);
    const { ann, server, settle, persons } = all;
    expect(await everything(ann)).toContain(SECRET);
    expect(await everything(ann)).toContain("typed");
    server.erase("person", "p1");
    await settle();
    expect(await everything(ann)).not.toContain(SECRET);
    expect(await everything(ann)).toContain("typed");
    expect(persons.get("p1")).toBeUndefined();
    await ann.client.close();
    expect(JSON.stringify(ann.disk.queue())).not.toContain(SECRET);
  },
);

test("[ER10] after an erasure, keepMine creates what its user typed, and nothing else", async () => {
  const all = await known();
  const [, lead] = cases[0] ?? [];
  await lead?.(all);
  const { ann, server, settle, theirs } = all;
  server.erase("person", "p1");
  await settle();
  ann.client.conflicts()[0]?.merge({ name: "typed" });
  await settle();
  expect(JSON.stringify([theirs.get("p1") ?? null, server.log])).not.toContain(SECRET);
});

test("[ER10] [ER16] an app is told of each erasure when the client has none of the values any more", async () => {
  const { ann, persons, server, settle, theirs } = await known();
  const told: unknown[] = [];
  const off = ann.client.onErased((record) => told.push({ ...record, now: persons.get(record.id) }));
  theirs.create(ROW, { id: "p2" });
  await settle();
  theirs.delete("p2");
  await settle();
  expect(told).toEqual([]);
  server.erase("person", "p1");
  await settle();
  expect(told).toEqual([{ model: "person", id: "p1", now: undefined }]);
  off();
  server.erase("person", "p2");
  await settle();
  expect(told).toHaveLength(1);
});

test("[ER11] the undo of a write from before an erasure restores nothing of the record", async () => {
  const { persons, server, settle, ann } = await known();
  const changed = persons.update("p1", { name: "typed" });
  const archived = persons.archive("p1");
  await settle();
  const deleted: UndoableWrite = persons.delete("p1");
  await settle();
  server.erase("person", "p1");
  await settle();
  for (const write of [changed, archived, deleted]) expect(write.undo()).toBeUndefined();
  await settle();
  expect(await everything(ann)).not.toContain(SECRET);
  // A new record with the id is another one.
  const made = persons.create({ name: "new" }, { id: "p1" });
  await settle();
  expect(changed.undo()).toBeUndefined();
  expect(made.undo()).toBeDefined();
});

test("[ER11] a commit of several records takes back what it did to the others", async () => {
  const { persons, server, settle, ann } = await known();
  persons.create({ name: "two" }, { id: "p2" });
  await settle();
  const both = ann.client.commit([
    { action: "update", model: "person", id: "p1", data: { name: "typed" } },
    { action: "update", model: "person", id: "p2", data: { name: "typed" } },
  ]);
  await settle();
  server.erase("person", "p1");
  await settle();
  both.undo();
  await settle();
  expect([persons.get("p1"), persons.get("p2")?.name]).toEqual([undefined, "two"]);
});

test("[ER12] an answer that was on its way during the erasure brings no value back", async () => {
  const { ann, persons, server, settle } = await known();
  const notification = {
    ...{ object: "stale_notification", model: "person", id: "p1", writtenBy: "user:ben", readAt: 1 },
    ...{ observedSyncId: 1, conflictingFields: ["name"], currentValues: { name: ROW.name } },
  };
  const held = { object: "commit_receipt", status: "rejected", success: false, httpStatus: 200 };
  server.erase("person", "p1");
  await settle();
  ann.connection.answers.push({
    ...{ kind: "answer", status: 200 },
    body: { object: "list", data: [{ ...held, notifications: [notification] }] },
  });
  persons.update("p1", { name: "typed" }, { readAt: 1 });
  await settle();
  expect(ann.client.conflicts()).toMatchObject([{ mine: { name: "typed" }, theirs: null }]);
  expect(await everything(ann)).not.toContain(SECRET);
});

test("[ER12] an export from before the erasure brings no value back when it is imported", async () => {
  const all = await known();
  const [, lead] = cases[0] ?? [];
  await lead?.(all);
  const { ann, server, settle, client } = all;
  const exported = JSON.parse(JSON.stringify(await ann.client.exportPending()));
  expect(JSON.stringify(exported)).toContain(SECRET);
  server.erase("person", "p1");
  await settle();
  const other = client({ actor: "ann" });
  await other.client.ready();
  await other.client.importPending(exported);
  await settle();
  expect(await everything(other)).not.toContain(SECRET);
  expect(await everything(other)).toContain("typed");
});
