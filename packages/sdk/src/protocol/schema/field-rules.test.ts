import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import { brokenRule, faultOfRules } from "./field-rules.ts";
import type { Field } from "./model-schema.ts";

const text = (more: Partial<Field>): Field => ({ type: "string", ...more });
const number = (more: Partial<Field>): Field => ({ type: "number", ...more });
const list = (more: Partial<Field>): Field => ({ type: "array", ...more });

test.each<[Field, Json, string | undefined]>([
  [text({ maxLength: 3 }), "abc", undefined],
  [text({ maxLength: 3 }), "abcd", "maxLength"],
  // One character of two units each.
  [text({ maxLength: 3 }), "🙂🙂🙂", undefined],
  [text({ maxLength: 3 }), "🙂🙂🙂🙂", "maxLength"],
  [text({ minLength: 2 }), "🙂", "minLength"],
  [text({ minLength: 2 }), "🙂🙂", undefined],
  [text({ minLength: 2 }), "a", "minLength"],
  [text({ minLength: 2 }), "ab", undefined],
  [text({ minLength: 1 }), "", "minLength"],
  [text({ maxLength: 0 }), "", undefined],
  [text({ maxLength: 0 }), "a", "maxLength"],
  [text({ minLength: 2, nullable: true }), null, undefined],
  [list({ maxLength: 2 }), [1, 2, 3], "maxLength"],
  [list({ minLength: 1 }), [], "minLength"],
  [list({ minLength: 1, maxLength: 2 }), [1], undefined],
  [list({ items: "string" }), ["a", ""], undefined],
  [list({ items: "string" }), ["a", 1], "items"],
  [list({ items: "string" }), [null], "items"],
  [list({ items: "integer" }), [1, 2], undefined],
  [list({ items: "integer" }), [1.5], "items"],
  [list({ items: "number" }), [1.5], undefined],
  [list({ items: "boolean" }), [true, "true"], "items"],
  [list({ items: "boolean", maxLength: 1 }), [true, false], "maxLength"],
  [number({ min: 1, max: 5 }), 1, undefined],
  [number({ min: 1, max: 5 }), 0.9, "min"],
  [number({ min: 1, max: 5 }), 5.1, "max"],
  [number({ min: 0 }), -0, undefined],
  [text({ readonlyAfterCreate: true }), "a", undefined],
])("[M15] %j takes %j: %s", (field, value, rule) => {
  expect(brokenRule(field, value, "create")?.rule).toBe(rule);
});

test("[M15] a demand is a sentence's end", () => {
  expect(brokenRule(text({ maxLength: 1 }), "ab", "create")?.demand).toBe("must have at most 1 character");
  expect(brokenRule(list({ minLength: 2 }), [], "update")?.demand).toBe("must have at least 2 items");
  expect(brokenRule(text({ readonlyAfterCreate: true }), "a", "update")?.rule).toBe("readonlyAfterCreate");
  expect(brokenRule(text({ readonlyAfterCreate: true, nullable: true }), null, "update")?.rule).toBe(
    "readonlyAfterCreate",
  );
});

test.each<[Field, RegExp | undefined]>([
  [text({ merge: "text" }), undefined],
  [{ type: "json", merge: "text" }, /Only a string/],
  [{ type: "enum", values: ["a"], merge: "text" }, /Only a string/],
  [text({ merge: "text", references: "slide" }), /Only a string without/],
  [text({ items: "string" }), /Only an array/],
  [list({ items: "number", references: "task" }), /must have "items": "string"/],
  [list({ items: "string", references: "task" }), undefined],
  [number({ maxLength: 3 }), /Only a string or an array/],
  [number({ minLength: 0 }), /Only a string or an array/],
  [text({ min: 0 }), /Only a number/],
  [{ type: "datetime", max: 3 }, /Only a number/],
  [text({ minLength: 3, maxLength: 2 }), /greater/],
  [number({ min: 3, max: 2 }), /greater/],
  [text({ minLength: 2, maxLength: 2 }), undefined],
  [{ type: "integer", min: 0, max: 0 }, undefined],
  [{ type: "json", readonlyAfterCreate: true }, undefined],
])("[M15] %j can be declared: %s", (field, fault) => {
  if (fault) expect(faultOfRules(field)).toMatch(fault);
  else expect(faultOfRules(field)).toBeUndefined();
});
