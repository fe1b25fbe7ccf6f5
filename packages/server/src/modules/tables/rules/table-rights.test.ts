import { expect, test } from "vitest";
import { deniedWrites, missingRights, PRIVILEGES, type TableRights, type TableTask } from "./table-rights.ts";

const rights = (more: Partial<TableRights> = {}): TableRights => ({
  ...{
    role: "keeper",
    schema: "app",
    table: "app.slides",
    relation: 1,
    isRoot: true,
    isPartitioned: false,
    owned: false,
    hidesRows: false,
  },
  ...{ triggers: ["holdfast_insert", "holdfast_key"], lacks: [] },
  ...more,
});

test.each<[string, TableTask, Partial<TableRights>, string[]]>([
  ["nothing is lacking", "attach", {}, []],
  ["another privilege is lacking", "verify", { lacks: ["insert", "update", "delete", "trigger"] }, []],
  [
    "one is lacking",
    "repair",
    { lacks: ["update"] },
    ['The role keeper lacks UPDATE on app.slides: run "grant update on app.slides to keeper".'],
  ],
  [
    "names need quotes",
    "attach",
    { role: '"Keeper 1"', table: 'app."My slides"', lacks: ["select", "insert", "trigger"] },
    [
      'The role "Keeper 1" lacks SELECT and TRIGGER on app."My slides": run "grant select, trigger on app."My slides" to "Keeper 1"".',
    ],
  ],
  [
    "the schema and the table are closed",
    "verify",
    { lacks: PRIVILEGES },
    [
      'The role keeper lacks USAGE on the schema app: run "grant usage on schema app to keeper".',
      'The role keeper lacks SELECT on app.slides: run "grant select on app.slides to keeper".',
    ],
  ],
  ["only the partitions' triggers are their own", "attach", { isRoot: false, lacks: ["select"] }, []],
  ["a partition is only read through its table", "repair", { isRoot: false, lacks: PRIVILEGES }, []],
  [
    "a partition that came later takes no trigger",
    "repair",
    { isRoot: false, table: "app.part", triggers: [], lacks: ["select", "update", "trigger"] },
    ['The role keeper lacks TRIGGER on app.part: run "grant trigger on app.part to keeper".'],
  ],
  [
    "a partition takes no trigger",
    "attach",
    { isRoot: false, table: "app.part", lacks: ["trigger"] },
    ['The role keeper lacks TRIGGER on app.part: run "grant trigger on app.part to keeper".'],
  ],
  [
    "triggers cannot be taken away",
    "detach",
    { lacks: ["trigger"] },
    [
      'The role keeper lacks TRIGGER on app.slides: run "grant trigger on app.slides to keeper", or let the table\'s owner run "drop trigger holdfast_insert on app.slides; drop trigger holdfast_key on app.slides;".',
    ],
  ],
  [
    "the values of the records cannot be read",
    "detach",
    { triggers: [], lacks: ["select", "trigger"] },
    ['The role keeper lacks SELECT on app.slides: run "grant select on app.slides to keeper".'],
  ],
  [
    "rows are hidden",
    "verify",
    { hidesRows: true },
    [
      'Row level security hides rows of app.slides from the role keeper: run "create policy holdfast on app.slides to keeper using (true) with check (true)".',
    ],
  ],
  ["rows are hidden that are not read", "drop", { hidesRows: true }, []],
  ["an owner needs no privilege to detach", "drop", { owned: true, lacks: ["select", "trigger"] }, []],
  ["the triggers are gone already", "drop", { triggers: [], lacks: PRIVILEGES }, []],
])("[DS36] [DS109] [DS37] %s", (_, task, more, sentences) => {
  expect(missingRights(task, [rights(more)])).toEqual(sentences);
});

test("[DS36] a schema is named once for all its tables", () => {
  const closed = [rights({ lacks: ["usage"] }), rights({ table: "app.decks", lacks: ["usage"] })];
  expect(missingRights("attach", closed)).toHaveLength(1);
});

test.each<[TableRights["lacks"], string[]]>([
  [[], []],
  [["select", "trigger", "usage"], []],
  [
    ["delete", "insert"],
    [
      'Clients cannot create or delete its records. The role keeper lacks INSERT and DELETE on app.slides: run "grant insert, delete on app.slides to keeper".',
    ],
  ],
])("[DS36] without %j a note says what clients cannot do", (lacks, sentences) => {
  expect(deniedWrites([rights({ lacks }), rights({ isRoot: false, lacks: PRIVILEGES })])).toEqual(sentences);
});
