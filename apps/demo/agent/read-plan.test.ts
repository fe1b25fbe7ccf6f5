import { expect, test } from "vitest";
import { readPlan } from "./read-plan.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("a text is planned as a deck", () => {
  const { document, passages } = readPlan("notes.md", bytes("# Notes\n\n## One\n\nText.\n"));
  expect(document.title).toBe("Notes");
  expect(passages.map(({ slide }) => slide?.title)).toEqual(["One"]);
});

test.each([
  ["empty", bytes(" \n"), "notes.md is empty"],
  ["too large", bytes("a ".repeat(250_001)), "notes.md is larger than 500 kB"],
  ["another encoding", new Uint8Array([0x4e, 0xff, 0xfe]), "notes.md is not UTF-8 text"],
  ["no text at all", bytes("a\0b"), "notes.md is not UTF-8 text"],
])("what is %s is refused in a sentence", (_, given, sentence) => {
  expect(() => readPlan("notes.md", given)).toThrow(sentence);
});
