import type { Model } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fieldNames } from "./field-names.ts";
import { rewriteRow, type StoredRow } from "./schema-change.ts";

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

/** A push: which of the fields get other names, which are removed, and which names are declared besides. */
const step = fc.record({
  renamed: fc.dictionary(fc.constantFrom(..."abcd"), fc.constantFrom(..."abcdef"), { maxKeys: 2 }),
  removed: fc.subarray([..."abcd"]),
  added: fc.subarray([..."abcdef"]),
});
type Step = Parameters<Parameters<(typeof step)["map"]>[0]>[0];

const modelOf = (names: Iterable<string>): Model => ({
  fields: Object.fromEntries([...names].map((name) => [name, { type: "string" as const }])),
});

/** What a push may do to these fields: only old names are renamed, only to new ones, and each at most once. */
function validPush(fields: ReadonlySet<string>, { renamed, removed, added }: Step) {
  const renames: Record<string, string> = {};
  for (const [from, to] of Object.entries(renamed))
    if (fields.has(from) && !fields.has(to) && !Object.values(renames).includes(to)) renames[from] = to;
  const gone = new Set([...removed, ...Object.keys(renames)]);
  const kept = [...fields].filter((name) => !gone.has(name));
  const declared = added.filter((name) => !fields.has(name) || kept.includes(name));
  const now = new Set([...kept, ...Object.values(renames), ...declared]);
  return { renames, now };
}

test("[M32] [M55] a field keeps its values through any pushes, and a client with an older schema never sees those of another", () => {
  const seen = { renamed: 0, hidden: 0 };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
      const older = [..."abcd"];
      let fields = new Set(older);
      let row: StoredRow = { data: Object.fromEntries(older.map((name) => [name, `of ${name}`])), hidden: null };
      const changes = steps.map((one, upTo) => {
        const { renames, now } = validPush(fields, one);
        row = rewriteRow(row, renames, modelOf(now));
        // A record is written under the new schema, so that a field which takes a free name has a value.
        row = {
          ...row,
          data: { ...Object.fromEntries([...now].map((name) => [name, `new ${name} ${upTo}`])), ...row.data },
        };
        fields = now;
        return { upTo, renames };
      });
      const names = fieldNames(older, changes, [...fields]);
      const shown = Object.fromEntries(
        Object.entries(row.data).flatMap(([name, value]) => {
          const own = names?.toOld.has(name) ? names.toOld.get(name) : name;
          return typeof own === "string" ? [[own, value]] : [];
        }),
      );
      const values = Object.values(row.data);
      for (const name of older) {
        const own = `of ${name}`;
        expect(shown[name]).toBe(values.includes(own) ? own : undefined);
        const at = names?.toNew.has(name) ? names.toNew.get(name) : name;
        if (typeof at === "string" && values.includes(own)) expect(row.data[at]).toBe(own);
      }
      if (names && [...names.toNew.values()].some((at) => at !== null)) seen.renamed += 1;
      if (names && [...names.toOld.values()].includes(null)) seen.hidden += 1;
    }),
    { numRuns: 3_000 },
  );
  expect(seen.renamed).toBeGreaterThan(100);
  expect(seen.hidden).toBeGreaterThan(20);
});
