import { expect, test } from "vitest";
import { headingAnchor, withSiteLinks } from "./links.ts";

const linked = (text: string, file = "docs/conflicts.md") => withSiteLinks(file, text, (address) => `/${address}`);

test.each([
  ["a page beside it", "[Offline](offline.md)", "[Offline](/offline.md)"],
  ["a heading", "[there](offline.md#refused-writes)", "[there](/offline.md#refused-writes)"],
  ["a page outside of docs/", "[rules](../BEHAVIOR.md#webhooks-w)", "[rules](/behavior.md#webhooks-w)"],
  ["a folder with a README", "[`sdk`](../packages/sdk)", "[`sdk`](/packages/sdk.md)"],
  ["the index", "[all](README.md)", "[all](/index.md)"],
])("a link to %s gets the address of the page", (_, text, expected) => {
  expect(linked(text)).toBe(expected);
});

test.each([
  ["named by its file", "[a.test.ts](../packages/a.test.ts)", "`packages/a.test.ts`"],
  ["named by a word", "[the test](../packages/a.test.ts)", "the test (`packages/a.test.ts`)"],
  ["that is a folder", "[`api/`](../api)", "`api`"],
])("a link to a source %s becomes its path", (_, text, expected) => {
  expect(linked(text)).toBe(expected);
});

test.each([
  ["another host", "[it](https://example.com/a.md)"],
  ["a heading of the page", "[it](#here)"],
  ["an image", "![it](images/board.png)"],
  ["code", "`[it](offline.md)`"],
  ["a fence", "```md\n[it](offline.md)\n```"],
])("%s is left alone", (_, text) => {
  expect(linked(text)).toBe(text);
});

test("a heading's anchor is GitHub's", () => {
  expect(headingAnchor("What `wholeOrganization: true` is, and isn't")).toBe("what-wholeorganization-true-is-and-isnt");
});
