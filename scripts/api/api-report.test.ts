import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { apiReport } from "./api-report.ts";
import { changedLines } from "./changed-lines.ts";

/** The report on a package with these declaration files; `index.d.ts` is its entry. */
function report(
  files: Record<string, string>,
  exports: Record<string, unknown> = { ".": { types: "./dist/index.d.ts" } },
) {
  const folder = temporaryFolder("api", onTestFinished);
  const published = Object.fromEntries(Object.entries(exports).filter(([path]) => path !== "./inner"));
  const manifest = JSON.stringify({ name: "@a/b", exports, publishConfig: { exports: published } });
  for (const [name, text] of Object.entries({ ...files, "../package.json": manifest })) {
    const file = join(folder, "dist", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return apiReport(folder);
}

/** What the report says below a heading. */
const below = (text: string, heading: string): string =>
  text.split(`\n## ${heading}\n\n`)[1]?.split("\n\n## ")[0]?.trimEnd() ?? "";

test("names are sorted, and shown as they are declared, without docstrings and private members", () => {
  const text = report({
    "index.d.ts": `export { Z, type A } from "./deep/z.ts";\nexport declare function m(a: number): string;\n`,
    "deep/z.d.ts": `/** A class. */
export declare class Z {
    #private;
    private secret;
    /** Of all. */
    readonly name: string;
}
export interface A {
    a: 1;
}
`,
  });
  expect(below(text, "@a/b")).toBe(
    "interface A {\n    a: 1;\n}\n\nclass Z {\n    readonly name: string;\n}\n\nfunction m(a: number): string;",
  );
});

const moved = {
  "index.d.ts": `export { f } from "./deep/f.ts";\n`,
  "deep/f.d.ts": `import type { Inner as Alias } from "../inner.ts";\nexport declare function f(a: Alias, b: import("../inner.ts").Other): void;\n`,
  "inner.d.ts": "export interface Inner {\n    more: Other;\n}\nexport type Other = 1 | 2;\nexport type Unused = 3;\n",
};

test("what is used and has no public name is listed, once and with all that it uses", () => {
  const text = report(moved);
  expect(below(text, "@a/b")).toBe("function f(a: Inner, b: Other): void;");
  expect(below(text, "Used by the above, without a public name")).toBe(
    "interface Inner {\n    more: Other;\n}\n\ntype Other = 1 | 2;",
  );
});

test("a declaration that moves to another file changes nothing", () => {
  const elsewhere = {
    "index.d.ts": moved["index.d.ts"].replace("./deep/f.ts", "./g.ts"),
    "g.d.ts": moved["deep/f.d.ts"].replaceAll("../inner.ts", "./core/own.ts"),
    "core/own.d.ts": moved["inner.d.ts"],
  };
  expect(report(elsewhere)).toBe(report(moved));
});

test("of what is exported as a type, the value is not shown as public", () => {
  const files = (how: string) => ({
    "index.d.ts": `export ${how} { Claim, K } from "./claim.ts";\n`,
    "claim.d.ts": `export declare const Claim: { id: string };\nexport type Claim = typeof Claim;\nexport declare class K {\n}\n`,
  });
  const asType = report(files("type"));
  expect(below(asType, "@a/b")).toBe("type Claim = typeof Claim;\n\n(type only) class K {\n}");
  expect(below(asType, "Used by the above, without a public name")).toBe("const Claim: { id: string };");
  const whole = report(files(""));
  expect(below(whole, "@a/b")).toBe("const Claim: { id: string };\ntype Claim = typeof Claim;\n\nclass K {\n}");
  expect(whole).not.toContain("without a public name");
});

test("two different things with one name are told apart", () => {
  const text = report({
    "index.d.ts": `import type { T } from "./a.ts";\nimport type { T as U } from "./b.ts";\nexport declare function f(t: T, u: U): void;\n`,
    "a.d.ts": "export type T = 1;\n",
    "b.d.ts": "export type T = 2;\n",
  });
  expect(below(text, "@a/b")).toBe("function f(t: T, u: T_2): void;");
  expect(below(text, "Used by the above, without a public name")).toBe("type T = 1;\n\ntype T_2 = 2;");
});

test("a schema of the wire is named, and a long table shown by its keys", () => {
  const schema = `Type.TObject<{\n    object: Type.TLiteral<"claim">;\n    id: Type.TString;\n}>`;
  const rows = Array.from({ length: 30 }, (_, i) => `    ${i === 0 ? '"a-b"' : `k${i}`}: { status: 409 };`).join("\n");
  const text = report({
    "index.d.ts": `import { Type } from "typebox";
export declare const Claim: ${schema};
export declare const few: {\n    a: 1;\n};
export declare const many: {\n${rows}\n};
`,
  });
  expect(below(text, "@a/b")).toMatch(
    /^const Claim: schema;\n\nconst few: {\n {4}a: 1;\n};\n\nconst many: {\n {4}"a-b": …;\n {4}k1: …;/,
  );
});

test("sentences are left out, codes are not", () => {
  const text = report({ "index.d.ts": `export declare const rows: readonly ["too_old", "It waited too long."];\n` });
  expect(below(text, "@a/b")).toBe(`const rows: readonly ["too_old", "…"];`);
});

test("each entry point has its section, and refers to what an earlier one shows", () => {
  const text = report(
    {
      "index.d.ts": "export type A = 1;\n",
      "inner.d.ts": `export type { A } from "./index.ts";\nexport type B = 2;\n`,
    },
    {
      ".": { types: "./dist/index.d.ts" },
      "./inner": { types: "./dist/inner.d.ts" },
      "./data.json": "./data.json",
    },
  );
  expect(below(text, "@a/b")).toBe("type A = 1;");
  expect(below(text, "@a/b/inner (not published)")).toBe("A: as in @a/b\n\ntype B = 2;");
  expect(below(text, "@a/b/data.json")).toBe("A file.");
});

test("what only a testing entry uses is named, not shown", () => {
  const text = report(
    {
      "t.d.ts": `import type { Inner } from "./inner.ts";\nexport declare function lab(): Inner;\n`,
      "inner.d.ts": "export type Inner = 1;\n",
    },
    { "./testing": { types: "./dist/t.d.ts" } },
  );
  expect(below(text, "@a/b/testing")).toBe("function lab(): Inner;");
  expect(text).not.toContain("type Inner");
});

test.each(['export * from "./a.ts";', "declare const a: 1;\nexport default a;"])("%s is refused", (line) => {
  expect(() => report({ "index.d.ts": `${line}\n`, "a.d.ts": "export type A = 1;\n" })).toThrow(/listed one by one/);
});

test("a build that is missing says so", () => {
  expect(() => report({ "index.d.ts": `export type { A } from "./gone.ts";\n` })).toThrow(/Run tsc -b first/);
});

test("changed lines: the old ones, then the new ones, and how many more there are", () => {
  expect(changedLines("a\nb\nc", "a\nd\nc")).toEqual(["- b", "+ d"]);
  expect(changedLines("a\nb\nc", "d", 2)).toEqual(["- a", "- b", "… and 2 more"]);
});
