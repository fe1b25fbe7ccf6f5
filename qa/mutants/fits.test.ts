import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { loadSections } from "../../packages/conformance/src/run/load-sections.ts";
import { mutants } from "../conformance/mutants.ts";
import { edited } from "../conformance/patched-server.ts";
import { suites } from "./suites.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

// Complete runs are `npm run planted`. This test checks that the patches still fit.
for (const { name, planted } of suites)
  describe(`the mutants of ${name} fit the sources`, () => {
    test("names are unique, and every run includes some mutants", () => {
      expect(new Set(planted.map((one) => one.name)).size).toBe(planted.length);
      expect(planted.some(({ isQuick }) => isQuick)).toBe(true);
    });

    test.each(planted.filter(({ edits }) => edits.length > 0))("$name", ({ edits }) => {
      const texts = new Map<string, string>();
      for (const edit of edits) {
        const before = texts.get(edit.file) ?? readFileSync(`${ROOT}${edit.file}`, "utf8");
        texts.set(edit.file, edited(before, edit));
      }
      for (const [file, text] of texts) expect(text).not.toBe(readFileSync(`${ROOT}${file}`, "utf8"));
    });
  });

const sections = await loadSections();

test.each(mutants)("a conformance case can find: $section: $name", ({ section, only = "" }) => {
  const cases = sections.find(({ name }) => name === section)?.cases ?? [];
  expect(cases.some(({ says }) => says.includes(only))).toBe(true);
});
