import { readFileSync } from "node:fs";
import type { Field, Model, ModelSchema } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { isRefusal } from "../../refusal.ts";
import { checkIndexes, checkSchema, diffSchemas, readRenames } from "./schema-push.ts";

const one = (fields: Record<string, Field>, rest: Partial<Model> = {}, name = "m"): ModelSchema => ({
  models: { [name]: { fields, ...rest } },
});
const many = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const text = { type: "string" } as const;

test.each<[string, ModelSchema]>([
  [
    "the reference schema",
    JSON.parse(readFileSync(new URL("../../../../reference-schema.json", import.meta.url), "utf8")) as ModelSchema,
  ],
  ["a model without fields", one({})],
  ["200 models", { models: Object.fromEntries(many(200, "m").map((name) => [name, { fields: {} }])) }],
  ["200 fields", one(Object.fromEntries(many(200, "f").map((name) => [name, text])))],
  ["names of 63 characters", one({ [`f${"x".repeat(62)}`]: text }, {}, `m${"x".repeat(62)}`)],
  [
    "groups from text, numbers and the id",
    one(
      { a: text, n: { type: "integer" } },
      {
        groups: [
          { kind: "a", from: "a" },
          { kind: "n", from: "n" },
          { kind: "self", from: "id" },
        ],
      },
    ),
  ],
  ["an id that is declared as text", one({ id: text })],
  [
    "references, of a text and of a list, whatever the case",
    one({ a: { ...text, references: "M" }, b: { type: "array", references: "m" } }),
  ],
  [
    "inverse relations of a model, also of one that references itself",
    one({ a: { ...text, references: "M", inverse: "parts" }, bId: { ...text, references: "m", inverse: "others" } }),
  ],
  ["names of every object's members", one({ constructor: text, toString: text })],
])("[M2] %s is well formed", (_, schema) => {
  expect(checkSchema(schema)).toBeUndefined();
});

test.each<[string, ModelSchema, string]>([
  ["no model", { models: {} }, "models"],
  ["201 models", { models: Object.fromEntries(many(201, "m").map((name) => [name, { fields: {} }])) }, "models"],
  ["201 fields", one(Object.fromEntries(many(201, "f").map((name) => [name, text]))), "models.m"],
  ["two names that differ in case only", { models: { Deck: { fields: {} }, deck: { fields: {} } } }, "models.deck"],
  ["a name with a dash", one({}, {}, "a-b"), "models.a-b"],
  ["a name that begins with a digit", one({}, {}, "1a"), "models.1a"],
  ["an empty name", one({}, {}, ""), "models."],
  ["a field of 64 characters", one({ [`f${"x".repeat(63)}`]: text }), `models.m.fields.f${"x".repeat(63)}`],
  ["an enum without values", one({ a: { type: "enum" } }), "models.m.fields.a"],
  ["values of what is no enum", one({ a: { type: "string", values: ["x"] } }), "models.m.fields.a"],
  ["a default of another type", one({ a: { type: "number", default: "1" } }), "models.m.fields.a"],
  [
    "a default that is no value of the enum",
    one({ a: { type: "enum", values: ["x"], default: "y" } }),
    "models.m.fields.a",
  ],
  ["a null default of what may not be null", one({ a: { type: "string", default: null } }), "models.m.fields.a"],
  ["[M10] a reference to no model", one({ a: { ...text, references: "deck" } }), "models.m.fields.a"],
  ["[M10] a reference in a number", one({ a: { type: "number", references: "m" } }), "models.m.fields.a"],
  ["[M16] an inverse of no reference", one({ a: { ...text, inverse: "x" } }), "models.m.fields.a"],
  ["[M16] an inverse named as a field", one({ a: { ...text, references: "M", inverse: "a" } }), "models.m.fields.a"],
  ["[M16] an inverse named id", one({ a: { ...text, references: "m", inverse: "id" } }), "models.m.fields.a"],
  [
    "[M16] an inverse named as another relation",
    one({ otherId: { ...text, references: "m" }, a: { ...text, references: "m", inverse: "other" } }),
    "models.m.fields.a",
  ],
  [
    "[M16] two inverses of one name",
    one({ a: { ...text, references: "m", inverse: "x" }, b: { ...text, references: "m", inverse: "x" } }),
    "models.m.fields.b",
  ],
  ["an id with a default", one({ id: { type: "string", default: "x" } }), "models.m.fields.id"],
  ["an id that is a number", one({ id: { type: "number" } }), "models.m.fields.id"],
  ["a group from no field", one({ a: text }, { groups: [{ kind: "k", from: "b" }] }), "models.m.groups"],
  [
    "a group from every object's member",
    one({ a: text }, { groups: [{ kind: "k", from: "toString" }] }),
    "models.m.groups",
  ],
  ["a group from json", one({ a: { type: "json" } }, { groups: [{ kind: "k", from: "a" }] }), "models.m.groups"],
  [
    "the organization's own kind of group",
    one({ a: text }, { groups: [{ kind: "org", from: "a" }] }),
    "models.m.groups",
  ],
])("[M2] %s is refused, and the place is named", (_, schema, param) => {
  expect(checkSchema(schema)).toMatchObject({ code: "invalid_schema", param });
});

const problems = (before: ModelSchema, after: ModelSchema, filled = true) =>
  diffSchemas(before, after, () => filled).problems.map(({ field }) => field ?? "(model)");

test.each<[string, Field, Field]>([
  ["any type to json", { type: "array" }, { type: "json" }],
  ["integer to number", { type: "integer" }, { type: "number" }],
  ["enum to text", { type: "enum", values: ["a"] }, { type: "string" }],
  ["datetime to text", { type: "datetime" }, { type: "string" }],
  ["one more value", { type: "enum", values: ["a"] }, { type: "enum", values: ["b", "a"] }],
  ["null allowed", { type: "string" }, { type: "string", nullable: true }],
  ["no longer required", { type: "string", required: true }, { type: "string" }],
  ["another default", { type: "string", default: "a" }, { type: "string", default: "b" }],
])("[M3] %s lands at once", (_, before, after) => {
  expect(problems(one({ a: before }), one({ a: after }))).toEqual([]);
});

test.each<[string, Record<string, Field>, Record<string, Field>, string[], string[]]>([
  ["a field dropped", { a: text, b: text }, { b: text }, ["a"], ["a"]],
  ["a field renamed in case", { a: text }, { A: text }, ["a"], ["a"]],
  ["number to integer", { a: { type: "number" } }, { a: { type: "integer" } }, ["a"], ["a"]],
  ["text to enum", { a: text }, { a: { type: "enum", values: ["x"] } }, ["a"], ["a"]],
  ["json to text", { a: { type: "json" } }, { a: text }, ["a"], ["a"]],
  [
    "a value removed",
    { a: { type: "enum", values: ["x", "y"] } },
    { a: { type: "enum", values: ["y"] } },
    ["a"],
    ["a"],
  ],
  ["null no longer allowed", { a: { ...text, nullable: true } }, { a: text }, ["a"], []],
  ["an old field becomes required", { a: text }, { a: { ...text, required: true } }, ["a"], []],
  ["a new required field", {}, { a: { ...text, required: true } }, ["a"], []],
  ["a new required field of every object's", {}, { toString: { ...text, required: true } }, ["toString"], []],
  ["a new required field with a default", {}, { a: { ...text, required: true, default: "x" } }, [], []],
])("[M3] %s: told while records exist, and otherwise if it hides", (_, before, after, filled, empty) => {
  expect(problems(one(before), one(after), true)).toEqual(filled);
  expect(problems(one(before), one(after), false)).toEqual(empty);
});

test("[M3] a dropped model is a problem, a new one is not", () => {
  expect(problems(one({}, {}, "a"), one({}, {}, "b"))).toEqual(["(model)"]);
  expect(problems(one({}, {}, "a"), { models: { a: { fields: {} }, b: { fields: {} } } })).toEqual([]);
});

test("[M4] models whose group rules changed are regrouped, under their new name", () => {
  const grouped = (from: string, name: string) => one({ a: text, b: text }, { groups: [{ kind: "k", from }] }, name);
  expect(diffSchemas(grouped("a", "deck"), grouped("b", "Deck"), () => true).regrouped).toEqual(["Deck"]);
  expect(diffSchemas(grouped("a", "deck"), grouped("a", "deck"), () => true).regrouped).toEqual([]);
});

const before = one({ a: text, b: text });
const renamed = (after: Record<string, Field>, ...renames: { model: string; from: string; to: string }[]) => {
  const found = readRenames(before, { ...one(after), renames });
  return isRefusal(found) ? (found.param ?? "") : [...found];
};

test.each([
  ["to a new field", { c: text, b: text }, [{ model: "M", from: "a", to: "c" }], [["m", { a: "c" }]]],
  [
    "two at once",
    { c: text, d: text },
    [
      { model: "m", from: "a", to: "c" },
      { model: "m", from: "b", to: "d" },
    ],
    [["m", { a: "c", b: "d" }]],
  ],
  ["of what stays", { a: text, c: text }, [{ model: "m", from: "a", to: "c" }], "renames[0]"],
  ["to what was there", { b: text }, [{ model: "m", from: "a", to: "b" }], "renames[0]"],
  ["to what is not declared", { b: text }, [{ model: "m", from: "a", to: "c" }], "renames[0]"],
  ["of what never was", { c: text }, [{ model: "m", from: "z", to: "c" }], "renames[0]"],
  ["in no model", { c: text }, [{ model: "n", from: "a", to: "c" }], "renames[0]"],
  [
    "twice to one",
    { c: text },
    [
      { model: "m", from: "a", to: "c" },
      { model: "m", from: "b", to: "c" },
    ],
    "renames[1]",
  ],
  [
    "one twice",
    { c: text, d: text },
    [
      { model: "m", from: "a", to: "c" },
      { model: "m", from: "a", to: "d" },
    ],
    "renames[1]",
  ],
  ["of a member of every object", { c: text }, [{ model: "m", from: "toString", to: "c" }], "renames[0]"],
] as [string, Record<string, Field>, { model: string; from: string; to: string }[], unknown][])(
  "[M8] a rename %s",
  (_, after, renames, wanted) => {
    expect(renamed(after, ...renames)).toEqual(wanted);
  },
);

test.each([
  ["datetime", "string", true],
  ["string", "json", true],
  ["array", "json", true],
  ["number", "json", true],
  ["integer", "number", false],
  ["enum", "string", false],
  ["datetime", "datetime", false],
] as const)(
  "[M9] [M38] whether other records meet a condition if a field of the type %s becomes %s",
  (from, to, isSo) => {
    const of = (type: Field["type"]) => ({
      models: { m: { fields: { a: { type, ...(type === "enum" && { values: ["x"] }) } } } },
    });
    expect(diffSchemas(of(from), of(to), () => true).recompared).toEqual(isSo ? ["m"] : []);
    expect(diffSchemas(of(from), of(to), () => false).recompared).toEqual([]);
  },
);

test("[M8] a renamed field is neither dropped nor new, but may not be narrowed on the way", () => {
  const problems = (to: Field) =>
    diffSchemas(before, one({ c: to, b: text }), () => true, new Map([["m", { a: "c" }]])).problems;
  expect(problems({ type: "string", required: false })).toEqual([]);
  expect(problems({ type: "number" })).toEqual([
    expect.objectContaining({ field: "a", problem: expect.stringMatching(/narrowed/) }),
  ]);
});

test("[G21] [G41] only a string can be indexed for searches, and such an index counts", () => {
  const indexed = (type: Field["type"]) =>
    checkSchema(one({ a: { type, index: "text", ...(type === "enum" && { values: ["a"] }) } }));
  expect(indexed("string")).toBeUndefined();
  for (const type of ["enum", "array", "json", "number", "datetime"] as const)
    expect(indexed(type), type).toMatchObject({ code: "invalid_schema", param: "models.m.fields.a" });
  const many = (count: number) =>
    one(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { type: "string", index: "text" }])));
  expect(checkIndexes(many(0), many(21))).toMatchObject({ code: "invalid_schema" });
});

test("[M11] a schema indexes up to 20 fields; one that has more may keep them, and not add to them", () => {
  const indexed = (count: number) => ({
    models: {
      note: {
        fields: Object.fromEntries(
          Array.from({ length: count }, (_, i) => [`f${i}`, { type: "string" as const, index: true }]),
        ),
      },
    },
  });
  expect(checkIndexes(indexed(0), indexed(20))).toBeUndefined();
  expect(checkIndexes(indexed(20), indexed(21))).toMatchObject({
    message: expect.stringContaining("index up to 20 fields (this schema: 21)"),
  });
  expect(checkIndexes(indexed(30), indexed(30))).toBeUndefined();
  expect(checkIndexes(indexed(30), indexed(31))).toBeDefined();
});
