import { expect, test } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { createTestServer } from "../testing/test-server.ts";
import type { CommitOperation } from "./sync-client.ts";
import { increment } from "./writes/changes.ts";

const schema = {
  models: {
    slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 }, notes: { type: "string" } } },
  },
} as const;

type Action = "create" | "delete" | "update" | "archive";

const BASE = { title: "Base", order: 1, notes: "n" };

/** Ann wrote offline what `ann` names, each a commit of its own or all together; meanwhile Ben did what `ben` names. */
async function meeting(ann: readonly Action[], ben: readonly Action[], isTogether = false) {
  const own = createTestServer(schema);
  const { client } = own.client({ actor: "ann" });
  const { client: other } = own.client({ actor: "ben" });
  await client.ready();
  await other.ready();
  client.models.slide.create(BASE, { id: "s1" });
  await own.settle();
  client.pause();
  for (const [nth, action] of ben.entries()) other.commit([operationOf(action, `Ben's ${nth}`)]);
  await own.settle();
  const operations = ann.map((action, nth) => operationOf(action, `Ann's ${nth}`));
  if (isTogether) client.commit(operations);
  else for (const operation of operations) client.commit([operation]);
  await own.settle();
  const wanted = client.models.slide.get("s1");
  client.resume();
  await own.settle();
  return { ...own, client, other, wanted, slides: client.models.slide };
}

function operationOf(action: Action, title: string): CommitOperation<typeof schema> {
  const record = { model: "slide", id: "s1" } as const;
  switch (action) {
    case "create":
      return { ...record, action, data: { title, notes: title } };
    case "update":
      return { ...record, action, data: { title } };
    case "delete":
    case "archive":
      return { ...record, action };
  }
}

test("[R62] [R94] a person who deleted a record and created it again offline sees the new values as mine", async () => {
  const { client, slides } = await meeting(["delete", "create"], ["update"]);
  expect(client.conflicts()).toMatchObject([
    {
      mine: { title: "Ann's 1", notes: "Ann's 1" },
      base: BASE,
      theirs: { title: "Ben's 0", notes: "n" },
      fields: ["title", "notes"],
    },
  ]);
  expect(slides.get("s1")).toEqual({ id: "s1", title: "Ben's 0", order: 1, notes: "n" });
});

test("[R62] what a person adds to the record that was created again is mine too, and a delete after it leaves nothing", async () => {
  const { client } = await meeting(["delete", "create", "update"], ["update"]);
  expect(client.conflicts()).toMatchObject([{ mine: { title: "Ann's 2", notes: "Ann's 1" } }]);
  const { client: gone } = await meeting(["delete", "create", "delete"], ["update"]);
  expect(gone.conflicts().map(({ mine }) => mine)).toEqual([{}]);
});

test("[R62] changes of the record that was created again are in mine as values", async () => {
  const own = createTestServer({
    models: { slide: { fields: { title: { type: "string" }, votes: { type: "integer", default: 5 } } } },
  } as const);
  const [{ client }, { client: other }] = [own.client({ actor: "ann" }), own.client({ actor: "ben" })];
  await client.ready();
  await other.ready();
  client.models.slide.create({ title: "Base" }, { id: "s1" });
  await own.settle();
  client.pause();
  other.models.slide.update("s1", { title: "Ben's" });
  client.models.slide.delete("s1");
  client.models.slide.create({ title: "Ann's" }, { id: "s1" });
  client.models.slide.update("s1", { votes: increment(2) });
  client.resume();
  await own.settle();
  expect(client.conflicts()).toMatchObject([{ mine: { title: "Ann's", votes: 7 } }]);
});

test("[R63] keepMine sends the delete and the create again, and the record is what was created", async () => {
  const { client, slides, other, first, settle } = await withFirst(["delete", "create"], ["update"]);
  await expect(first.keepMine().receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  expect(client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  const created = { id: "s1", title: "Ann's 1", notes: "Ann's 1", order: 0 };
  expect(slides.get("s1")).toEqual(created);
  expect(other.models.slide.get("s1")).toEqual(created);
});

test("[R64] takeTheirs gives up the delete and the create, and the record is theirs", async () => {
  const { client, slides, first, settle, server } = await withFirst(["delete", "create"], ["update"]);
  first.takeTheirs();
  await settle();
  expect(client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(slides.get("s1")).toEqual({ id: "s1", title: "Ben's 0", order: 1, notes: "n" });
  expect(server.head).toBe(2);
});

test("[R65] merge gives theirs the values of the patch, and leaves nothing of the delete and the create", async () => {
  const { client, slides, first, settle } = await withFirst(["delete", "create"], ["update"]);
  await expect(first.merge({ title: "Both" }).receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  expect(client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(slides.get("s1")).toEqual({ id: "s1", title: "Both", order: 1, notes: "n" });
});

test("[R64] [R65] a create of a record that another person deleted is given up by takeTheirs, and merge fills it up with mine", async () => {
  // Ben's delete is first, so only Ann's create is in conflict.
  const taken = await withFirst(["delete", "create"], ["delete"]);
  expect(taken.first).toMatchObject({ action: "create", mine: { title: "Ann's 1", notes: "Ann's 1" }, theirs: null });
  expect(taken.slides.get("s1")).toBeUndefined();
  taken.first.takeTheirs();
  await taken.settle();
  expect(taken.client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(taken.server.rows.size).toBe(0);
  const merged = await withFirst(["delete", "create"], ["delete"]);
  merged.first.merge({ title: "Both" });
  await merged.settle();
  expect(merged.slides.get("s1")).toEqual({ id: "s1", title: "Both", notes: "Ann's 1", order: 0 });
});

test("[R66] a person who writes to theirs while the conflict is open keeps that, whatever becomes of the created record", async () => {
  const { slides, first, settle, client } = await withFirst(["delete", "create"], ["update"]);
  slides.update("s1", { order: 9 });
  slides.archive("s1");
  expect(slides.get("s1")).toMatchObject({ title: "Ben's 0", order: 9 });
  await settle();
  first.takeTheirs();
  await settle();
  expect(client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  expect(slides.list({ archived: "only" })).toMatchObject([{ title: "Ben's 0", notes: "n" }]);
});

test("[R62] [R94] the id is not in conflict, also if the created values name it", async () => {
  const own = createTestServer(schema);
  const [{ client }, { client: other }] = [own.client({ actor: "ann" }), own.client({ actor: "ben" })];
  await client.ready();
  await other.ready();
  client.models.slide.create(BASE, { id: "s1" });
  await own.settle();
  client.pause();
  other.models.slide.delete("s1");
  await own.settle();
  client.models.slide.delete("s1");
  client.models.slide.create({ id: "s1", title: "Ann's" } as never);
  client.resume();
  await own.settle();
  const [first] = client.conflicts();
  expect(first).toMatchObject({ mine: { title: "Ann's" } });
  expect(first?.mine).not.toHaveProperty("id");
  expect(first?.fields).not.toContain("id");
  first?.merge(Object.fromEntries((first?.fields ?? []).map((field) => [field, "merged"])));
  await own.settle();
  expect(client.status()).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
});

async function withFirst(ann: readonly Action[], ben: readonly Action[]) {
  const met = await meeting(ann, ben);
  const [first] = met.client.conflicts();
  if (!first) throw new Error("There is no conflict.");
  return { ...met, first };
}

/** What one person can do in a row to a record that is there. */
const sequences = (most: number): readonly (readonly Action[])[] => [...following(most, true)];

function* following(most: number, isThere: boolean): Generator<readonly Action[]> {
  if (most === 0) return;
  for (const action of isThere ? (["update", "archive", "delete"] as const) : (["create"] as const)) {
    yield [action];
    for (const rest of following(most - 1, action !== "delete")) yield [action, ...rest];
  }
}

const OTHERS: readonly (readonly Action[])[] = [
  ["update"],
  ["archive"],
  ["delete"],
  ["delete", "create"],
  ["update", "delete"],
];
// The longer ones without a create are what other tests of conflicts have.
const chosen = sequences(3).filter((ann) => ann.length < 3 || ann.includes("create"));
const cases = chosen.flatMap((ann) => OTHERS.map((ben) => [ann.join(", "), ben.join(", "), ann, ben] as const));

test.each(cases)("[R67] after %s, while another person did %s, each answer ends well", async (_, __, ann, ben) => {
  for (const isTogether of [false, true])
    for (const answer of ["keepMine", "takeTheirs", "merge"] as const) {
      const met = await meeting(ann, ben, isTogether);
      const { client, slides, server, wanted } = met;
      const theirs = server.rows.get("slide/s1")?.data;
      const said: JsonObject[] = [];
      for (let n = 0; n < 4; n++) {
        const [conflict] = client.conflicts();
        if (!conflict) break;
        said.push(conflict.mine);
        if (answer === "merge") conflict.merge({ title: "Both", notes: "Both" });
        else conflict[answer]();
        await met.settle();
      }
      const how = { ann, ben, answer, isTogether, said };
      expect({ ...how, ...client.status() }).toMatchObject({ ...how, pending: 0, conflicts: 0, attention: 0 });
      const left = server.rows.get("slide/s1")?.data;
      const shown = [...slides.list({ archived: "with" })][0];
      expect({ ...how, shown }).toEqual({ ...how, shown: left });
      if (said.length === 0 || !ann.includes("create")) continue;
      if (wanted) expect({ ...how, mine: said[0] }).toMatchObject({ ...how, mine: { title: wanted.title } });
      if (answer === "keepMine") expect({ ...how, left }).toEqual({ ...how, left: wanted && { ...wanted } });
      if (answer === "takeTheirs" && wanted) expect({ ...how, left }).toEqual({ ...how, left: theirs });
      if (answer === "merge" && wanted)
        expect({ ...how, left }).toMatchObject({ ...how, left: { title: "Both", notes: "Both" } });
    }
});

test("[R68] a commit that deletes a record which another person deleted, creates it and archives it is confirmed", async () => {
  const { client, slides } = await meeting(["delete", "create", "archive"], ["delete"], true);
  const receipt = client.conflicts()[0]?.keepMine().receipt;
  await expect(receipt).resolves.toMatchObject({ status: "confirmed", missingIds: ["s1"] });
  expect(client.attention()).toEqual([]);
  expect(slides.list({ archived: "only" })).toMatchObject([{ title: "Ann's 1" }]);
});
