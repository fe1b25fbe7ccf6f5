import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
}

const published = readdirSync(join(root, "packages"))
  .map((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")) as Manifest;
    return { folder, ...manifest };
  })
  .filter((manifest) => !manifest.private);

/** Code fences, and what stands between blank lines. */
const blocksOf = (page: string): string[] => page.match(/^```[\s\S]*?^```$|^[^\n]+(?:\n(?!```)[^\n]+)*/gm) ?? [];
const isFence = (block: string) => block.startsWith("```");
const INSTALL = /^```sh\n(?:(?:npm|npx expo) install [^\n]+\n)+```$/;
const sentencesOf = (paragraph: string) => paragraph.match(/[^.!?]+(?:[.!?](?!\s|$)[^.!?]*)*[.!?](?=\s|$)/g) ?? [];

test("[DP22] there are published packages", () => {
  expect(published.length).toBeGreaterThan(8);
});

describe.each(published)("$name", ({ folder, name }) => {
  const [title, what = "", ...rest] = blocksOf(readFileSync(join(root, "packages", folder, "README.md"), "utf8"));
  const [example = "", after = ""] = rest.filter((block) => !INSTALL.test(block));

  test("[DP22] its README says what it is, in one or two sentences", () => {
    expect(title).toBe(`# ${name}`);
    expect(what).toMatch(/^[A-Z[]/);
    expect([1, 2]).toContain(sentencesOf(what).length);
  });

  test("[DP22] then it has an example", () => {
    expect(isFence(example), example).toBe(true);
  });

  test("[DP22] then it leads to a page of docs/", () => {
    expect(after).toMatch(/\]\(\.\.\/\.\.\/docs\/[\w-]+\.md[)#]/);
  });
});
