import { readFileSync } from "node:fs";
import { errorCodes } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { errorsMarkdown } from "../../../../../../scripts/docs/errors-markdown.ts";
import { writtenDocs } from "../../../../../../scripts/docs/written-docs.ts";

test("[E3] docs/errors.md matches the table of errors", () => {
  for (const [file, text] of Object.entries(writtenDocs()))
    expect(
      readFileSync(new URL(`../../../../../../${file}`, import.meta.url), "utf8") === text,
      `${file} is out of date: run npm run docs:write`,
    ).toBe(true);
});

test("[E3] every code has a heading of its own", () => {
  const headings = [...errorsMarkdown().matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(Object.keys(errorCodes));
});
