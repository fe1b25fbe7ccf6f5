import type { Field, Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { bothOf, filedRecords } from "./filed-records.ts";

const declared = (fields: Record<string, Field>, groups?: Model["groups"]) =>
  new Map([["slide", { name: "Slide", model: { fields, ...(groups && { groups }) }, changes: [] }]]);
const deckId: Field = { type: "string", index: true };
const byDeck = [{ kind: "deck", from: "deckId" }];
const filter = (name: string, ...values: string[]) => ({
  ...{ column: { kind: "field", name, type: "string" }, operator: "in", values },
});

test("[R69] records of some groups are found by the indexed fields that name the groups", () => {
  const of = (...groups: string[]) => filedRecords(groups, declared({ deckId }, byDeck)).get("slide");
  expect(of("deck:a", "user:b", "deck:c:d")).toEqual([[filter("deckId", "a", "c:d")]]);
  // A record of the model can be in none of these groups.
  expect(of("user:b", "decks:a")).toEqual([]);
  const two = declared({ deckId, owner: deckId }, [...byDeck, { kind: "user", from: "owner" }]);
  expect(filedRecords(["deck:a", "user:b"], two).get("slide")).toEqual([
    [filter("deckId", "a")],
    [filter("owner", "b")],
  ]);
  expect(filedRecords(["deck:a"], two).get("slide")).toEqual([[filter("deckId", "a")]]);
  expect(filedRecords(["slide:a"], declared({}, [{ kind: "slide", from: "id" }])).get("slide")).toEqual([
    [{ column: { kind: "id" }, operator: "in", values: ["a"] }],
  ]);
  expect(filedRecords(["deck:a"], declared({ deckId })).get("slide")).toEqual([]);
});

test.each<[string, Field]>([
  ["without an index", { type: "string" }],
  ["with an index of words", { type: "string", index: "text" }],
  ["of numbers, which have several spellings", { type: "number", index: true }],
  ["of date-times", { type: "datetime", index: true }],
])("[R69] a field %s is of no help", (_, field) => {
  expect(filedRecords(["deck:1"], declared({ deckId: field }, byDeck)).has("slide")).toBe(false);
});

test("[R69] conditions of the reader's own hold beside those of groups", () => {
  const followed = new Map([["slide", [[filter("title", "x")], [filter("title", "y")]]]]) as never;
  const filed = filedRecords(["deck:a"], declared({ deckId }, byDeck));
  expect([...bothOf(followed, filed)]).toEqual([
    [
      "slide",
      [
        [filter("title", "x"), filter("deckId", "a")],
        [filter("title", "y"), filter("deckId", "a")],
      ],
    ],
  ]);
  expect(bothOf(new Map(), filed)).toEqual(filed);
  expect(bothOf(filed, new Map())).toEqual(filed);
});
