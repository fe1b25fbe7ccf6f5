import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";

/** The exact text that people copy. */
const page = readFileSync(new URL("../../docs/agents.md", import.meta.url), "utf8");
const heart = /^```ts\n(async function workOn.*?)^```$/ms.exec(page)?.[1] ?? "";
const config = JSON.parse(/^```json\n(.*?)^```$/ms.exec(page)?.[1] ?? "");

test("[AG11] the page shows the example's worker word for word", () => {
  expect(heart).toContain("await using lease");
  expect(readFileSync(join(root, "packages/create-holdfast/templates/node-agent/src/work.ts"), "utf8")).toContain(
    heart,
  );
});

test("[AG11] the page's host configuration starts the program of the package", () => {
  const { args, env } = config.mcpServers.holdfast;
  const manifest = JSON.parse(readFileSync(join(root, "packages", "agent", "package.json"), "utf8"));
  expect(args).toContain(`--package=${manifest.name}`);
  expect(Object.keys(manifest.publishConfig.bin)).toEqual([args[2]]);
  expect(Object.keys(env)).toEqual(["HOLDFAST_URL", "HOLDFAST_TOKEN"]);
});
