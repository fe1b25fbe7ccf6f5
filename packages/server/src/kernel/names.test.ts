import { isRecordId, isSyncGroup } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { isVisibleName, requestKey } from "./commits/rules/idempotency-key.ts";
import { checkGroups, groupsOf, organizationGroup } from "./schema/rules/sync-group.ts";

test.each(["a", "A-Z_0.9:~", "...", "a".repeat(255), "-"])("[H8] %s is an id", (id) => {
  expect(isRecordId(id)).toBe(true);
});

test.each([
  "",
  ".",
  "..",
  "a".repeat(256),
  ...["a b", "a/b", "a%2Fb", "é", "a\n", "a\u0000"],
  ...["😀", "a?b", "a#b", "'", '"', "\\"],
])("[H8] %j is none", (id) => {
  expect(isRecordId(id)).toBe(false);
});

test.each(["deck:1", "a_1:x:y", `k:${"x".repeat(200)}`, "user:näme😀", "org:org_1"])(
  "[M6] %s is a sync group",
  (group) => {
    expect(isSyncGroup(group)).toBe(true);
  },
);

test.each([
  ...["deck", "deck:", ":x", "Deck:1"],
  ...["1deck:1", "deck:a b", "deck:a\n"],
  `k:${"x".repeat(201)}`,
  "deck:\u0000",
  "de-ck:1",
  "",
])("[M6] %j is none", (group) => {
  expect(isSyncGroup(group)).toBe(false);
});

test("[M6] a row is filed under its group fields, each group once, absent and null ones not", () => {
  const model = {
    fields: { a: { type: "string" }, b: { type: "number" }, c: { type: "string" } },
    groups: [
      { kind: "x", from: "a" },
      { kind: "x", from: "c" },
      { kind: "n", from: "b" },
      { kind: "self", from: "id" },
    ],
  } as const;
  expect(groupsOf(model, { id: "1", a: "same", c: "same", b: 0 })).toEqual(["n:0", "self:1", "x:same"]);
  expect(groupsOf(model, { id: "1", a: null as never })).toEqual(["self:1"]);
  expect(groupsOf({}, { id: "1" })).toEqual([]);
  expect(groupsOf(model, { id: "1", a: "", c: "with space", b: 1 })).toEqual(["n:1", "self:1"]);
  expect(groupsOf(model, { id: "1", a: "\u{1f600}".repeat(200), c: "\u{1f600}".repeat(201) })).toHaveLength(2);
  expect(checkGroups(model, { a: "with space" })).toMatchObject({ code: "invalid_sync_group", param: "data.a" });
  expect(checkGroups(model, { a: "" })).toMatchObject({ code: "invalid_sync_group" });
  expect(checkGroups(model, { a: "fine", c: null as never })).toBeUndefined();
  expect(organizationGroup("org_1")).toBe("org:org_1");
});

test("[M6] a field named like a member of every object is absent until it is written", () => {
  const model = { fields: { toString: { type: "string" } }, groups: [{ kind: "x", from: "toString" }] } as never;
  expect(groupsOf(model, { id: "1" })).toEqual([]);
  expect(checkGroups(model, { id: "1" })).toBeUndefined();
});

test.each([
  ["none", undefined, undefined, { key: undefined }],
  ["in the header", "k1", undefined, { key: "k1" }],
  ["in the body", undefined, "k1", { key: "k1" }],
  ["in both, the same", "k1", "k1", { key: "k1" }],
  ["in quotes", '"k1"', undefined, { key: "k1" }],
  ["in quotes and the body", '"k1"', "k1", { key: "k1" }],
  ["one quote is a key", '"', undefined, { key: '"' }],
  ["255 characters", "k".repeat(255), undefined, { key: "k".repeat(255) }],
])("[I7] a key %s", (_, header, body, found) => {
  expect(requestKey(header, body)).toEqual(found);
});

test.each([
  ["an empty header", "", undefined, "invalid_idempotency_key"],
  ["nothing between the quotes", '""', undefined, "invalid_idempotency_key"],
  ["256 characters", "k".repeat(256), undefined, "invalid_idempotency_key"],
  ["a space", "a b", undefined, "invalid_idempotency_key"],
  ["a letter beyond ASCII", "é", undefined, "invalid_idempotency_key"],
  ["an empty one in the body", undefined, "", "invalid_idempotency_key"],
  ["a line break in the body", undefined, "a\n", "invalid_idempotency_key"],
  ["header and body that differ", "a", "b", "idempotency_key_mismatch"],
])("[I7] refused: %s", (_, header, body, code) => {
  expect(requestKey(header, body)).toMatchObject({ code });
});

test("[I7] a commit's name follows the same rule", () => {
  expect(["~", "!", "ctx_1", "", " ", "a b", "\u007f"].map(isVisibleName)).toEqual([
    ...[true, true, true, false],
    ...[false, false, false],
  ]);
});
