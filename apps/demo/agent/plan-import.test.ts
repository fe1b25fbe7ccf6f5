import { describe, expect, test } from "vitest";
import { planImport } from "./plan-import.ts";
import { readMarkdown } from "./read-markdown.ts";

const names = (markdown: string) => {
  const { title, sections } = readMarkdown(markdown, "file");
  return [title, ...sections.map((section) => section.name)];
};
const text = (markdown: string) =>
  readMarkdown(markdown, "file").sections.flatMap((section) => section.blocks.map((block) => block.text));

describe("reading Markdown", () => {
  test.each([
    ["one top heading is the title", "# T\n\n## A\n\n## B", ["T", "A", "B"]],
    ["the title may skip a level", "# T\n\n### A\n\n### B", ["T", "A", "B"]],
    ["what stands before the first section is one", "# T\n\nIntro.\n\n## A", ["T", "T", "A"]],
    ["several top headings are sections of the file", "# A\n\n## a\n\n# B", ["file", "A", "B"]],
    ["no heading at all", "Just text.", ["file", "file"]],
    ["a lone heading", "# T\n\nText.", ["T", "T"]],
    ["a heading underlined", "T\n===\n\nA\n---\n\ntext", ["T", "A"]],
    ["emphasis and code in headings", "# *T* `x`\n\n## **A** & B", ["T x", "A & B"]],
  ])("%s", (_, markdown, expected) => {
    expect(names(markdown)).toEqual(expected);
  });

  test.each([
    ["lines of a paragraph are joined, and breaks that are meant stay", "one\ntwo  \nthree", ["one two\nthree"]],
    ["inline marks go", "A **b** _c_ [d](https://e.example) `f < g`", ["A b c d f < g"]],
    ["lists keep their signs", "- a\n- b\n  - c", ["• a\n• b\n   • c"]],
    ["numbers go on", "3. a\n4. b", ["3. a\n4. b"]],
    ["tasks", "- [x] done\n- [ ] open", ["☑ done\n☐ open"]],
    ["code stays as it is", "```js\na  <  b\n```", ["a  <  b"]],
    ["quotes", "> a\n>\n> b", ["a\n\nb"]],
    ["headings in code are not headings", "```\n# no\n```", ["# no"]],
    ["raw HTML goes", "<!-- note -->\n\nText<br>here", ["Texthere"]],
  ])("%s", (_, markdown, expected) => {
    expect(text(markdown)).toEqual(expected);
  });

  test("a table is rows of text and data", () => {
    const [section] = readMarkdown("| a | b |\n|---|---|\n| 1 | **2** |", "file").sections;
    expect(section?.blocks).toEqual([{ text: "a | b\n1 | 2", table: { header: ["a", "b"], rows: [["1", "2"]] } }]);
  });
});

describe("planning an import", () => {
  const markdown = `# T\n\n## A\n\n${"A sentence of some length stands here. ".repeat(40)}\n\n## B\n\n## C\n\ntext`;

  test("the same content is the same ids; other content is others", () => {
    expect(planImport("a.md", markdown)).toEqual(planImport("a.md", markdown));
    expect(planImport("b.md", markdown).document.id).toBe(planImport("a.md", markdown).document.id);
    expect(planImport("a.md", `${markdown}!`).document.id).not.toBe(planImport("a.md", markdown).document.id);
  });

  test("[Y14] a copy of the same content has ids and a title of its own", () => {
    const [first, second] = [planImport("a.md", markdown), planImport("a.md", markdown, 2)];
    expect(second.document.title).toBe("T (2)");
    expect(second.document.metadata).toBe(first.document.metadata);
    expect(second.document.id).not.toBe(first.document.id);
    expect(second.jobId).not.toBe(first.jobId);
    const ids = new Set(first.passages.map(({ id }) => id));
    expect(second.passages.some(({ id }) => ids.has(id))).toBe(false);
  });

  test("[Y15] a slide's text keeps a table as Markdown, whatever its cells hold", () => {
    const [passage] = planImport("a.md", "| a | b |\n|---|---|\n| 1 \\| 2 | **3** |").passages;
    expect(passage?.slide?.notes).toBe("| a | b |\n| --- | --- |\n| 1 \\| 2 | 3 |");
    expect(passage?.content).toBe("a | b\n1 | 2 | 3");
  });

  test("every section is one slide, in order, and ids are unique", () => {
    const { passages, document, jobId } = planImport("a.md", markdown);
    const slides = passages.flatMap((passage) => passage.slide ?? []);
    expect(slides.map(({ title, order }) => [title, order])).toEqual([
      ["A", 1],
      ["B", 2],
      ["C", 3],
    ]);
    const ids = [document.id, jobId, ...slides.map((slide) => slide.id), ...passages.map((passage) => passage.id)];
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_.:~-]{1,255}$/);
  });

  test("a long paragraph is cut at sentences and nothing of it is lost", () => {
    const { passages } = planImport("a.md", markdown);
    const inA = passages.filter((passage) => passage.sectionName === "A");
    expect(inA.length).toBeGreaterThan(1);
    for (const { content } of inA) {
      expect(content.length).toBeLessThanOrEqual(300);
      expect(content).toMatch(/\.$/);
    }
    expect(
      inA
        .map((passage) => passage.content)
        .join(" ")
        .match(/sentence/g),
    ).toHaveLength(40);
  });
});
