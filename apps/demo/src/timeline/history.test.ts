import { describe, expect, test } from "vitest";
import { deckAt, type Entry, momentsOf } from "./history.ts";
import { momentWords } from "./moment-words.ts";

let syncId = 0;
const entry = (what: Partial<Entry>): Entry => ({
  syncId: ++syncId,
  model: "slide",
  id: "s1",
  verb: "created",
  data: null,
  changedFields: null,
  clientTxId: `t${syncId}`,
  actor: "ada",
  participantKind: "user",
  createdAt: "2026-01-01T00:00:00.000Z",
  ...what,
});

const row = (title: string, order: number, notes = "") => ({ deckId: "d1", title, order, notes });
const log: readonly Entry[] = [
  entry({ model: "document", id: "d1", data: { title: "Deck" }, clientTxId: "begin" }),
  entry({ id: "s1", data: row("One", 1) }),
  entry({ id: "s2", data: row("Two", 2) }),
  entry({ id: "s1", verb: "updated", data: row("First", 1), changedFields: ["title"], actor: "ben" }),
  entry({ id: "s1", verb: "updated", data: row("First", 2), changedFields: ["order"], clientTxId: "swap" }),
  entry({ id: "s2", verb: "updated", data: row("Two", 1), changedFields: ["order"], clientTxId: "swap" }),
  entry({ id: "s2", verb: "deleted" }),
  entry({ id: "s2", data: row("Two", 1) }),
  entry({ id: "s2", verb: "archived", data: row("Two", 1) }),
];
const moments = momentsOf(log);
const titlesAt = (count: number) => deckAt(moments, count).slides.map(({ title }) => title);

describe("[Y12] a deck at a moment", () => {
  test.each([
    [0, []],
    [1, []],
    [2, ["One"]],
    [3, ["One", "Two"]],
    [4, ["First", "Two"]],
    [5, ["Two", "First"]],
    [6, ["First"]],
    [7, ["Two", "First"]],
    [8, ["First"]],
  ])("after %i moments", (count, titles) => expect(titlesAt(count)).toEqual(titles));

  test("entries of one write are one moment, with its last position", () => {
    expect(moments.map(({ entries }) => entries.length)).toEqual([1, 1, 1, 1, 2, 1, 1, 1]);
    expect(moments[4]?.syncId).toBe(log[5]?.syncId);
    expect(deckAt(moments, 5).changed).toEqual(new Set(["s1", "s2"]));
  });

  test("of the same place, the id decides, as everywhere", () => {
    const same = momentsOf([entry({ id: "b", data: row("B", 1) }), entry({ id: "a", data: row("A", 1) })]);
    expect(deckAt(same, 2).slides.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("the deck's title is that of its document", () => {
    expect(deckAt(moments, 0).title).toBe("");
    expect(deckAt(moments, 8).title).toBe("Deck");
  });
});

const nameOf = (participant: string) =>
  ({ "user:ben": "Ben", "agent:proofreader": "the proofreader" })[participant] ?? "you";

test("[Y12] what an agent did says for whom and why", () => {
  const [first] = momentsOf([entry({ data: row("One", 1) })]);
  const why = { reason: "Spelling and punctuation", onBehalfOf: "user:ben" };
  const by = { actor: "proofreader", participantKind: "agent" } as const;
  const [change] = momentsOf([
    entry({ verb: "updated", data: row("One", 1, "x"), changedFields: ["notes"], ...by, ...why }),
  ]);
  if (!first || !change) throw new Error("Two moments were made.");
  expect(momentWords(change, deckAt([first], 1), nameOf)).toBe(
    "The proofreader changed the text of “One” for Ben. Spelling and punctuation.",
  );
});

test("[Y12] each moment is a sentence", () => {
  const said = moments.map((moment, at) => momentWords(moment, deckAt(moments, at), nameOf));
  expect(said).toEqual([
    "You began this deck.",
    "You added “One”.",
    "You added “Two”.",
    "Ben renamed “One” to “First”.",
    "You moved “First”, and 1 more.",
    "You deleted “Two”.",
    "You added “Two”.",
    "You put “Two” away.",
  ]);
});

test.each([
  [["title", "notes"], "You changed the title and text of “One”."],
  [["notes"], "You changed the text of “One”."],
  [["settings"], "You changed “One”."],
])("a change of %j", (changedFields, sentence) => {
  const [first] = momentsOf([entry({ data: row("One", 1) })]);
  const [change] = momentsOf([entry({ verb: "updated", data: row("New", 1, "x"), changedFields })]);
  if (!first || !change) throw new Error("Two moments were made.");
  expect(momentWords(change, deckAt([first], 1), nameOf)).toBe(sentence);
});
