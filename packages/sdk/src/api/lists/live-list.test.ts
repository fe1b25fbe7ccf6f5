import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { LogRow } from "../../core/log/rows.ts";
import { changeTables } from "../../core/log/tables.ts";
import type { Row } from "../../protocol/commits/apply.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { type AnyQuery, listQuery } from "./list-query.ts";
import { LiveList } from "./live-list.ts";

const model = {
  fields: {
    order: { type: "number", nullable: true },
    due: { type: "datetime" },
    title: { type: "string" },
    status: { type: "string" },
  },
} as const;

type State = Parameters<LiveList["read"]>[0];
const empty: State = { rows: { tables: {}, logId: "log", position: 0 }, overlay: {} };

/** Undefined: the record is gone. */
type Change = { readonly id: string; readonly where: "log" | "overlay"; readonly row: Row | null | undefined };

function changed(state: State, changes: readonly Change[]): State {
  const record = (id: string) => ({ model: "slide", id });
  const inLog = changes.filter((change) => change.where === "log");
  const tables = changeTables<LogRow>(
    state.rows.tables,
    inLog.map(({ id, row }) => ({ record: record(id), value: row ? { ...row, syncId: 1 } : undefined })),
  );
  const over = changes.filter((change) => change.where === "overlay");
  return {
    rows: { ...state.rows, tables },
    // Null there: this client deleted what the log has.
    overlay: changeTables<Row | null>(
      state.overlay,
      over.map(({ id, row }) => ({ record: record(id), value: row })),
    ),
  };
}

const slide = (n: number, order: number): Change => ({
  id: `s${n}`,
  where: "log",
  row: { archivedAt: null, data: { id: `s${n}`, order } },
});

/** What the list has to say, found the long way. */
function naive(state: State, query: AnyQuery): JsonObject[] {
  const ids = new Set<string>();
  for (const [id] of state.rows.tables.slide?.entries() ?? []) ids.add(id);
  for (const [id] of state.overlay.slide?.entries() ?? []) ids.add(id);
  const { find, comparedWith, limit } = listQuery("slide", query, model);
  return [...ids]
    .map((id) => find(state, id))
    .filter((data) => data !== undefined)
    .sort((a, b) => comparedWith(b)(a))
    .slice(0, limit);
}

const idOf = fc.nat(24).map((n) => `s${n}`);
const aRow = fc
  .record({
    order: fc.option(fc.integer({ min: 0, max: 6 })),
    due: fc.constantFrom(
      "2030-01-01T12:00:00+02:00",
      "2030-01-01T11:00:00Z",
      "2030-01-01T10:00:00.000Z",
      "never",
      null,
    ),
    title: fc.constantFrom("a", "b", "c"),
    status: fc.constantFrom("open", "open", "open", "closed"),
    archivedAt: fc.constantFrom(null, null, null, "2030-01-01T00:00:00Z"),
  })
  .map(({ archivedAt, ...data }) => ({ archivedAt, data }));
const aChange = fc
  .record({
    id: idOf,
    where: fc.constantFrom("log" as const, "overlay" as const),
    row: fc.oneof({ weight: 4, arbitrary: aRow }, { weight: 1, arbitrary: fc.constantFrom(null, undefined) }),
  })
  .map(({ id, where, row }): Change => ({ id, where, row: row ? { ...row, data: { id, ...row.data } } : row }));
/** Few leave most as it was, so that what went wrong earlier comes to light; many change nearly everything. */
const someChanges = fc.oneof(
  { weight: 3, arbitrary: fc.array(aChange, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.array(aChange, { maxLength: 90 }) },
);
const aQuery: fc.Arbitrary<AnyQuery> = fc.record(
  {
    where: fc.constantFrom({}, { status: "open" }, { order: { gte: 2 } }, { due: { lt: "2030-01-01T11:30:00Z" } }),
    orderBy: fc.constantFrom("id", "order", "due", "title", "status"),
    order: fc.constantFrom("asc" as const, "desc" as const),
    limit: fc.constantFrom(0, 1, 2, 5, 10, Number.POSITIVE_INFINITY),
    archived: fc.constantFrom("without" as const, "only" as const, "with" as const),
  },
  { requiredKeys: [] },
);

test("[R6] a list that is mended says what filtering and sorting all rows says, whatever changes, however little is kept", () => {
  fc.assert(
    fc.property(
      aQuery,
      fc.record({ spare: fc.nat(4), many: fc.constantFrom(0, 3, 1_000) }),
      fc.array(fc.record({ changes: someChanges, anew: fc.constantFrom(false, false, false, true) }), {
        maxLength: 25,
      }),
      (query, size, steps) => {
        const list = new LiveList(listQuery("slide", query, model), size.spare, size.many);
        let state = empty;
        for (const { changes, anew } of steps) {
          state = changed(state, changes);
          if (anew) list.note();
          else for (const { id } of changes) list.note(id);
          const before = list.read(state);
          expect(before).toEqual(naive(state, query));
          expect(list.read(state)).toBe(before);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("[R46] the records from a place on and those before it are the whole list, whatever changes", () => {
  fc.assert(
    fc.property(aQuery, aChange, fc.array(someChanges, { maxLength: 15 }), ({ limit: _, ...query }, at, steps) => {
      const place = { id: at.id, ...at.row?.data };
      const list = (more: AnyQuery) => new LiveList(listQuery("slide", { ...query, ...more }, model), 2);
      const lists = [
        list({}),
        list({ from: place }),
        list({ before: place }),
        list({ before: place, limit: 2 }),
      ] as const;
      let state = empty;
      for (const changes of steps) {
        state = changed(state, changes);
        for (const each of lists) for (const { id } of changes) each.note(id);
        const [whole = [], after = [], before = [], near] = lists.map((each) => each.read(state));
        expect([...before].reverse().concat(after)).toEqual(whole);
        expect(near).toEqual(before.slice(0, 2));
      }
    }),
    { numRuns: 200 },
  );
});

test("[R46] a place is a record, or what one has", () => {
  const at = (from: unknown) => listQuery("slide", { from } as AnyQuery, model);
  expect(() => at("s1")).toThrow(expect.objectContaining({ name: "SyncError", param: "from" }));
  expect(at({ id: "s1" }).find(changed(empty, [slide(1, 1)]), "s1")).toMatchObject({ id: "s1" });
});

test("[R6] emptied from the top, or filled from there, a list shows at each step what is first by then", () => {
  const orders = fc.uniqueArray(fc.nat(999), { minLength: 5, maxLength: 40 });
  fc.assert(
    fc.property(orders, fc.integer({ min: 1, max: 4 }), fc.nat(3), fc.boolean(), (given, limit, spare, isFilled) => {
      const query = { orderBy: "order", limit };
      const list = new LiveList(listQuery("slide", query, model), spare);
      let state = changed(
        empty,
        given.map((order, n) => slide(n, order)),
      );
      const step = (change: Change) => {
        state = changed(state, [change]);
        list.note(change.id);
        expect(list.read(state)).toEqual(naive(state, query));
      };
      expect(list.read(state)).toEqual(naive(state, query));
      if (isFilled) for (let n = 100; n < 110; n++) step(slide(n, -n));
      for (let first = list.read(state)[0]; first; first = list.read(state)[0]) {
        // One that was pushed out is changed, too: it has to stay out.
        const last = naive(state, { orderBy: "order" }).at(-1);
        if (last) step(slide(Number(String(last.id).slice(1)), Number(last.order) + 1));
        step({ id: String(first.id), where: "log", row: undefined });
      }
    }),
    { numRuns: 100 },
  );
});

test("[R5] a change behind what is shown, or to another record's place, leaves the same array", () => {
  const list = new LiveList(listQuery("slide", { orderBy: "order", limit: 3 }, model), 2);
  let state = changed(
    empty,
    Array.from({ length: 10 }, (_, n) => slide(n, n)),
  );
  const shown = list.read(state);
  for (const change of [slide(4, 4.5), slide(9, 3.5), slide(3, 8), slide(8, 100)]) {
    state = changed(state, [change]);
    list.note(change.id);
    expect(list.read(state)).toBe(shown);
  }
  list.note();
  expect(list.read(state)).toBe(shown);
});

test("[R14] a change costs what it touches: rows are gone through once, and again only when the spare ones are used up", () => {
  const rows = 5_000;
  const list = new LiveList(listQuery("slide", { orderBy: "order", limit: 10 }, model), 100);
  let state = changed(
    empty,
    Array.from({ length: rows }, (_, n) => slide(n, n)),
  );
  list.read(state);
  let reads = 0;
  let walked = 0;
  const step = (change: Change) => {
    state = changed(state, [change]);
    list.note(change.id);
    const table = state.rows.tables.slide;
    if (!table) throw new Error("There are no rows.");
    const [get, entries] = [vi.spyOn(table, "get"), vi.spyOn(table, "each")];
    list.read(state);
    reads += get.mock.calls.length;
    walked += entries.mock.calls.length;
  };
  for (let n = 0; n < 1_000; n++) step(slide((n * 37) % rows, (n * 101) % rows));
  expect(reads).toBe(1_000);
  expect(walked).toEqual(expect.any(Number));
  expect(walked).toBeLessThan(3);
  walked = 0;
  // The first leaves each time: the 100 spare ones last for 100 changes.
  for (let n = 0; n < 1_000; n++) step(slide(Number(String(list.read(state)[0]?.id).slice(1)), rows + n));
  expect(walked).toBeLessThanOrEqual(11);
  expect(list.read(state)).toEqual(naive(state, { orderBy: "order", limit: 10 }));
});
