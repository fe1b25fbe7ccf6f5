import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { edited } from "../conformance/patched-server.ts";
import { suites } from "./suites.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

// Whole runs are `npm run planted`; that nothing of it goes stale meanwhile is asked here.
for (const { name, planted } of suites)
  describe(`what ${name} plants fits the sources`, () => {
    test("each has another name, and some are looked for in every run", () => {
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
