import type { Field, JsonObject, Model } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { storedEntryOf } from "../../../testing/stored-entry.ts";
import { changeRow, type ModelChange, presentEntry, presentFields, rewriteRow } from "./schema-change.ts";

const text: Field = { type: "string" };
const number: Field = { type: "number" };
const model = (fields: Record<string, Field>): Model => ({ fields });

test.each<
  [string, Record<string, Field>, Record<string, string>, JsonObject, JsonObject | null, JsonObject, JsonObject | null]
>([
  ["all declared", { a: text }, {}, { id: "x", a: "1" }, null, { id: "x", a: "1" }, null],
  ["a field dropped", { a: text }, {}, { id: "x", b: 2, a: "1" }, null, { id: "x", a: "1" }, { b: 2 }],
  ["declared again", { a: text, b: number }, {}, { id: "x", a: "1" }, { b: 2 }, { id: "x", a: "1", b: 2 }, null],
  ["declared again, written meanwhile", { b: number }, {}, { id: "x", b: 3 }, { b: 2 }, { id: "x", b: 3 }, null],
  ["narrowed", { a: number }, {}, { id: "x", a: "1" }, null, { id: "x" }, { a: "1" }],
  ["renamed", { c: text }, { a: "c" }, { id: "x", a: "1", z: 1 }, null, { id: "x", c: "1" }, { z: 1 }],
  [
    "swapped",
    { a: text, b: text },
    { a: "b", b: "a" },
    { id: "x", a: "1", b: "2" },
    null,
    { id: "x", b: "1", a: "2" },
    null,
  ],
  ["renamed while hidden as another type", { c: text }, { a: "c" }, { id: "x" }, { a: "1" }, { id: "x", c: "1" }, null],
  [
    "a member of every object",
    { toString: text },
    {},
    { id: "x", constructor: 1, toString: "t" },
    null,
    { id: "x", toString: "t" },
    { constructor: 1 },
  ],
])("[M7] a row in the words of a new schema: %s", (_, fields, renames, data, hidden, shown, kept) => {
  const row = rewriteRow({ data, hidden }, renames, model(fields));
  expect(row).toEqual({ data: shown, hidden: kept });
  expect(Object.keys(row.data)[0]).toBe("id");
});

test("[M7] fields that are hidden and declared again lose no value", () => {
  const names = ["a", "b", "c", "d"];
  const fields = fc.subarray(names).map((some) => Object.fromEntries(some.map((name) => [name, number])));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), fc.integer()), fc.array(fields), (values, pushes) => {
      const data = { id: "x", ...values };
      const end = pushes.reduce((row, next) => rewriteRow(row, {}, model(next)), { data, hidden: null } as Parameters<
        typeof rewriteRow
      >[0]);
      const whole = rewriteRow(end, {}, model(Object.fromEntries(names.map((name) => [name, number]))));
      expect(whole).toEqual({ data, hidden: null });
    }),
    { seed: 20_260_131 },
  );
});

const entry = (syncId: number) =>
  storedEntryOf({
    ...{ syncId, model: "slide", id: "x", verb: "updated" },
    ...{ data: '{"id":"x","a":"1","b":"2"}', changedFields: '["a","b"]' },
  });
const changes = [
  { upTo: 10, renames: { a: "c" } },
  { upTo: 20, renames: { c: "d" } },
];
const declared = { name: "Slide", model: model({ d: text }), changes };

test("[M8] older entries use the field names of the current schema, newer ones are unchanged", () => {
  expect(presentEntry(entry(10), declared)).toMatchObject({ data: '{"id":"x","d":"1"}', changedFields: '["d"]' });
  expect(presentEntry(entry(11), declared)).toMatchObject({ data: '{"id":"x"}', changedFields: "[]" });
  const later = entry(21);
  expect(presentEntry(later, declared)).toBe(later);
  expect(presentEntry({ ...entry(1), data: null, changedFields: null }, declared)).toMatchObject({ data: null });
});

test("[M7] an entry of a model that is no longer declared is omitted", () => {
  expect(presentEntry(entry(1), undefined)).toBeUndefined();
});

test("[M8] stale checks use the current names of an entry's changed fields, and ignore hidden ones", () => {
  expect(presentFields(["a", "b"], 5, declared)).toEqual(["d"]);
  expect(presentFields(["c"], 15, declared)).toEqual(["d"]);
  expect(presentFields(["a"], 25, declared)).toEqual(["a"]);
});

const filed = { id: "r", data: { id: "r", a: "x", b: "y" }, hidden: null, groups: ["a:x"] };
const declares = (fields: Model["fields"], from: string): Model => ({ fields, groups: [{ kind: "a", from }] });
const both = { a: { type: "string" }, b: { type: "string" } } as const;

test.each<[what: string, change: ModelChange, after: ReturnType<typeof changeRow>]>([
  ["nothing", { model: declares(both, "a"), renames: {}, isRegrouped: true }, undefined],
  [
    "only its groups",
    { model: declares(both, "b"), renames: undefined, isRegrouped: true },
    { row: null, groups: ["a:y"] },
  ],
  [
    "only its values",
    { model: declares({ a: { type: "string" } }, "b"), renames: {}, isRegrouped: false },
    { row: { data: { id: "r", a: "x" }, hidden: { b: "y" } }, groups: ["a:x"] },
  ],
  [
    "values and groups",
    { model: declares({ a: { type: "string" }, c: { type: "string" } }, "c"), renames: { b: "c" }, isRegrouped: true },
    { row: { data: { id: "r", a: "x", c: "y" }, hidden: null }, groups: ["a:y"] },
  ],
])("[M12] a push changes of a record %s", (_, change, after) => {
  expect(changeRow(filed, change)).toEqual(after);
});
