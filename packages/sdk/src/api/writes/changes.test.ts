import { expect, expectTypeOf, test } from "vitest";
import type { Change } from "../../protocol/commits/change.ts";
import { defineSchema, type Patch } from "../../protocol/schema/row-types.ts";
import { createTestServer } from "../../testing/index.ts";
import { add, increment, remove } from "./changes.ts";

const schema = defineSchema({
  models: {
    issue: {
      fields: {
        title: { type: "string", required: true },
        votes: { type: "integer", default: 0, max: 100 },
        stock: { type: "number", nullable: true, min: 0 },
        labels: { type: "array", maxLength: 3 },
        serial: { type: "integer", readonlyAfterCreate: true },
      },
    },
  },
});

async function open() {
  const own = createTestServer(schema);
  const ann = own.client({ actor: "ann" });
  const ben = own.client({ actor: "ben" });
  await Promise.all([ann.client.ready({ rows: "complete" }), ben.client.ready({ rows: "complete" })]);
  const { create } = ann.client.models.issue;
  await create({ title: "One", labels: ["bug"] }, { id: "1" }).receipt;
  await own.settle();
  return { ...own, ann, ben, mine: ann.client.models.issue, theirs: ben.client.models.issue };
}

test("[C19] [R38] changes of two people who were both offline all count, and none conflicts", async () => {
  const { ann, ben, mine, theirs, settle, clock, server } = await open();
  ann.offline();
  ben.offline();
  mine.update("1", { votes: increment(2), labels: add("ui") });
  mine.update("1", { votes: increment(1) });
  theirs.update("1", { votes: increment(10), labels: remove("bug"), title: "Two" });
  expect(mine.get("1")).toMatchObject({ votes: 3, labels: ["bug", "ui"] });
  expect(theirs.get("1")).toMatchObject({ votes: 10, labels: [], title: "Two" });
  ann.online();
  ben.online();
  await settle();
  clock.advance(10_000);
  await settle();
  const shown = { id: "1", title: "Two", votes: 13, labels: ["ui"] };
  expect(server.rows.get("issue/1")?.data).toEqual(shown);
  expect([mine.get("1"), theirs.get("1")]).toEqual([shown, shown]);
  expect([ann.client.conflicts(), ben.client.conflicts()]).toEqual([[], []]);
});

test("[C19] [C27] a change does not conflict with a value that others set meanwhile; a value conflicts with a change", async () => {
  const { ann, mine, theirs, settle, clock } = await open();
  ann.offline();
  const both = mine.update("1", { votes: increment(1) });
  const value = mine.update("1", { stock: 5 });
  await theirs.update("1", { votes: 50 }).receipt;
  await theirs.update("1", { stock: increment(7) }).receipt;
  value.receipt.catch(() => {});
  ann.online();
  await settle();
  clock.advance(10_000);
  await both.receipt;
  await settle();
  expect(mine.get("1")).toMatchObject({ votes: 51, stock: 7 });
  expect(ann.client.conflicts()).toMatchObject([{ fields: ["stock"], mine: { stock: 5 }, theirs: { stock: 7 } }]);
});

test("[C19] one that is sent again after a lost response counts once", async () => {
  const { ann, mine, settle, clock, server } = await open();
  ann.connection.answers.push("lost");
  const { receipt } = mine.update("1", { votes: increment(1) });
  await settle();
  clock.advance(10_000);
  await receipt;
  await settle();
  expect([server.rows.get("issue/1")?.data.votes, mine.get("1")?.votes]).toEqual([1, 1]);
});

test("[R38] a change of a record that was deleted is a conflict; kept, it starts from the record's last values", async () => {
  const { ann, mine, theirs, settle, clock, server } = await open();
  await mine.update("1", { votes: 4 }).receipt;
  await settle();
  ann.offline();
  mine.update("1", { votes: increment(1) }).receipt.catch(() => {});
  await theirs.delete("1").receipt;
  ann.online();
  await settle();
  clock.advance(10_000);
  await settle();
  const [conflict] = ann.client.conflicts();
  expect(conflict).toMatchObject({ fields: ["votes"], theirs: null });
  await conflict?.keepMine().receipt;
  await settle();
  expect(server.rows.get("issue/1")?.data).toMatchObject({ title: "One", votes: 5 });
});

test("[R38] [R86] [R29] undo takes back a write's changes, and leaves those of others", async () => {
  const { mine, theirs, settle, server } = await open();
  const first = mine.update("1", { votes: increment(3), labels: add("ui", "bug") });
  await first.receipt;
  await settle();
  await theirs.update("1", { votes: increment(10), labels: add("api") }).receipt;
  await settle();
  const back = first.undo();
  await back?.receipt;
  await settle();
  expect(server.rows.get("issue/1")?.data).toMatchObject({ votes: 10, labels: ["bug", "api"] });
  await back?.undo()?.receipt;
  await settle();
  expect(server.rows.get("issue/1")?.data).toMatchObject({ votes: 13, labels: ["bug", "api", "ui"] });
  server.refuse(() => "capability_scope_denied");
  const refused = mine.update("1", { votes: increment(1) });
  await expect(refused.receipt).rejects.toMatchObject({ code: "capability_scope_denied" });
  expect(refused.undo()).toBeUndefined();
});

test("[R38] a write with changes that waits for a person can be sent again, with its changes", async () => {
  const { ann, mine, settle, server } = await open();
  let refuses = true;
  server.refuse(() => (refuses ? "capability_scope_denied" : undefined));
  await expect(mine.update("1", { votes: increment(2) }).receipt).rejects.toThrow();
  refuses = false;
  const [item] = ann.client.attention();
  await item?.edit(item.operations as never).receipt;
  await settle();
  expect(server.rows.get("issue/1")?.data.votes).toBe(2);
});

test.each<[string, object, string, string]>([
  ["an unknown field", { other: increment(1) }, "unknown_field", "changes.other"],
  ["the id", { id: increment(1) }, "unknown_field", "changes.id"],
  ["a text", { title: increment(1) }, "invalid_type", "changes.title"],
  ["items of a number", { votes: add("a") }, "invalid_type", "changes.votes"],
  ["half a vote", { votes: increment(0.5) }, "invalid_type", "changes.votes"],
  ["more than there may be", { votes: increment(101) }, "rule_broken", "changes.votes"],
  ["less than there may be", { stock: increment(-1) }, "rule_broken", "changes.stock"],
  ["a fourth item", { labels: add("a", "b", "c") }, "rule_broken", "changes.labels"],
  ["what cannot change", { serial: increment(1) }, "rule_broken", "changes.serial"],
  ["infinitely many", { stock: increment(Number.POSITIVE_INFINITY) }, "invalid_value", "changes.stock.increment"],
  ["beyond all integers", { stock: add() }, "invalid_type", "changes.stock"],
])("[R38] [R85] %s is refused where it is written", async (_, patch, code, param) => {
  const { mine } = await open();
  expect(() => mine.update("1", patch)).toThrow(expect.objectContaining({ code, param }));
  expect(mine.get("1")).toMatchObject({ votes: 0 });
});

test("[R38] [R85] a sum that is too large is refused where it is written", async () => {
  const { mine } = await open();
  mine.update("1", { stock: 6.02e23 });
  mine.update("1", { stock: increment(Number.MAX_VALUE) });
  const tooLarge = expect.objectContaining({ code: "invalid_value", param: "changes.stock" });
  expect(() => mine.update("1", { stock: increment(Number.MAX_VALUE) })).toThrow(tooLarge);
});

test.each<[string, object, string]>([
  ["a list as an item", { labels: add(["a"] as never) }, "changes.labels"],
  ["null as an item", { labels: remove(null as never) }, "changes.labels"],
  ["1 001 items", { labels: add(...Array.from({ length: 1_001 }, (_, at) => at)) }, "changes.labels"],
  ["no number", { votes: increment(null as never) }, "changes.votes"],
  ["a change inside of a value", { labels: [increment(1)] }, "data.labels[0]"],
])("[R38] [R85] %s is refused where it is written", async (_, patch, param) => {
  const { mine } = await open();
  expect(() => mine.update("1", patch)).toThrow(expect.objectContaining({ code: "invalid_value", param }));
});

test("[R38] [R85] rules are compared with what is known: not before the rows are there, nor behind other operations", async () => {
  const { client: start, settle, ann, server } = await open();
  const { client } = start({ actor: "cid" });
  const { receipt } = client.models.issue.update("1", { stock: increment(-0) });
  expect(() => client.models.issue.update("1", { title: increment(1) as never })).toThrow();
  ann.client.commit([
    { action: "create", model: "issue", id: "2", data: { title: "Two", stock: 10 } },
    { action: "update", model: "issue", id: "2", data: { stock: increment(-4) } },
  ]);
  ann.client.transact((tx) => {
    tx.issue.update("2", { stock: 8 });
    tx.issue.update("2", { stock: increment(-7) });
  });
  await settle();
  await receipt;
  expect(server.rows.get("issue/2")?.data.stock).toBe(1);
});

test("[R38] [R86] [R29] undo takes a change back once, also if the write's value was in conflict", async () => {
  const { ann, mine, theirs, settle, clock, server } = await open();
  ann.offline();
  const write = mine.update("1", { title: "Mine", votes: increment(3) });
  write.receipt.catch(() => {});
  await theirs.update("1", { title: "Theirs", votes: 50 }).receipt;
  ann.online();
  await settle();
  clock.advance(10_000);
  await settle();
  ann.client.conflicts()[0]?.takeTheirs();
  await settle();
  expect(server.rows.get("issue/1")?.data).toMatchObject({ title: "Theirs", votes: 53 });
  await write.undo()?.receipt;
  expect(write.undo({})).toBeUndefined();
  await settle();
  expect(server.rows.get("issue/1")?.data).toMatchObject({ votes: 50 });
});

test("[R38] a change of a record that someone else holds is given up with theirs", async () => {
  const { ann, mine, settle, server } = await open();
  server.claims.acquire("ben", "issue", "1");
  const { receipt } = mine.update("1", { votes: increment(3) });
  await expect(receipt).rejects.toMatchObject({ code: "claim_conflict" });
  await settle();
  expect(mine.get("1")?.votes).toBe(0);
  ann.client.conflicts()[0]?.takeTheirs();
  await settle();
  expect([ann.client.pending(), ann.client.conflicts(), ann.client.attention(), server.log.length]).toEqual([
    [],
    [],
    [],
    1,
  ]);
});

test("[D13] an export whose changes are none is refused as a whole", async () => {
  const { ann, mine } = await open();
  ann.offline();
  mine.update("1", { votes: increment(1) });
  const exported = JSON.parse(JSON.stringify(await ann.client.exportPending()));
  for (const changes of ["x", { votes: null }, { labels: { add: "abc" } }, { votes: { increment: "1" } }]) {
    exported.writes[0].operations[0].changes = changes;
    await expect(ann.client.importPending(exported)).rejects.toMatchObject({ code: "invalid_export" });
  }
});

test("[R38] an update takes a change where its field has one, for TypeScript too", () => {
  type P = Patch<typeof schema, "issue">;
  expectTypeOf<Change<number>>().toExtend<NonNullable<P["votes"]>>();
  expectTypeOf<Change<readonly string[]>>().toExtend<NonNullable<P["labels"]>>();
  expectTypeOf<Change<number>>().not.toExtend<P["title"]>();
  expectTypeOf<Change<number>>().not.toExtend<P["labels"]>();
});
