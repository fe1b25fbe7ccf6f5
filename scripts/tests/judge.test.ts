import { describe, expect, test } from "vitest";
import { judgeTests } from "./judge.ts";

const support = `
export async function shows(page, text) { expect(await page.text()).toBe(text); }
export const createBoard = (page) => ({ shows: async (text) => { expect(await page.text()).toBe(text); }, press: (name) => page.click(name) });
export function request(path) { if (!path) throw new Error("No path."); }
export const pure = (a) => a + 1;
`;
const read = (_: string, name: string) => (name === "./support.ts" ? { file: "support.ts", text: support } : undefined);
const kinds = (text: string, file = "a.test.ts") =>
  judgeTests(file, `import { createBoard, pure, request, shows } from "./support.ts";\n${text}`, read).map((fault) =>
    fault.replace(/^\S+ (\w+).*/, "$1"),
  );
const withExpectation = (code: string) => `test("a", async () => { ${code}; expect(1).toBe(1); });`;

describe("the gate refuses", () => {
  test.each([
    ["a bare vi.waitFor", "await vi.waitFor(() => done())", "waits"],
    ["a bare vi.waitUntil", "await vi.waitUntil(() => done())", "waits"],
    ["a bare expect.poll", "await expect.poll(() => done()).toBe(1)", "waits"],
    ["a sleep", "await new Promise((resolve) => setTimeout(resolve, 50))", "sleeps"],
    ["a sleep with a type", "await new Promise<void>((next) => void setTimeout(next, 50))", "sleeps"],
    ["a sleep that calls", "await new Promise((resolve) => setTimeout(() => resolve(true), 50))", "sleeps"],
    ["a sleep in a page", "await page.waitForTimeout(50)", "sleeps"],
    ["a bound on elapsed time", "expect(performance.now() - begun).toBeLessThan(50)", "bounds"],
    ["one through a variable", "const took = Date.now() - begun; expect(took).toBeLessThanOrEqual(50)", "bounds"],
    [
      "one through two variables",
      "const a = Date.now(); const b = [a]; expect(Math.max(...b)).toBeLessThan(9)",
      "bounds",
    ],
    ["one that is assigned", "let slow = 0; slow = Math.max(slow, Date.now()); expect(slow).toBeLessThan(9)", "bounds"],
    ["an unpinned seed", "run(Math.floor(Math.random() * 100))", "takes"],
  ])("%s", (_, code, kind) => {
    expect(kinds(withExpectation(code))).toEqual([kind]);
  });

  test.each([
    ["test.only", `test.only("a", () => { expect(1).toBe(1); });`],
    ["describe.only", `describe.only("a", () => { test("b", () => { expect(1).toBe(1); }); });`],
    ["test.only.each", `test.only.each([1])("a", () => { expect(1).toBe(1); });`],
  ])("%s", (_, code) => {
    expect(kinds(code)).toContain("runs");
  });

  test("a sleep from node:timers/promises", () => {
    expect(kinds(`import { setTimeout as sleep } from "node:timers/promises";`)).toEqual(["sleeps"]);
  });

  test("a time of its own for an expectation in a browser test", () => {
    const code = "await expect(page.title).toHaveText('a', { timeout: 5_000 })";
    expect(kinds(withExpectation(code), "a.spec.ts")).toEqual(["gives"]);
  });
});

test.each([
  ["no call", `test("a", () => {});`],
  ["only acts", `test("a", async () => { await createBoard(page).press("Save"); pure(1); });`],
  ["a table", `test.each([1, 2])("a %i", (n) => { pure(n); });`],
])("a test without an expectation is refused in both suites: %s", (_, code) => {
  expect(kinds(code)).toEqual(["expects"]);
  expect(kinds(code, "a.soak.test.ts")).toEqual(["expects"]);
});

test.each([
  ["an expectation", `test("a", () => { expect(1).toBe(1); });`],
  ["a function that expects", `const check = (n) => { expect(n).toBe(1); }; test("a", () => check(1));`],
  ["a wait for a state", `test("a", async () => { await until(() => done()); });`],
  ["an imported function that expects", `test("a", async () => { await shows(page, "b"); });`],
  ["a method that expects", `test("a", async () => { const board = createBoard(page); await board.shows("b"); });`],
  ["a function that throws", `test("a", () => { request("/b"); });`],
  ["a test that another function makes", `test("a", storageContract);`],
])("passes: %s", (_, code) => {
  expect(kinds(code)).toEqual([]);
});

test("the soak suite may sleep, measure and take chances", () => {
  const code =
    "await new Promise((resolve) => setTimeout(resolve, Math.random())); expect(Date.now()).toBeLessThan(50)";
  expect(kinds(withExpectation(code), "a.soak.test.ts")).toEqual([]);
});

test.each([
  ["in the test", `test("a", async () => { vi.useFakeTimers(); ${"SLEEP"}; });`],
  ["before each test", `beforeEach(() => void vi.useFakeTimers()); test("a", async () => { ${"SLEEP"}; });`],
  ["in a group", `describe("g", () => { beforeEach(() => void vi.useFakeTimers()); const nap = () => ${"SLEEP"}; });`],
])("where a test moves the time, it may sleep: %s", (_, code) => {
  const sleep = "new Promise((resolve) => setTimeout(resolve, 50))";
  expect(kinds(code.replace("SLEEP", sleep)).filter((kind) => kind !== "expects")).toEqual([]);
});

test("a variable of another test is another variable, and what toPass repeats may give up soon", () => {
  const other = `test("b", () => { const times = [performance.now()]; expect(times).toHaveLength(1); });`;
  expect(kinds(`${other} test("a", () => { const times = [1]; expect(times[0]).toBeLessThan(2); });`)).toEqual([]);
  const code = "await expect(async () => { await expect(page.a).toBeVisible({ timeout: 200 }); }).toPass()";
  expect(kinds(withExpectation(code), "a.spec.ts")).toEqual([]);
});

test("a fault is named with its place", () => {
  expect(judgeTests("b.test.ts", `\n\ntest.only("a", () => { expect(1).toBe(1); });`, read)).toEqual([
    "b.test.ts:3 runs alone (.only): remove that",
  ]);
});
