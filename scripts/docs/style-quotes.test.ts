import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../root.mjs";

/** The quoted files of STYLE.md, and the lines between the omissions. */
const quotes = [...readFileSync(join(root, "STYLE.md"), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(
  ([, text = ""]) => {
    const [first = "", ...lines] = text.trimEnd().split("\n");
    return { file: first.replace("// ", ""), pieces: lines.join("\n").split(/^ *…\n/m) };
  },
);

/** A quotation stands at the margin. */
const dedented = (text: string): string => text.replace(/^ +/gm, "");

test("each example of STYLE.md is a quotation", () => {
  expect(quotes.length).toBeGreaterThan(4);
});

test.each(quotes)("STYLE.md quotes $file as it is", ({ file, pieces }) => {
  const text = dedented(readFileSync(join(root, file), "utf8"));
  let at = 0;
  for (const piece of pieces.map(dedented)) {
    const found = text.indexOf(piece, at);
    expect(found, piece).toBeGreaterThanOrEqual(at);
    at = found + piece.length;
  }
});
