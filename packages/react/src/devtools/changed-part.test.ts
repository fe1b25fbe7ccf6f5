import { expect, test } from "vitest";
import { changedPart } from "./changed-part.ts";

const x = "x".repeat(100);

test.each([
  ["a word in the middle", "one two three", "one 2 three", { head: "one ", changed: "two", tail: " three" }],
  ["something put in", "one two three", "one three", { head: "one t", changed: "wo t", tail: "hree" }],
  ["a letter twice", "aaa", "aa", { head: "aa", changed: "a", tail: "" }],
  ["nothing", "same", "same", { head: "same", changed: "", tail: "" }],
  ["all of it", "one", "", { head: "", changed: "one", tail: "" }],
  ["half of a sign", "👩 here", "👨 here", { head: "", changed: "👩", tail: " here" }],
  [
    "a long text",
    `${x}new${x}`,
    `${x}old${x}`,
    { head: `…${"x".repeat(40)}`, changed: "new", tail: `${"x".repeat(40)}…` },
  ],
])("[V21] of a text that changed the part that differs is found: %s", (_, text, other, part) => {
  expect(changedPart(text, other)).toEqual(part);
});
