import type { JsonObject } from "@holdfast/sdk/protocol";
import { describe, expect, test } from "vitest";
import type { AttachedTable } from "./attached-table.ts";
import { type CapturedChange, changesOf } from "./captured-changes.ts";

const table = {
  ...{ tenant: 1, model: "slide", relation: 1, name: "public.slides", keyColumn: "id" },
  columns: ["title", "deck"].map((name) => ({
    ...{ field: name, name, declared: "string" as const, type: "text" },
  })),
} as unknown as AttachedTable;

type Row = readonly [id: string, title: string, deck?: string];
const row = ([id, title, deck = "d"]: Row) => ({ id, title, deck });
const image = (of: Row | null) => of && row(of);

/** What a statement did, outside of triggers. */
const plain = (before: Row | null, after: Row | null, tx = "1"): CapturedChange => ({
  ...{ tx, model: "slide", nested: false, present: null },
  ...{ before: image(before), after: image(after) },
});
/** One image, and the row as the table had it then. */
const nested = (before: Row | null, after: Row | null, present: Row | null): CapturedChange => ({
  ...plain(before, after),
  ...{ nested: true, present: image(present) },
});

const spell = (data: JsonObject | null | undefined) => (data ? `${data.title} ${data.deck}` : String(data));
function read(...changes: CapturedChange[]) {
  const made = changesOf(changes, [table]);
  if ("problem" in made) return made.problem;
  return made.flatMap(({ tx, changes: own }) =>
    own.map(({ id, data, before }) => `${tx}: ${id}: ${spell(before)} -> ${spell(data)}`),
  );
}

describe("[DS2] [DS97] of what a transaction did to a row, the first state and the last one count", () => {
  const cases: readonly (readonly [string, readonly CapturedChange[], readonly string[]])[] = [
    ["an insert", [plain(null, ["a", "1"])], ["1: a: null -> 1 d"]],
    ["an update", [plain(["a", "1"], ["a", "2"])], ["1: a: 1 d -> 2 d"]],
    ["a deletion", [plain(["a", "1"], null)], ["1: a: 1 d -> null"]],
    ["two updates", [plain(["a", "1"], ["a", "2"]), plain(["a", "2"], ["a", "3"])], ["1: a: 1 d -> 3 d"]],
    ["there and back", [plain(["a", "1"], ["a", "2"]), plain(["a", "2"], ["a", "1"])], ["1: a: 1 d -> 1 d"]],
    ["a row that came and went", [plain(null, ["a", "1"]), plain(["a", "1"], null)], ["1: a: null -> null"]],
    ["a deletion, and a new row", [plain(["a", "1"], null), plain(null, ["a", "2"])], ["1: a: 1 d -> 2 d"]],
    [
      "two transactions",
      [plain(["a", "1"], ["a", "2"]), plain(["a", "2"], null, "2")],
      ["1: a: 1 d -> 2 d", "2: a: 2 d -> null"],
    ],
  ];
  test.each(cases)("%s", (_, changes, expected) => expect(read(...changes)).toEqual(expected));
});

describe("[DS3] whatever the order in which nested changes were captured, the table says what is left of a row", () => {
  const cases: readonly (readonly [string, readonly CapturedChange[], readonly string[]])[] = [
    [
      "an update, whose trigger updates the row",
      [
        nested(["a", "2"], null, ["a", "3"]),
        nested(null, ["a", "3"], ["a", "3"]),
        nested(["a", "1"], null, ["a", "3"]),
        nested(null, ["a", "2"], ["a", "3"]),
      ],
      ["1: a: 2 d -> 3 d"],
    ],
    [
      "an update of one field, whose trigger updates the other",
      [
        nested(["a", "2", "d"], null, ["a", "2", "e"]),
        nested(null, ["a", "2", "e"], ["a", "2", "e"]),
        nested(["a", "1", "d"], null, ["a", "2", "e"]),
        nested(null, ["a", "2", "d"], ["a", "2", "e"]),
      ],
      ["1: a: 1 d -> 2 e"],
    ],
    [
      "an insert, whose trigger deletes the row",
      [nested(["a", "1"], null, null), nested(null, ["a", "1"], null)],
      ["1: a: null -> null"],
    ],
    [
      "a deletion, whose trigger puts the row back",
      [nested(null, ["a", "2"], ["a", "2"]), nested(["a", "1"], null, ["a", "2"])],
      ["1: a: 1 d -> 2 d"],
    ],
    [
      "a statement that moves the keys on by one",
      [
        ...[nested(["a", "A"], null, null), nested(["b", "B"], null, ["b", "A"])],
        ...[nested(null, ["b", "A"], ["b", "A"]), nested(null, ["c", "B"], ["c", "B"])],
      ],
      ["1: a: A d -> null", "1: b: B d -> A d", "1: c: null -> B d"],
    ],
    [
      "an insert before anything was nested, and then its trigger's update",
      [plain(null, ["a", "1"]), nested(["a", "1"], null, ["a", "2"]), nested(null, ["a", "2"], ["a", "2"])],
      ["1: a: null -> 2 d"],
    ],
  ];
  test.each(cases)("%s", (_, changes, expected) => expect(read(...changes)).toEqual(expected));
});

test("[DS7] a row without a column or key is a problem, unless it is the row before: then nothing is known of it", () => {
  const short = { ...plain(["a", "1"], ["a", "2"]), after: { id: "a", title: "2" } };
  expect(read(short)).toMatch(/^public.slides has no column deck any more/);
  expect(read({ ...short, after: null, before: { title: "1" } })).toMatch(/no column id/);
  expect(read({ ...short, after: null, before: { id: "a" } })).toEqual(["1: a: undefined -> null"]);
});

test("[DS83] what a row was before a nested change is not known if it was too large to be read", () => {
  const unread = [20_000_000, "a"] as const;
  expect(read({ ...nested(null, null, ["a", "1"]), before: unread }, nested(null, ["a", "1"], ["a", "1"]))).toEqual([
    "1: a: undefined -> 1 d",
  ]);
});

test("[DS3] a field that was null before a nested change counts as changed", () => {
  const [old, now] = [{ id: "a", title: null, deck: "d" }, row(["a", "1"])];
  const made = changesOf(
    [
      { ...nested(null, null, ["a", "1"]), before: old },
      { ...nested(null, ["a", "1"], ["a", "1"]), after: now },
    ],
    [table],
  );
  expect(made).toMatchObject([{ changes: [{ data: { title: "1" }, before: { title: null, deck: "d" } }] }]);
});
