import { describe, expect, test } from "vitest";
import { fieldNames } from "./field-names.ts";

type Renames = Readonly<Record<string, string>>;

/** The map of a client that has `older`, after pushes that renamed fields, to a schema with `current`. */
const named = (older: readonly string[], pushes: readonly Renames[], current: readonly string[]) => {
  const names = fieldNames(
    older,
    pushes.map((renames, upTo) => ({ upTo, renames })),
    current,
  );
  return names && { in: Object.fromEntries(names.toNew), out: Object.fromEntries(names.toOld) };
};

describe("[M32] a client with an older schema", () => {
  test.each<[string, readonly string[], readonly Renames[], readonly string[], ReturnType<typeof named>]>([
    ["nothing has changed", ["a"], [], ["a"], undefined],
    ["a field was added", ["a"], [], ["a", "b"], undefined],
    ["another field was renamed that came later", ["a"], [{ b: "c" }], ["a", "c"], undefined],
    ["a field was renamed", ["a"], [{ a: "b" }], ["b"], { in: { a: "b", b: null }, out: { b: "a" } }],
    ["twice", ["a"], [{ a: "b" }, { b: "c" }], ["c"], { in: { a: "c", c: null }, out: { c: "a" } }],
    ["and back", ["a"], [{ a: "b" }, { b: "a" }], ["a"], undefined],
    [
      "and its name has become another field's",
      ["a"],
      [{ a: "b" }],
      ["b", "a"],
      { in: { a: "b", b: null }, out: { b: "a", a: null } },
    ],
    [
      "two fields have exchanged their names",
      ["a", "b"],
      [{ a: "t" }, { b: "a" }, { t: "b" }],
      ["a", "b"],
      { in: { a: "b", b: "a" }, out: { a: "b", b: "a" } },
    ],
    [
      "three in a ring",
      ["a", "b", "c"],
      [{ a: "t" }, { b: "a" }, { c: "b" }, { t: "c" }],
      ["a", "b", "c"],
      { in: { a: "c", b: "a", c: "b" }, out: { c: "a", a: "b", b: "c" } },
    ],
    ["a field was removed", ["a", "b"], [{}], ["b"], undefined],
    ["a field was removed and declared again", ["a", "b"], [{}, {}], ["a", "b"], undefined],
    ["a field was renamed and removed", ["a"], [{ a: "b" }, {}], [], undefined],
    [
      "a field was renamed and removed, and its first name is another field's",
      ["a"],
      [{ a: "b" }, {}],
      ["a"],
      { in: { a: null }, out: { a: null } },
    ],
    [
      "a field was removed, and another one renamed to its name",
      ["a", "b"],
      [{}, { b: "a" }],
      ["a"],
      { in: { a: null, b: "a" }, out: { a: "b" } },
    ],
    [
      "the same, with a new field under the name that became free",
      ["a", "b"],
      [{}, { b: "a" }, {}],
      ["a", "b"],
      { in: { a: null, b: "a" }, out: { a: "b", b: null } },
    ],
    [
      "two renames in one push",
      ["a", "b"],
      [{ a: "x", b: "y" }],
      ["x", "y"],
      { in: { a: "x", b: "y", x: null, y: null }, out: { x: "a", y: "b" } },
    ],
    [
      "names of methods that every object has",
      ["constructor", "toString"],
      [{ constructor: "valueOf" }],
      ["valueOf", "toString"],
      { in: { constructor: "valueOf", valueOf: null }, out: { valueOf: "constructor" } },
    ],
  ])("%s", (_, older, pushes, current, expected) => {
    expect(named(older, pushes, current)).toEqual(expected);
  });
});
