import fc from "fast-check";
import { expect, test } from "vitest";
import { PersistentMap } from "../../core/log/persistent-map.ts";
import { modelsByName } from "../../core/state.ts";
import { createTestServer } from "../../testing/test-server.ts";
import { listQuery, type StateOfRows } from "./list-query.ts";
import { ValueIndexes } from "./value-indexes.ts";

const schema = {
  models: {
    task: {
      fields: {
        status: { type: "enum", values: ["todo", "doing", "done"], default: "todo" },
        owner: { type: "string", nullable: true },
        effort: { type: "integer", nullable: true },
        due: { type: "datetime", nullable: true },
        labels: { type: "array" },
      },
    },
  },
} as const;

const models = modelsByName(schema);
const rowsOf = (rows: Record<string, object>): StateOfRows => ({
  rows: {
    logId: "log",
    position: 1,
    tables: {
      task: PersistentMap.empty<never>().edit((draft) => {
        for (const [id, data] of Object.entries(rows))
          draft.set(id, { data: { id, ...data }, archivedAt: null, syncId: 1 } as never);
      }),
    },
  },
  overlay: {},
});

function start() {
  const indexes = new ValueIndexes(models, (table) => listQuery(table, { archived: "with" }, models[table]));
  const ids = (state: StateOfRows, where: object) =>
    indexes
      .candidates(state, "task", where as never)
      ?.flatMap((each) => [...each])
      .sort();
  return { indexes, ids };
}

const state = rowsOf({
  a: { status: "todo", owner: "ann", effort: 1, due: "2030-01-01T00:00:00Z" },
  b: { status: "todo", owner: "ben", effort: null, due: "2030-01-01T01:00:00+01:00" },
  c: { status: "done", owner: "ann", due: null },
  d: { status: "done", owner: null, effort: "1" },
  e: { status: "doing", owner: "eve", effort: 3, due: "2031-01-01T00:00:00Z" },
  f: { status: "doing", owner: "eve", effort: 3, due: "2032-01-01T00:00:00Z" },
});

test("[R72] a field is indexed for its second list, and gives the records that have a value", () => {
  const { ids } = start();
  expect(ids(state, { owner: "ann" })).toBe(undefined);
  expect(ids(state, { owner: "ann" })).toEqual(["a", "c"]);
  expect(ids(state, { owner: { in: ["ben", null, "ben"] } })).toEqual(["b", "d"]);
  expect(ids(state, { owner: "cleo" })).toEqual([]);
  expect(ids(state, { owner: null, effort: { gt: 0 } })).toEqual(["d"]);
});

test("[R72] values are the same as conditions compare: by time, by type, and none where none of the type is", () => {
  const { ids } = start();
  ids(state, { due: null, effort: 1 });
  expect(ids(state, { due: new Date("2030-01-01T00:00:00Z") })).toEqual(["a", "b"]);
  expect(ids(state, { due: null })).toEqual(["c", "d"]);
  expect(ids(state, { effort: 1 })).toEqual(["a"]);
  expect(ids(state, { effort: null })).toEqual(["b", "c", "d"]);
});

test("[R72] of several fields, the one with the fewest records counts; ranges, words and arrays have no index", () => {
  const { ids } = start();
  ids(state, { status: "done", owner: null });
  expect(ids(state, { status: "done", owner: null })).toEqual(["d"]);
  for (const where of [{ effort: { gt: 1 } }, { owner: { not: "ann" } }, { labels: [] }, { or: [{ owner: "ann" }] }]) {
    ids(state, where);
    expect(ids(state, where)).toBe(undefined);
  }
});

test("[R72] what most records have is not looked up: to look at all is quicker", () => {
  const { ids } = start();
  ids(state, { owner: "ann", effort: 1 });
  const most = { owner: { in: ["ann", "ben", "eve"] } };
  expect(ids(state, most)).toBe(undefined);
  expect(ids(state, { ...most, effort: 1 })).toEqual(["a"]);
  expect(ids(state, { owner: { in: ["ann", "ben"] } })).toEqual(["a", "b", "c"]);
});

test("[R72] what was noted is looked at again, and no value stays that no record has any more", () => {
  const { indexes, ids } = start();
  ids(state, { owner: "ann" });
  ids(state, { owner: "ann" });
  const later = rowsOf({ a: { owner: "ben" }, c: { owner: "ann" }, e: { owner: "ann" }, f: { owner: "eve" } });
  for (const id of ["a", "b", "d", "e"]) indexes.note("task", id);
  indexes.note("other", "c");
  expect(ids(later, { owner: "ann" })).toEqual(["c", "e"]);
  expect(ids(later, { owner: "ben" })).toEqual(["a"]);
  indexes.note();
  expect(ids(state, { owner: "ann" })).toEqual(["a", "c"]);
});

test("[R72] lists of some values are those of all records, whatever is written, by whom, online or not", async () => {
  const value = fc.record(
    {
      status: fc.constantFrom("todo", "doing", "done"),
      owner: fc.constantFrom("ann", "ben", null),
      effort: fc.constantFrom(1, 2, null),
    },
    { requiredKeys: [] },
  );
  const act = fc.oneof(
    fc.record({ do: fc.constantFrom("create", "update", "theirs"), id: fc.integer({ min: 0, max: 6 }), value }),
    fc.record({ do: fc.constantFrom("delete", "archive", "unarchive"), id: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ do: fc.constantFrom("offline", "online", "settle", "read") }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40 }), async (acts) => {
      const { client: open, server, settle } = createTestServer(schema);
      const made = open();
      const { task } = made.client.models;
      await made.client.ready({ rows: "complete" });
      const wheres = [
        { owner: "ann" },
        { owner: "ben" },
        { owner: null },
        { status: { in: ["todo", "done"] } },
        { effort: 1, status: "done" },
      ];
      const agree = () => {
        const all = task.list({ archived: "with" });
        for (const [n, where] of wheres.entries()) {
          // A limit of its own makes it a list of its own, which is filled from the index.
          const limit = 1_000 + n + Math.trunc(100 * acts.length) + all.length;
          const wanted = all.filter((row) =>
            Object.entries(where).every(([name, one]) => {
              const own = row[name as "owner"] ?? null;
              return typeof one === "object" && one !== null
                ? (one as { in: unknown[] }).in.includes(own)
                : own === one;
            }),
          );
          const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
          expect(ids(task.list({ where: where as never, archived: "with", limit }))).toEqual(ids(wanted));
          expect(task.count({ where: where as never, archived: "with" })).toBe(wanted.length);
        }
      };
      let named = 0;
      for (const one of acts) {
        const id = "id" in one ? `t${one.id}` : "";
        const data = { labels: [], ...("value" in one ? one.value : {}) } as never;
        if (one.do === "create") void task.create(data, { id });
        else if (one.do === "update") void task.update(id, data);
        else if (one.do === "delete" || one.do === "archive" || one.do === "unarchive") void task[one.do](id);
        else if (one.do === "offline") made.offline();
        else if (one.do === "online") made.online();
        else if (one.do === "settle") await settle();
        else if (one.do === "theirs")
          server.commit(
            {
              clientTxId: `t${++named}`,
              clientId: "c",
              operations: [{ action: "create", model: "task", id, data }],
            } as never,
            "ben",
          );
        agree();
      }
      await made.client.close();
    }),
    { numRuns: 40, seed: 72 },
  );
});
