import type { Model } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createReaderIndex, type MadeEntry } from "./reader-index.ts";
import { sightOf, type View } from "./view.ts";

const fields: Model["fields"] = {
  deck: { type: "string" },
  state: { type: "enum", values: ["open", "done"] },
  size: { type: "integer" },
  at: { type: "datetime" },
  labels: { type: "array", items: "string" },
};
const models = new Map(["slide", "note"].map((name) => [name, { name, model: { fields }, changes: [] }]));

const some = <T>(...values: T[]) => fc.constantFrom(...values);
const subset = <T>(...values: T[]) => fc.subarray(values);
const scalar = some<string | number | null>(
  "a",
  "b",
  "open",
  1,
  2,
  null,
  "2026-01-01T00:00:00Z",
  "2026-01-01T00:00:00.0Z",
);
const conditions = fc.dictionary(
  some("deck", "state", "size", "at", "labels", "id", "gone"),
  fc.oneof(
    scalar,
    fc.record({ in: fc.array(scalar, { maxLength: 3 }) }),
    fc.record({ contains: some("x", "y") }),
    fc.record({ gte: some<string | number>(1, 2, "2026-01-01T00:00:00Z") }),
    fc.record({ in: fc.array(scalar, { maxLength: 2 }), lt: some<string | number>(2, "b") }),
  ),
  { maxKeys: 3 },
);
const view: fc.Arbitrary<View> = fc.record({
  models: fc.option(
    subset("slide", "note", "other").map((names) => new Set(names)),
    { nil: undefined },
  ),
  groups: fc.option(
    subset("g:1", "g:2", "g:3").map((names) => new Set(names)),
    { nil: undefined },
  ),
  where: fc.option(
    fc.dictionary(some("slide", "Note", "other"), fc.oneof(conditions, fc.array(conditions, { maxLength: 3 })), {
      maxKeys: 2,
    }),
    { nil: undefined },
  ),
});
const client = fc.option(some("c1", "c2"), { nil: null });
const entry: fc.Arbitrary<MadeEntry> = fc
  .record({
    model: some("slide", "note"),
    id: some("a", "b"),
    verb: some("created", "updated", "deleted", "archived", "erased"),
    groups: subset("g:1", "g:2", "g:3"),
    groupsBefore: fc.option(subset("g:1", "g:2", "g:3"), { nil: null }),
    data: fc.option(
      fc.record(
        {
          deck: scalar,
          state: scalar,
          size: scalar,
          at: scalar,
          labels: fc.oneof(subset("x", "y"), scalar),
        },
        { requiredKeys: [] },
      ),
      { nil: null },
    ),
    dataBefore: fc.option(
      fc.option(fc.record({ deck: scalar, size: scalar, labels: subset("x", "y") }, { requiredKeys: [] }), {
        nil: null,
      }),
      { nil: undefined },
    ),
    changed: fc.option(subset("deck", "state", "size", "at", "labels"), { nil: null }),
    clientId: client,
  })
  .map(({ data, changed, ...rest }) => ({
    ...rest,
    verb: data === null ? "deleted" : rest.verb === "deleted" ? "updated" : rest.verb,
    data: () => data,
    changedFields: () => changed,
  })) as fc.Arbitrary<MadeEntry>;

test("[T18] a reader that sees an entry, or has made it, is found, whatever it follows and followed before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ view, clientId: client, before: fc.option(view), isGone: fc.boolean() }), { maxLength: 6 }),
      fc.array(entry, { maxLength: 4 }),
      (readers, entries) => {
        const index = createReaderIndex(models);
        for (const reader of readers) {
          if (reader.before) index.add(reader, { view: reader.before, clientId: "c1" });
          index.add(reader, reader);
        }
        for (const reader of readers) if (reader.isGone) index.remove(reader);
        const found = index.concernedBy(entries);
        for (const reader of readers) {
          const isFor = (one: MadeEntry) =>
            (one.clientId !== null && one.clientId === reader.clientId) ||
            sightOf(reader.view, one, models) !== "hidden";
          const isFound = found.has(reader) || index.ofEverything.has(reader);
          expect(found.has(reader) && index.ofEverything.has(reader)).toBe(false);
          if (reader.isGone) expect(isFound).toBe(false);
          else if (entries.some(isFor)) expect(isFound).toBe(true);
        }
      },
    ),
    { numRuns: 3_000, seed: 18 },
  );
});

const made = (given: Partial<MadeEntry> & { values?: object; changed?: string[] }): MadeEntry => ({
  ...{ model: "slide", id: "s", verb: "updated", groups: ["g:1"], groupsBefore: null, clientId: null },
  dataBefore: undefined,
  data: () => ({ deck: "a", state: "open", size: 1, labels: ["x"], ...given.values }),
  changedFields: () => given.changed ?? ["size"],
  ...given,
});
const of = (deck: string) => ({ slide: { deck } });

test.each<[string, Partial<View>, MadeEntry]>([
  ["another value", { where: of("b") }, made({})],
  [
    "another value of a field that was not written, with others",
    { where: { slide: { deck: "b", state: "open" } } },
    made({}),
  ],
  ["one of other values", { where: { slide: [{ deck: "b" }, { deck: { in: ["c", "d"] } }] } }, made({})],
  ["another item", { where: { slide: { labels: { contains: "y" } } } }, made({})],
  ["another value, of a group that it is in", { groups: new Set(["g:1"]), where: of("b") }, made({})],
  ["no part at all", { where: { slide: [] } }, made({})],
  ["another group", { groups: new Set(["g:2"]) }, made({})],
  ["another model", { models: new Set(["note"]) }, made({})],
  ["another model, and a part of this one", { models: new Set(["note", "slide"]), where: of("b") }, made({})],
  ["another value, of a record that comes", { where: of("b") }, made({ verb: "created", changed: ["deck"] })],
  [
    "another value, of a record that ends",
    { where: of("c") },
    made({ verb: "deleted", data: () => null, changed: [], dataBefore: { deck: "b" } }),
  ],
  ["another value, of a record that moves", { where: of("c") }, made({ changed: ["deck"], dataBefore: { deck: "b" } })],
])("[T18] a reader of %s is not asked", (_, view, entry) => {
  const index = createReaderIndex(models);
  index.add({}, { view: { models: undefined, groups: undefined, ...view }, clientId: "c1" });
  expect(index.concernedBy([entry]).size).toBe(0);
});

test("[T18] a reader is looked up by what few records have, and not by a state that thousands have", () => {
  const index = createReaderIndex(models);
  const readers = Array.from({ length: 100 }, (_, n) => ({ n }));
  for (const reader of readers)
    index.add(reader, {
      view: {
        models: undefined,
        groups: undefined,
        where: { slide: { state: "open", deck: { in: [`${reader.n}`, "all"] } } },
      },
      clientId: null,
    });
  expect([...index.concernedBy([made({ values: { deck: "7" } })])]).toEqual([readers[7]]);
  expect(index.concernedBy([made({ values: { deck: "all" } })]).size).toBe(100);
});
