import type { Conflict } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { choiceWords, conflictSentence, slideName } from "./conflict-words.ts";

const conflict = (change: Partial<Conflict>): Conflict =>
  ({
    action: "update",
    reason: "stale",
    holders: [],
    fields: ["title"],
    mine: { title: "M" },
    base: { title: "B" },
    theirs: { title: "T" },
    ...change,
  }) as Conflict;

test.each([
  [{}, "You and Ben both changed the title of “B”.", "Keep mine"],
  [{ fields: ["title", "notes", "order"] }, "You and Ben both changed the title, text and place of “B”.", "Keep mine"],
  [{ theirs: null }, "You changed “B”, and Ben deleted it meanwhile.", "Add it as a new slide"],
  [{ action: "delete" }, "You deleted “B”, and Ben changed it meanwhile.", "Delete it anyway"],
  [{ reason: "claim_lost" }, "You changed the title of “B”, and your turn had ended by then.", "Keep mine"],
  [{ reason: "claim_conflict", holders: [{}] }, "You changed the title of “B”, and Ben had it by then.", "Keep mine"],
] as const)("%o reads: %s", (change, sentence, mine) => {
  const it = conflict(change as Partial<Conflict>);
  expect(conflictSentence(it, "Ben", slideName(it, "T"))).toBe(sentence);
  expect(choiceWords(it).mine).toBe(mine);
});

test("a slide is called what it was called before, or what it is called now, or simply a slide", () => {
  expect(slideName(conflict({}), "T")).toBe("“B”");
  expect(slideName(conflict({ base: { notes: "" } }), "T")).toBe("“T”");
  expect(slideName(conflict({ base: {} }), undefined)).toBe("a slide");
});
