import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorCodes } from "../../packages/sdk/src/protocol/error-codes.ts";
import { errorsMarkdown } from "./errors-markdown.ts";
import { writtenDocs } from "./written-docs.ts";

test("[E3] docs/errors.md is what the table of errors says", () => {
  for (const [file, text] of Object.entries(writtenDocs()))
    expect(readFileSync(file, "utf8") === text, `${file} is out of date: run npm run docs:write`).toBe(true);
});

test("[E3] every code has a heading of its own", () => {
  const headings = [...errorsMarkdown().matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(Object.keys(errorCodes));
});
