import { describe, expect, test } from "vitest";
import { judgeLayers, staleNames } from "./judge.ts";

const sdk = "packages/sdk/src";
const server = "packages/server/src";

describe("refused", () => {
  test.each([
    ["the protocol importing decisions", `${sdk}/protocol/a.ts`, `import { b } from "../core/b.ts"`],
    ["the protocol importing another package", `${sdk}/protocol/a.ts`, `import { nanoid } from "nanoid"`],
    ["decisions importing an edge", `${sdk}/core/a.ts`, `import { b } from "../storage/b.ts"`],
    ["decisions importing an edge for types alone", `${sdk}/core/a.ts`, `import type { B } from "../engine/b.ts"`],
    ["storage importing transport", `${sdk}/storage/a.ts`, `import { b } from "../transport/b.ts"`],
    ["the api importing storage", `${sdk}/api/a.ts`, `export { b } from "../storage/b.ts"`],
    ["an import hidden in a call", `${sdk}/api/a.ts`, `const b = await import("../storage/b.ts")`],
    ["Node in the browser's SDK", `${sdk}/transport/a.ts`, `import { readFile } from "node:fs/promises"`],
    ["the server's rules importing SQL", `${server}/kernel/log/rules/a.ts`, `import { b } from "../db/b.ts"`],
    ["SQL importing values of the rules", `${server}/kernel/log/db/a.ts`, `import { b } from "../rules/b.ts"`],
    ["an edge of the server importing SQL", `${server}/edge/http/a.ts`, `import { b } from "../../kernel/log/db/b.ts"`],
    ["the kernel importing an edge", `${server}/kernel/log/flows/a.ts`, `import { b } from "../../../edge/http/b.ts"`],
    ["a worker importing SQL", `${server}/kernel/workers/a.ts`, `import { b } from "../log/db/b.ts"`],
    ["pg outside db", `${server}/kernel/log/flows/a.ts`, `import pg from "pg"`],
    [
      "the server importing a client",
      `${server}/kernel/log/flows/a.ts`,
      `import { createClient } from "@holdfast/sdk"`,
    ],
    ["React importing the protocol", "packages/react/src/a.ts", `import { b } from "@holdfast/sdk/protocol"`],
    ["React reaching into the SDK", "packages/react/src/a.ts", `import { b } from "../../sdk/src/core/b.ts"`],
    ["a product importing what is made for tests", `${server}/kernel/a.ts`, `import { b } from "../testing/b.ts"`],
    ["a clock in decisions", `${sdk}/core/a.ts`, "export const now = () => Date.now()"],
    ["today in decisions", `${server}/kernel/log/rules/a.ts`, "export const now = () => new Date()"],
    ["dice in the protocol", `${sdk}/protocol/a.ts`, "export const roll = () => Math.random()"],
    [
      "the conformance suite importing the protocol",
      "packages/conformance/src/a.ts",
      `import { b } from "@holdfast/sdk/protocol"`,
    ],
    [
      "the conformance suite reaching into the server",
      "packages/conformance/src/sections/a.ts",
      `import { b } from "../../../server/src/ids.ts"`,
    ],
    [
      "a case's kit importing a section",
      "packages/conformance/src/kit/a.ts",
      `import { b } from "../sections/claims/b.ts"`,
    ],
    [
      "the conformance suite importing its own tests",
      "packages/conformance/src/a.ts",
      `import { b } from "./testing/b.ts"`,
    ],
    [
      "a machine of the client changing fields of another one",
      `${sdk}/core/connection/a.ts`,
      "set<QueueState>(draft, { sending })",
    ],
    ["the kernel importing a module", `${server}/kernel/a.ts`, `import { b } from "../modules/webhooks/module.ts"`],
    [
      "a socket importing a module",
      `${server}/edge/socket/a.ts`,
      `import type { B } from "../../modules/presence/b.ts"`,
    ],
    [
      "what opens the server importing a module beside the list",
      `${server}/open/a.ts`,
      `import { b } from "../modules/webhooks/module.ts"`,
    ],
    ["a module importing another", `${server}/modules/presence/a.ts`, `import { b } from "../webhooks/module.ts"`],
    [
      "a module's rules importing its SQL",
      `${server}/modules/webhooks/rules/a.ts`,
      `import type { B } from "../db/b.ts"`,
    ],
    ["a file outside the picture", "packages/new/src/a.ts", ""],
  ])("%s", (_, file, text) => {
    expect(judgeLayers(new Map([[file, text]]))).toEqual([expect.stringContaining(file)]);
  });

  test("a circle, also one of types", () => {
    const circle = new Map([
      [`${sdk}/core/a.ts`, `import type { B } from "./b.ts"`],
      [`${sdk}/core/b.ts`, `export type { C } from "./c.ts"`],
      [`${sdk}/core/c.ts`, `import { a } from "./a.ts"`],
    ]);
    const [a, b, c] = [...circle.keys()];
    expect(judgeLayers(circle)).toEqual([`these files import each other in a cycle: ${a} → ${b} → ${c} → ${a}`]);
  });
});

describe("allowed", () => {
  test.each([
    ["decisions importing words", `${sdk}/core/a.ts`, `import { b } from "../protocol/b.ts"`],
    ["an edge importing the ports", `${sdk}/storage/a.ts`, `import type { B } from "../engine/ports.ts"`],
    ["SQL importing types of the rules", `${server}/kernel/log/db/a.ts`, `import type { B } from "../rules/b.ts"`],
    ["pg in db", `${server}/kernel/log/db/a.ts`, `import pg from "pg"`],
    ["the server importing the words", `${server}/kernel/log/rules/a.ts`, `import { b } from "@holdfast/sdk/protocol"`],
    ["a given time read in decisions", `${sdk}/core/a.ts`, "export const at = (text: string) => new Date(text)"],
    ["a clock outside decisions", `${sdk}/engine/a.ts`, "export const now = () => Date.now()"],
    ["a test looking anywhere", `${sdk}/core/a.test.ts`, `import { b } from "../testing/b.ts"; Date.now()`],
  ])("%s", (_, file, text) => {
    expect(judgeLayers(new Map([[file, text]]))).toEqual([]);
  });
});

test("a name in the picture that leads to no file is told", () => {
  expect(staleNames(["packages/sdk/src/core/a.ts"])).toContain("packages/sdk/src/protocol/");
  expect(staleNames(["packages/sdk/src/core/a.ts"])).not.toContain("packages/sdk/src/core/");
});
