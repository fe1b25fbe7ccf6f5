import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../protocol/json.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { type Conditions, compileConditions, compileSearch } from "./conditions.ts";

const model: Model = {
  fields: {
    title: { type: "string", nullable: true },
    order: { type: "number" },
    due: { type: "datetime" },
    done: { type: "boolean" },
    tags: { type: "array" },
    meta: { type: "json" },
  },
};
const matches = (where: Conditions, data: JsonObject) => compileConditions("task", model, where)(data);

test.each<[Conditions, JsonObject, boolean]>([
  [{ due: "2030-01-01T01:00:00+01:00" }, { due: "2030-01-01T00:00:00Z" }, true],
  [{ due: { not: "2030-01-01T01:00:00+01:00" } }, { due: "2030-01-01T00:00:00Z" }, false],
  [{ due: { in: ["2030-01-01T01:00:00+01:00"] } }, { due: "2030-01-01T00:00:00.000Z" }, true],
  [{ due: { gt: "2030-01-01T00:00:00.0001Z" } }, { due: "2030-01-01T00:00:00.0002Z" }, true],
  [{ due: "2030-01-01T00:00:00.0001Z" }, { due: "2030-01-01T00:00:00.0002Z" }, false],
  [{ due: new Date("2030-01-01T00:00:00Z") }, { due: "2030-01-01T00:00:00Z" }, true],
  [{ due: null }, { due: "soon" }, true],
  [{ title: { lt: "\u{1f600}" } }, { title: "\uff21" }, true],
  [{ order: 2 }, { order: "2" }, false],
  [{ title: { not: "a" } }, { title: "b" }, true],
  [{ title: { not: "a" } }, { title: "a" }, false],
  [{ title: { not: "a" } }, {}, true],
  [{ title: { not: null } }, {}, false],
  [{ title: { not: null } }, { title: null }, false],
  [{ title: { not: null } }, { title: "" }, true],
  [{ title: { in: ["a", null] } }, {}, true],
  [{ title: { in: [] } }, { title: "a" }, false],
  [{ title: { notIn: ["a", "b"] } }, { title: "c" }, true],
  [{ title: { notIn: ["a", "b"] } }, { title: "b" }, false],
  [{ title: { notIn: ["a"] } }, {}, true],
  [{ title: { notIn: [] } }, {}, true],
  [{ order: { notIn: [1, 2] } }, { order: 2 }, false],
  [{ title: { contains: "lo w" } }, { title: "hello world" }, true],
  [{ title: { contains: "LO" } }, { title: "hello" }, false],
  [{ title: { contains: "" } }, { title: "" }, true],
  [{ title: { contains: "" } }, {}, false],
  [{ title: { startsWith: "he" } }, { title: "hello" }, true],
  [{ title: { startsWith: "el" } }, { title: "hello" }, false],
  [{ title: { startsWith: "he", contains: "x" } }, { title: "hello" }, false],
  [{ tags: { contains: "x" } }, { tags: ["y", "x"] }, true],
  [{ tags: { contains: "x" } }, { tags: ["xy"] }, false],
  [{ tags: { contains: { a: 1 } } }, { tags: [{ a: 1 }] }, true],
  [{ tags: { contains: "x" } }, {}, false],
  [{ meta: { contains: "x" } }, { meta: ["x"] }, true],
  [{ due: { not: new Date(0) } }, { due: "1970-01-01T00:00:00.000Z" }, false],
  [{ or: [] }, {}, false],
  [{ and: [] }, {}, true],
  [{ or: [{ title: "a" }, { order: { gt: 3 } }] }, { title: "b", order: 4 }, true],
  [{ or: [{ title: "a" }, { order: { gt: 3 } }] }, { title: "b", order: 3 }, false],
  [{ done: true, or: [{ title: "a" }, { title: "b" }] }, { title: "a", done: false }, false],
  [
    { and: [{ or: [{ title: "a" }, { title: "b" }] }, { or: [{ order: 1 }, { order: 2 }] }] },
    { title: "b", order: 1 },
    true,
  ],
])("[R24] %j of %j: %s", (where, data, expected) => {
  expect(matches(where, data)).toBe(expected);
});

test.each<[string, Json, boolean]>([
  ["report write", "Write the REPORT", true],
  ["port", "Write the report", true],
  ["report send", "Write the report", false],
  [" \t\u00a0report\u3000 ", "Write the report", true],
  ["", "anything", true],
  [" ", null, true],
  ["a", null, false],
  ["ÄRGER", "viel Ärger", true],
  ["a\u0308rger", "\u00c4RGER", true],
  ["arger", "Ärger", false],
  ["straße", "Große STRAßE", true],
  // As elsewhere in Unicode, ß in capitals is ẞ; SS is another spelling.
  ["STRAẞE", "Straße", true],
  ["strasse", "Straße", false],
  ["οδος", "ΟΔΟΣ", true],
  ["οδοσ", "οδός οδος", true],
  ["istanbul", "İSTANBUL", true],
  ["İstanbul", "istanbul", true],
  ["diyarbakır", "DİYARBAKIR", false],
  ["%", "50 percent", false],
  ["7", 7, false],
])("[R44] [R89] the search %j in %j: %s", (search, title, expected) => {
  expect(matches({ title: { search } }, { title })).toBe(expected);
});

test("[R44] [R90] a search without a field looks in all fields that are indexed for it, together", () => {
  const text = { type: "string", index: "text" } as const;
  const test = compileSearch({ fields: { title: text, body: text, other: { type: "string" } } }, "logo PRINT");
  expect(test({ title: "The logo", body: "only in print" })).toBe(true);
  expect(test({ title: "The logo", other: "in print" })).toBe(false);
  expect(test({ title: "The logopr", body: "int" })).toBe(false);
});

test("[R18] a search needs a text, and without a field one that is indexed for it", () => {
  const invalid = (param: string) => expect.objectContaining({ name: "SyncError", param });
  expect(() => matches({ title: { search: 3 } }, {})).toThrow(invalid("where.title.search"));
  expect(() => compileSearch(model, "a")).toThrow(invalid("search"));
  expect(() => compileSearch({ fields: { a: { type: "string", index: "text" } } }, 3)).toThrow(invalid("search"));
});

test("[R24] a field called or is a field", () => {
  const odd: Model = { fields: { or: { type: "string" } } };
  expect(compileConditions("task", odd, { or: "a" })({ or: "a" })).toBe(true);
  expect(compileConditions("task", odd, { or: { not: "a" } })({ or: "a" })).toBe(false);
});

test.each<[Conditions, string]>([
  [{ or: { title: "a" } }, "where.or"],
  [{ or: ["a"] }, "where.or[0]"],
  [{ or: [{ title: "a" }, { titel: "b" }] }, "where.or[1].titel"],
  [{ and: [{ or: [{ title: { in: "a" } }] }] }, "where.and[0].or[0].title.in"],
  [{ title: { contains: 3 } }, "where.title.contains"],
  [{ title: { startsWith: null } }, "where.title.startsWith"],
  [{ title: { notIn: "a" } }, "where.title.notIn"],
  [{ title: { not: undefined } }, "where.title.not"],
  [{ title: { like: "a" } }, "where.title"],
])("[R18] %j is refused at %s", (where, param) => {
  expect(() => compileConditions("task", model, where)).toThrow(expect.objectContaining({ name: "SyncError", param }));
});

const value = fc.constantFrom("a", "ab", "b", "", null);
const aCondition: fc.Arbitrary<Conditions> = fc.oneof(
  fc.record({ title: value }),
  fc.record({ title: fc.record({ not: value }) }),
  fc.record({ title: fc.record({ in: fc.array(value, { maxLength: 3 }) }) }),
  fc.record({ title: fc.record({ contains: fc.constantFrom("a", "b", "") }) }),
  fc.record({ order: fc.record({ gte: fc.nat(3) }) }),
);
const conditions = fc.letrec<{ all: Conditions }>((tie) => ({
  all: fc.oneof(
    { maxDepth: 3 },
    aCondition,
    fc.record({ or: fc.array(tie("all"), { maxLength: 3 }) }),
    fc.record({ and: fc.array(tie("all"), { maxLength: 3 }) }),
  ),
})).all;

test("[R24] [R80] or, and, not and notIn are what logic says of them, to any depth", () => {
  const data = fc.record({ title: value, order: fc.nat(4) });
  fc.assert(
    fc.property(conditions, conditions, data, fc.array(value, { maxLength: 3 }), (one, other, row, several) => {
      const [a, b] = [matches(one, row), matches(other, row)];
      expect(matches({ or: [one, other] }, row)).toBe(a || b);
      expect(matches({ and: [one, other] }, row)).toBe(a && b);
      expect(matches({ title: { notIn: several } }, row)).toBe(!matches({ title: { in: several } }, row));
      expect(matches({ or: several.map((title) => ({ title })) }, row)).toBe(matches({ title: { in: several } }, row));
    }),
    { numRuns: 500 },
  );
});
