import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { mutants } from "./mutants.ts";
import { edited } from "./patched-sources.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

// `npm run soak -- mutants` inserts the bugs. This test checks that the patches still fit.
test.each(mutants)("it fits the sources: $name", ({ edits }) => {
  const texts = new Map<string, string>();
  for (const edit of edits) {
    const before = texts.get(edit.file) ?? readFileSync(`${ROOT}${edit.file}`, "utf8");
    texts.set(edit.file, edited(before, edit));
  }
  for (const [file, text] of texts) expect(text).not.toBe(readFileSync(`${ROOT}${file}`, "utf8"));
});
