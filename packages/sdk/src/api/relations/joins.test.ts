import { expect, test } from "vitest";
import type { LogRow } from "../../core/log/rows.ts";
import { changeTables } from "../../core/log/tables.ts";
import { invalid } from "../../errors.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { type AnyQuery, listQuery, type StateOfRows } from "../lists/list-query.ts";
import { LiveList } from "../lists/live-list.ts";
import type { ShownRows } from "../lists/shown-rows.ts";
import { Joins } from "./joins.ts";

const models: Readonly<Record<string, Model>> = {
  project: { fields: { name: { type: "string" } } },
  task: {
    fields: {
      rank: { type: "integer" },
      projectId: { type: "string", references: "project", inverse: "tasks" },
    },
  },
  comment: {
    fields: { text: { type: "string" }, taskId: { type: "string", references: "task", inverse: "comments" } },
  },
};

const empty: StateOfRows = { rows: { tables: {}, logId: "log", position: 0 }, overlay: {} };

/** Records by `model/id`; undefined: it is gone. */
function changed(state: StateOfRows, records: Readonly<Record<string, JsonObject | undefined>>): StateOfRows {
  const changes = Object.entries(records).map(([key, data]) => {
    const [model = "", id = ""] = key.split("/");
    return { record: { model, id }, value: data && { syncId: 1, archivedAt: null, data: { ...data, id } } };
  });
  return { ...state, rows: { ...state.rows, tables: changeTables<LogRow>(state.rows.tables, changes) } };
}

/** Three projects, with ten tasks each, with ten comments each. */
function board(): StateOfRows {
  const records: Record<string, JsonObject> = {};
  for (let p = 0; p < 3; p++) records[`project/p${p}`] = { name: `P${p}` };
  for (let t = 0; t < 30; t++) records[`task/t${t}`] = { rank: t, projectId: `p${t % 3}` };
  for (let c = 0; c < 300; c++) records[`comment/c${c}`] = { text: `C${c}`, taskId: `t${c % 30}` };
  return changed(empty, records);
}

function counting() {
  let reads = 0;
  const shown: ShownRows = {
    show: (_, row) => {
      reads += 1;
      return row;
    },
    give: (_, data) => data,
  };
  const compile = (model: string, asked: AnyQuery) => listQuery(model, asked, models[model], shown);
  const joins = new Joins({ models, compile, invalid });
  return {
    open: (model: string, { include = {}, ...asked }: AnyQuery) =>
      joins.open(model, new LiveList(compile(model, asked)), include),
    joins,
    takeReads: () => {
      const before = reads;
      reads = 0;
      return before;
    },
  };
}

const query = { orderBy: "rank", include: { project: true, comments: { limit: 2 } } } as const;

test("[R32] a change reads what it touches, however many lists and records there are", () => {
  const { joins, open, takeReads } = counting();
  let state = board();
  const lists = Array.from({ length: 50 }, (_, i) => open("task", { ...query, where: { rank: { gte: i % 5 } } }));
  for (const list of lists) list.read(state);
  // Each list goes through the 30 tasks; the 300 comments are indexed once, and each task is joined once: it looks
  // whether its project and two comments match.
  expect(takeReads()).toBe(50 * 30 + 300 + 30 + 3 + 30 + 60 + 60);

  state = changed(state, { "comment/c29": { text: "new", taskId: "t29" } });
  joins.note("comment", "c29");
  for (const list of lists) expect(list.read(state).at(-1)).toMatchObject({ comments: [{ text: "C119" }, {}] });
  // The comment, its task, and what that includes.
  expect(takeReads()).toBe(5);

  state = changed(state, { "project/p2": { name: "Renamed" } });
  joins.note("project", "p2");
  for (const list of lists) expect(list.read(state).at(-1)).toMatchObject({ project: { name: "Renamed" } });
  // The project, and the ten tasks that include it, each with its project and two comments.
  expect(takeReads()).toBe(1 + 10 * 4);
});

test("[R32] when all rows may have changed, lists read them again", () => {
  const { joins, open } = counting();
  const list = open("task", query);
  expect(list.read(board())).toHaveLength(30);
  const other = changed(empty, {
    "task/t0": { rank: 1, projectId: "p0" },
    "project/p0": { name: "Other" },
    "comment/c0": { text: "Other", taskId: "t0" },
  });
  joins.noteAll();
  list.note();
  expect(list.read(other)).toEqual([
    {
      id: "t0",
      rank: 1,
      projectId: "p0",
      project: { id: "p0", name: "Other" },
      comments: [{ id: "c0", text: "Other", taskId: "t0" }],
    },
  ]);
});

test("[R32] a great many changes are taken in together", () => {
  const { joins, open } = counting();
  let state = board();
  const list = open("task", { include: { comments: { limit: 2 } } });
  list.read(state);
  const many: Record<string, JsonObject> = {};
  for (let c = 0; c < 1_500; c++) many[`comment/a${c}`] = { text: `A${c}`, taskId: "t0" };
  state = changed(state, many);
  for (let c = 0; c < 1_500; c++) joins.note("comment", `a${c}`);
  expect(list.read(state)[0]).toMatchObject({ id: "t0", comments: [{ text: "A0" }, { text: "A1" }] });
});

test("[R34] what no list shows any more is given up", () => {
  const { joins, open } = counting();
  let state = board();
  const list = open("project", { limit: 2, include: { tasks: { include: { comments: { limit: 1 } } } } });
  list.read(state);
  // Shown: 2 projects, 20 tasks, 20 comments. Kept: 3 projects, and the two indexes.
  const kept = 3 + 30 + 300;
  expect(list.size).toBe(kept + 2 + 20 + 20);

  state = changed(state, { "project/p0": undefined, "project/p1": undefined });
  for (const id of ["p0", "p1"]) {
    joins.note("project", id);
    list.note(id);
  }
  expect(list.read(state)).toMatchObject([{ id: "p2" }]);
  expect(list.size).toBe(kept - 2 + 1 + 10 + 10);

  // A task that moves to a project which is not shown takes its comment with it.
  state = changed(state, { "task/t2": { rank: 2, projectId: "p1" } });
  joins.note("task", "t2");
  expect(list.read(state)[0]?.tasks).toHaveLength(9);
  expect(list.size).toBe(kept - 2 + 1 + 9 + 9);

  const same = open("project", { include: { tasks: { include: { comments: { limit: 1 } } } } });
  same.read(state);
  list.close();
  // Task t11 is the first of project p2.
  state = changed(state, { "comment/c101": { text: "new", taskId: "t11" } });
  joins.note("comment", "c101");
  expect(JSON.stringify(same.read(state))).toContain('"comments":[{"text":"new"');
  same.close();
  // Without the records of the closed lists, all are read anew.
  const anew = open("project", { include: { tasks: { include: { comments: { limit: 1 } } } } });
  expect(anew.size).toBe(0);
});
