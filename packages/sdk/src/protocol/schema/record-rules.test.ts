import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import type { Model } from "./model-schema.ts";
import { brokenRecordRule, faultOfTransitions, faultOfWriters, type RuleWriter } from "./record-rules.ts";

const model: Model = {
  fields: {
    status: {
      type: "enum",
      values: ["todo", "doing", "done"],
      nullable: true,
      default: "todo",
      transitions: { todo: ["doing"] },
    },
    own: { type: "string", writableBy: ["$createdBy"] },
    led: { type: "string", writableBy: ["group:role:owner"] },
    kept: { type: "string", writableBy: [] },
    slug: { type: "string", readonlyAfterCreate: true },
    free: { type: "json" },
  },
};
const owned: Model = { fields: { free: { type: "string" } }, writableBy: ["$createdBy", "group:role:owner"] };
const ann: RuleWriter = { name: "user:ann", isMember: () => false };
const owner: RuleWriter = { name: "user:eve", isMember: (group) => group === "role:owner" };
/** A client: it does not know the groups of its token. */
const client: RuleWriter = { name: undefined, isMember: () => undefined };

const row = (data: JsonObject, createdBy = "user:ben") => ({ data, createdBy });
const update = (values: JsonObject, before = row({})) => ({ action: "update", values, before }) as const;
const create = (values: JsonObject) => ({ action: "create", values, before: undefined }) as const;
const replace = (values: JsonObject, before: ReturnType<typeof row>) => ({ action: "create", values, before }) as const;

test.each([
  ["a transition", model, update({ status: "doing" }, row({ status: "todo" })), ann, undefined],
  ["none of these", model, update({ status: "done" }, row({ status: "todo" })), ann, "transitions"],
  ["a value that is not listed", model, update({ status: "todo" }, row({ status: "done" })), ann, "transitions"],
  ["the same value", model, update({ status: "done" }, row({ status: "done" })), ann, undefined],
  ["a first value", model, update({ status: "done" }, row({ status: null })), ann, undefined],
  ["a value over the default", model, update({ status: "done" }, row({})), ann, "transitions"],
  ["no value", model, update({ status: null }, row({ status: "todo" })), ann, "transitions"],
  ["a created value", model, create({ status: "done" }), ann, undefined],
  ["a secret key's transition", model, update({ status: "done" }, row({ status: "todo" })), undefined, "transitions"],
  ["another's field", model, update({ own: "a" }), ann, "writableBy"],
  ["the creator's field", model, update({ own: "a" }, row({}, "user:ann")), ann, undefined],
  ["a field that stays", model, update({ own: "a", kept: "b" }, row({ own: "a", kept: "b" })), ann, undefined],
  ["a created field", model, create({ own: "a" }), ann, undefined],
  ["a group's field", model, update({ led: "a" }), owner, undefined],
  ["a group's field of others", model, update({ led: "a" }), ann, "writableBy"],
  ["a created field of a group", model, create({ led: "a" }), ann, "writableBy"],
  ["a secret key's field", model, update({ kept: "a" }), undefined, undefined],
  ["a field for secret keys", model, create({ kept: "a" }), owner, "writableBy"],
  ["a field of a group, to a client", model, update({ led: "a" }), client, undefined],
  ["a field of an unknown creator", model, update({ own: "a" }), client, undefined],
  ["a field without rules", model, update({ free: 1 }), ann, undefined],
  ["a replaced value", model, replace({ status: "done" }, row({ status: "todo" })), ann, "transitions"],
  ["a replaced value that is left out", model, replace({}, row({ status: "todo" })), ann, "transitions"],
  [
    "a replaced value that stays",
    model,
    replace({ status: "todo" }, row({ status: "todo" }, "user:ann")),
    ann,
    undefined,
  ],
  ["a replaced fixed value", model, replace({ slug: "b" }, row({ slug: "a" }, "user:ann")), ann, "readonlyAfterCreate"],
  ["a fixed value that is left out", model, replace({}, row({ slug: "a" })), undefined, "readonlyAfterCreate"],
  ["a fixed value that stays", model, replace({ slug: "a" }, row({ slug: "a" }, "user:ann")), ann, undefined],
  ["a created fixed value", model, create({ slug: "a" }), ann, undefined],
  ["another's replaced field", model, replace({ own: "a" }, row({ own: "a" })), ann, "writableBy"],
  ["another's field that is left out", model, replace({}, row({ own: "a" })), ann, "writableBy"],
  ["an own replaced field", model, replace({ own: "b" }, row({ own: "a" }, "user:ann")), ann, undefined],
  ["a replaced record", owned, replace({ free: "a" }, row({ free: "a" })), ann, "writableBy"],
  ["a record", owned, update({ free: "a" }), ann, "writableBy"],
  ["a record that stays", owned, update({ free: "a" }, row({ free: "a" })), ann, undefined],
  ["an own record", owned, update({ free: "a" }, row({}, "user:ann")), ann, undefined],
  ["a record of a group", owned, { action: "delete", values: {}, before: row({}) } as const, owner, undefined],
  ["a deletion", owned, { action: "delete", values: {}, before: row({}) } as const, ann, "writableBy"],
  [
    "an erasure of what was deleted",
    owned,
    { action: "delete", values: {}, before: undefined } as const,
    ann,
    "writableBy",
  ],
  ["a creation", owned, create({ free: "a" }), ann, undefined],
])("[M20] [M42] [M21] %s", (_, declared, write, writer, rule) => {
  expect(brokenRecordRule(declared, write, writer)?.rule).toBe(rule);
});

test("[M20] [M21] a demand says what is possible", () => {
  const demandOf = (write: ReturnType<typeof update>) => brokenRecordRule(model, write, ann)?.demand;
  expect(demandOf(update({ status: "done" }, row({ status: "todo" })))).toBe("can go from todo only to doing");
  expect(demandOf(update({ status: "todo" }, row({ status: "done" })))).toBe("can go from done to no other value");
  expect(demandOf(update({ own: "a" }))).toBe("can be written only by the creator of the record");
  expect(demandOf(update({ led: "a" }))).toBe("can be written only by members of role:owner");
  expect(demandOf(update({ kept: "a" }))).toBe("can be written only by a secret key");
});

test("[M20] [M21] what cannot be judged cannot be declared", () => {
  expect(faultOfTransitions({ type: "string", transitions: {} })).toContain("Only an enum");
  expect(faultOfTransitions({ type: "enum", values: ["a"], transitions: { a: ["b"] } })).toContain('"b"');
  expect(faultOfTransitions({ type: "enum", values: ["a"], transitions: { b: ["a"] } })).toContain('"b"');
  expect(faultOfTransitions({ type: "enum", values: ["a", "b"], transitions: { a: ["b"] } })).toBeUndefined();
  expect(faultOfWriters(["$createdBy", "group:a:b"], (name) => name === "a:b")).toBeUndefined();
  expect(faultOfWriters(["group:b"], () => false)).toContain('"group:b"');
  expect(faultOfWriters(["owner"], () => true)).toContain('"owner"');
});
