import { describe, expect, test } from "vitest";
import { giveTime } from "../../../../scripts/testing/give-time.ts";
import { until } from "../../../../scripts/testing/until.ts";
import type { TestEnvironment } from "../environment/test-environment.ts";
import { type Case, check } from "../kit/section.ts";
import type { Answer } from "../protocol/answers.ts";
import { loadSections } from "./load-sections.ts";
import { reportOf, reportText } from "./report.ts";
import { runSuite } from "./suite.ts";

const KEY = `sk_live_${"k".repeat(36)}`;
const answer = (status: number, body: Record<string, unknown>): Answer => ({
  request: { method: "GET", path: "/v1/log", headers: { authorization: `Bearer ${KEY}` }, body: undefined },
  status,
  headers: { "x-request-id": "req_1" },
  text: JSON.stringify(body),
  body,
});

/** A test environment whose server gives every request the same answer. */
const environment = (given: Answer): TestEnvironment => ({
  url: "http://x",
  key: KEY,
  id: () => "r",
  ask: async () => given,
  push: async () => given,
  streamed: () => 0,
  removeModels: async () => undefined,
  close: () => {},
});

async function outcomeOf(one: Case, given = answer(200, { object: "list" })) {
  const [result] = await runSuite(environment(given), [{ name: "one", title: "One", cases: [one] }]);
  if (!result) throw new Error("Nothing was run.");
  return result;
}

describe("[X4] the outcome of a case", () => {
  test("it passes if all assertions hold", async () => {
    const result = await outcomeOf(
      check("a", async (t) => t.answered(await t.get("/v1/log"), 200, { object: "list" })),
    );
    expect(result).toMatchObject({ section: "one", says: "a", outcome: "passed" });
  });

  test("it fails if it has no assertion", async () => {
    const result = await outcomeOf(check("a", async (t) => t.get("/v1/log")));
    expect(result).toMatchObject({ outcome: "failed", failure: { got: "no expectation" } });
  });

  test("it fails with the expected value, the actual value, the request and the answer", async () => {
    const result = await outcomeOf(
      check("a", async (t) => t.answered(await t.get("/v1/log"), 200, { object: "list" })),
      answer(200, { object: "page" }),
    );
    expect(result).toMatchObject({
      outcome: "failed",
      failure: { expected: 'object: "list"', got: '"page"', answer: { status: 200, request: { path: "/v1/log" } } },
    });
  });

  test("refused() also checks the type and the status of the code", async () => {
    const refused = check("a", async (t) => t.refused(await t.get("/v1/log"), "stale_context"));
    const body = { code: "stale_context", type: "conflict_error" };
    expect(await outcomeOf(refused, answer(409, body))).toMatchObject({ outcome: "passed" });
    expect(await outcomeOf(refused, answer(400, body))).toMatchObject({ outcome: "failed" });
    expect(await outcomeOf(refused, answer(409, { ...body, type: "claim_error" }))).toMatchObject({
      outcome: "failed",
    });
    expect(await outcomeOf(refused, answer(409, { ...body, code: "other" }))).toMatchObject({ outcome: "failed" });
  });

  test("it fails if the case throws", async () => {
    const broken = check("a", async () => JSON.parse("{"));
    expect(await outcomeOf(broken)).toMatchObject({ outcome: "failed" });
  });

  test("it does not apply without the token that it needs", async () => {
    const result = await outcomeOf(check("a", async (t) => t.admin()));
    expect(result).toMatchObject({ outcome: "not_applicable", reason: "no admin token was given" });
  });

  test("its cleanups run in reverse order, also after a failure", async () => {
    const done: string[] = [];
    const failing = check("a", async (t) => {
      t.after(() => done.push("first"));
      t.after(() => Promise.reject(new Error("cannot be cleaned")));
      t.after(() => done.push("last"));
      t.that(false, "the impossible");
    });
    expect(await outcomeOf(failing)).toMatchObject({ outcome: "failed" });
    expect(done).toEqual(["last", "first"]);
  });
});

test("sections that disturb others run alone and last, and the results keep their order", async () => {
  const running = new Set<string>();
  const met: string[][] = [];
  const section = (name: string, beside: number, alone?: true) => ({
    name,
    title: name,
    ...(alone && { alone }),
    cases: [
      check("a", async (t) => {
        running.add(name);
        // Each stays until those are there that run beside it.
        await until(() => running.size >= beside);
        await giveTime(20);
        met.push([...running].sort());
        await until(() => beside === 1 || met.length >= beside);
        running.delete(name);
        t.that(true, "");
      }),
    ],
  });
  const sections = [section("a", 1, true), section("b", 2), section("c", 2)];
  const results = await runSuite(environment(answer(200, {})), sections);
  expect(results.map(({ section: name }) => name)).toEqual(["a", "b", "c"]);
  expect(met).toEqual([["b", "c"], ["b", "c"], ["a"]]);
});

test("a section with `together` runs that many cases at once, and the results keep their order", async () => {
  let [running, most] = [0, 0];
  const ended: number[] = [];
  const cases = [0, 1, 2, 3, 4].map((at) =>
    check(`is number ${at}`, async (t) => {
      most = Math.max(most, ++running);
      // The first three meet, and the first one ends last.
      await until(() => most >= 3);
      if (at === 0) await until(() => ended.length === 4);
      running -= 1;
      ended.push(at);
      t.that(true, "");
    }),
  );
  const results = await runSuite(environment(answer(200, {})), [{ name: "a", title: "A", together: 3, cases }]);
  expect(most).toBe(3);
  expect(ended.at(-1)).toBe(0);
  expect(results.map(({ says }) => says)).toEqual(cases.map(({ says }) => says));
});

test("[X4] the report has the sentence, the request, the answer and the expectation, and no token", async () => {
  const leaky = answer(409, { code: "x", token: `rk_${"r".repeat(36)}`, secret: `whsec_${"s".repeat(43)}=` });
  const cases = [
    check("It keeps its promise.", async (t) => t.answered(await t.get("/v1/log"), 200)),
    check("It needs more.", async (t) => t.admin()),
  ];
  const results = await runSuite(environment(leaky), [{ name: "one", title: "One", cases }]);
  const report = reportOf(results, { url: "http://x", startedAt: "now", seconds: 1 }, [KEY]);
  expect(report).toMatchObject({ object: "conformance_report", passed: 0, failed: 1, notApplicable: 1 });
  const text = reportText(report);
  expect(text).toContain("✗ It keeps its promise.");
  expect(text).toContain("expected  200");
  expect(text).toContain("GET /v1/log");
  expect(text).toContain('answer    409 (req_1) {"code":"x"');
  expect(text).toContain("– It needs more. [not applicable: no admin token was given]");
  expect(text + JSON.stringify(report)).not.toMatch(/k{30}|r{30}|s{30}/);
});

test("every file of sections/ is a section; its sentences are unique and end with a full stop", async () => {
  const sections = await loadSections();
  expect(sections.length).toBeGreaterThan(30);
  const sentences = sections.flatMap(({ name, cases }) => cases.map(({ says }) => `${name}: ${says}`));
  expect(sentences.filter((says) => !says.endsWith("."))).toEqual([]);
  expect(new Set(sentences).size).toBe(sentences.length);
});
