import { expect, test } from "vitest";
import { judgeSize } from "./judge.ts";
import { measureBundle } from "./measure.ts";

// In a package that has these dependencies.
const measure = (text: string, external: string[] = []) =>
  measureBundle({ entry: { text, folder: "packages/sdk" }, external });

test("what is imported counts at once, what is asked for counts later", async () => {
  const size = await measure(`import { nanoid } from "nanoid";
    export const id = () => nanoid();
    export const store = () => import("dexie");`);
  expect(size.packages).toEqual(["nanoid"]);
  expect(size.laterPackages).toEqual(["dexie"]);
  expect(size.bytes).toBeLessThan(1024);
  expect(size.laterBytes).toBeGreaterThan(20 * 1024);
  expect(judgeSize({ bytes: 1024, never: ["typebox"], later: ["dexie"] }, size)).toEqual([]);
});

test("types weigh nothing, and what the app brings is not counted", async () => {
  const size = await measure(
    `import type { TSchema } from "typebox"; import { nanoid } from "nanoid"; export const id = (schema: TSchema) => nanoid(schema.size);`,
    ["nanoid"],
  );
  expect(size.packages).toEqual([]);
});

test("a bundle over its budget is refused", async () => {
  const size = await measure(`export { Dexie } from "dexie";`);
  expect(judgeSize({ bytes: 1024 }, size)).toEqual([expect.stringMatching(/^is 3\d\.\d KB, \d\d\.\d KB over budget$/)]);
});

test("what is loaded later has a budget too", async () => {
  const size = await measure(`export const store = () => import("dexie");`);
  expect(judgeSize({ bytes: 1024, laterBytes: 50 * 1024 }, size)).toEqual([]);
  expect(judgeSize({ bytes: 1024, laterBytes: 10 * 1024 }, size)).toEqual([
    expect.stringMatching(/^loads 3\d\.\d KB later, 2\d\.\d KB over budget$/),
  ]);
});

test("a package that must not be in it is refused, wherever it is", async () => {
  const size = await measure(`import { Type } from "typebox"; export const text = Type.String();`);
  expect(judgeSize({ bytes: 1e6, never: ["typebox"] }, size)).toEqual(["contains typebox"]);
});

test("a package that should come later is refused at once, and missed when it is gone", async () => {
  expect(judgeSize({ bytes: 1e6, later: ["dexie"] }, await measure(`export { Dexie } from "dexie";`))).toEqual([
    "loads dexie at once instead of on demand",
  ]);
  expect(judgeSize({ bytes: 1e6, later: ["dexie"] }, await measure("export const nothing = 1;"))).toEqual([
    "does not contain dexie: check how it is imported",
  ]);
});
