import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { rowChange } from "../../core/log/row-changes.ts";
import { changeTables } from "../../core/log/tables.ts";
import { initialState } from "../../core/state.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { createTestServer } from "../../testing/test-server.ts";

import { Lists } from "./lists.ts";

const schema = {
  models: {
    slide: {
      fields: {
        title: { type: "string" },
        order: { type: "number", nullable: true },
        due: { type: "datetime" },
        tags: { type: "array" },
      },
    },
    note: { fields: { text: { type: "string" } } },
  },
} as const;

async function board() {
  const { client: make, settle, server } = createTestServer(schema);
  const { client, connection } = make();
  await client.ready();
  return { client, slides: client.models.slide, settle, server, connection };
}

test("[R6] a list filters by value, by range and by set, and orders with what has no value last", async () => {
  const { slides } = await board();
  slides.create({ title: "a", order: 3, due: "2030-01-01T12:00:00+02:00" }, { id: "1" });
  slides.create({ title: "b", order: 1, due: "2030-01-01T11:00:00Z" }, { id: "2" });
  slides.create({ title: "c", order: null, tags: ["x"] }, { id: "3" });
  slides.create({ title: "c", order: 1 }, { id: "4" });
  const ids = (query: Parameters<typeof slides.list>[0]) => slides.list(query).map((s) => s.id);
  expect(ids({})).toEqual(["1", "2", "3", "4"]);
  expect(ids({ orderBy: "order" })).toEqual(["2", "4", "1", "3"]);
  expect(ids({ orderBy: "order", order: "desc" })).toEqual(["1", "4", "2", "3"]);
  expect(ids({ where: { title: "c" } })).toEqual(["3", "4"]);
  expect(ids({ where: { order: { gte: 1, lt: 3 } } })).toEqual(["2", "4"]);
  expect(ids({ where: { title: { in: ["a", "b"] } }, limit: 1 })).toEqual(["1"]);
  expect(ids({ where: { order: null } })).toEqual(["3"]);
  expect(ids({ where: { tags: ["x"] } })).toEqual(["3"]);
  // 12:00+02:00 is 10:00Z: earlier, although its text is greater.
  expect(ids({ where: { due: { gt: "2030-01-01T10:30:00Z" } } })).toEqual(["2"]);
  expect(ids({ where: { due: { lte: "2030-01-01T11:00:00Z" } }, orderBy: "due" })).toEqual(["1", "2"]);
});

test("[R6] archived records are left out unless asked for", async () => {
  const { slides, settle } = await board();
  slides.create({ title: "a" }, { id: "1" });
  slides.create({ title: "b" }, { id: "2" });
  slides.archive("1");
  for (let i = 0; i < 2; i++) {
    expect(slides.list().map((s) => s.id)).toEqual(["2"]);
    expect(slides.list({ archived: "only" }).map((s) => s.id)).toEqual(["1"]);
    expect(slides.list({ archived: "with" })).toHaveLength(2);
    expect(slides.get("1")).toMatchObject({ title: "a" });
    await settle();
  }
  slides.unarchive("1");
  expect(slides.list().map((s) => s.id)).toEqual(["1", "2"]);
});

test("[R5] the same array and the same records are given as long as nothing in them changes", async () => {
  const { client, slides, settle } = await board();
  for (const id of ["1", "2", "3"]) slides.create({ title: id, order: Number(id) }, { id });
  await settle();
  const all = slides.list();
  const first = slides.list({ orderBy: "order", limit: 1 });
  const one = slides.get("1");
  client.models.note.create({ text: "elsewhere" });
  await settle();
  expect(slides.list()).toBe(all);
  slides.update("3", { title: "changed" });
  expect(slides.list()).not.toBe(all);
  expect(slides.list({ orderBy: "order", limit: 1 })).toBe(first);
  expect(slides.get("1")).toBe(one);
});

test("[R5] a write that settles changes nothing that is shown", async () => {
  const { client, slides, settle, connection } = await board();
  connection.quiet = true;
  slides.create({ title: "a", order: 1 }, { id: "1" });
  slides.update("1", { title: "b" });
  const [shown, list] = [slides.get("1"), slides.list()];
  await settle();
  connection.flush();
  await settle();
  expect(client.status()).toMatchObject({ pending: 0, syncId: 2 });
  expect(slides.get("1")).toBe(shown);
  expect(slides.list()).toBe(list);
});

test("[R6] an incrementally updated list equals one that is computed anew", async () => {
  const change = fc.tuple(fc.nat(4), fc.nat(9), fc.integer({ min: 0, max: 5 }));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 40 }), async (changes) => {
      const { slides } = await board();
      const query = { where: { order: { gte: 1 } }, orderBy: "order", order: "desc", limit: 4 } as const;
      for (const [kind, id, order] of changes) {
        if (kind === 0) slides.delete(`${id}`);
        else if (kind === 1) slides.archive(`${id}`);
        else if (slides.get(`${id}`)) slides.update(`${id}`, { order });
        else slides.create({ order }, { id: `${id}` });
        const anew = slides.list({ archived: "without" }).filter((s) => (s.order ?? 0) >= 1);
        const sorted = [...anew].sort((a, b) => (b.order ?? 0) - (a.order ?? 0) || (a.id > b.id ? -1 : 1)).slice(0, 4);
        expect(slides.list(query)).toEqual(sorted);
      }
    }),
    { numRuns: 60 },
  );
});

test("[R18] an invalid query throws where it is made, with the reason", async () => {
  const { slides } = await board();
  slides.create({ title: "a", due: "2030-01-01T00:00:00Z" }, { id: "1" });
  const refused = (query: object, param: string) => {
    let error: unknown;
    try {
      slides.list(query);
    } catch (thrown) {
      error = thrown;
    }
    expect(error, JSON.stringify(query)).toMatchObject({ name: "SyncError", param });
  };
  refused({ where: { title: undefined } }, "where.title");
  refused({ where: { order: { gte: undefined } } }, "where.order.gte");
  refused({ where: { order: { above: 3 } } }, "where.order");
  refused({ where: { order: { gte: 1, like: 3 } } }, "where.order");
  refused({ where: { order: {} } }, "where.order");
  refused({ where: { order: { in: 3 } } }, "where.order.in");
  refused({ where: { titel: "a" } }, "where.titel");
  refused({ orderBy: "titel" }, "orderBy");
  refused({ orderBy: "order", order: "descending" }, "order");
  refused({ archived: true }, "archived");
  expect(slides.list({ where: {}, orderBy: "id" })).toHaveLength(1);
  expect(slides.list({ where: { due: { gt: new Date(0) as unknown as string } } })).toHaveLength(1);
});

test("[R6] a bound that no number reaches is a bound", async () => {
  const { slides } = await board();
  slides.create({ title: "a" }, { id: "1" });
  expect(slides.list({ where: { order: { gt: Number.NEGATIVE_INFINITY } } })).toHaveLength(0);
  slides.update("1", { order: 1 });
  expect(slides.list({ where: { order: { gt: Number.NEGATIVE_INFINITY } } })).toHaveLength(1);
  expect(slides.list({ where: { order: { gt: Number.POSITIVE_INFINITY } } })).toHaveLength(0);
});

/** Lists over some rows, with a count of how often a list went through all of them. */
function listsOver(rows: number) {
  const clock = fakeClock();
  const initial = initialState({ schema, paused: false, sendAtMost: 1 });
  const records = Array.from({ length: rows }, (_, n) => ({
    record: { model: "slide", id: `s${n}` },
    value: { data: { id: `s${n}`, order: n }, archivedAt: null, syncId: 1 },
  }));
  const state = { ...initial, rows: { ...initial.rows, tables: changeTables({}, records) } };
  const { slide } = state.rows.tables;
  if (!slide) throw new Error("There are no rows.");
  const walks = vi.spyOn(slide, "each");
  const lists = new Lists(() => state, clock);
  const read = (n: number) => lists.list("slide", { orderBy: "order", limit: n + 1 });
  const change = (id: string) => lists.note({ ...state, touched: [`slide/${id}`] });
  return { clock, lists, read, change, walks };
}

test("[R17] a thousand lists that a subscriber reads are all kept, whatever else is read", () => {
  const { lists, read, change, walks } = listsOver(500);
  lists.subscribed();
  const first = Array.from({ length: 1_000 }, (_, n) => read(n));
  expect(walks).toHaveBeenCalledTimes(1_000);
  for (let round = 0; round < 3; round++) {
    change("s499");
    for (let n = 0; n < 1_000; n++) expect(read(n)).toBe(first[n]);
  }
  expect(walks).toHaveBeenCalledTimes(1_000);
});

test("[R17] lists that no subscriber holds go by what they keep, the one that was read longest ago first", () => {
  const { clock, read, walks } = listsOver(500);
  for (let n = 0; n < 1_000; n++) {
    read(n);
    clock.advance(1);
  }
  walks.mockClear();
  read(999);
  expect(walks).not.toHaveBeenCalled();
  read(0);
  expect(walks).toHaveBeenCalledTimes(1);
});

test("[R17] a list that its subscriber does not read any more goes after a minute", () => {
  const { clock, lists, read, change, walks } = listsOver(10);
  lists.subscribed();
  read(1);
  read(2);
  const tick = () => {
    change("s1");
    read(2);
    clock.advance(1_000);
  };
  for (let s = 0; s < 59; s++) tick();
  walks.mockClear();
  read(1);
  expect(walks).not.toHaveBeenCalled();
  for (let s = 0; s < 130; s++) tick();
  read(2);
  expect(walks).not.toHaveBeenCalled();
  read(1);
  expect(walks).toHaveBeenCalledTimes(1);
});

test("[ER10] a list that the app does not read again drops an erased record at once", () => {
  const row = rowChange({ model: "slide", id: "1", syncId: 1, data: { id: "1" } });
  const before = initialState({ schema, paused: false, sendAtMost: 1 });
  let now = { ...before, rows: { ...before.rows, tables: changeTables({}, [row]) } };
  const state = vi.fn(() => now);
  const lists = new Lists(state, fakeClock());
  expect(lists.list("slide", {})).toHaveLength(1);
  state.mockClear();
  now = { ...now, rows: before.rows, touched: ["slide/1"] };
  lists.note(now);
  // A deleted record leaves it when it is read.
  expect(state).not.toHaveBeenCalled();
  lists.note({ ...now, erased: new Map([["slide/1", 2]]) });
  expect(state).toHaveBeenCalled();
});
