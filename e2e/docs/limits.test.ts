import { readFileSync } from "node:fs";
import { join } from "node:path";
import { limits } from "@holdfast/sdk/protocol";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import { expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { ending, runIn } from "../packages/run-command.ts";

const page = readFileSync(new URL("../../docs/limits.md", import.meta.url), "utf8");
const rows = [...page.matchAll(/^\| `(\w+)` *\| *([\d ]+?) *\|/gm)].map(([, name = "", is = ""]) => ({
  name,
  is: Number(is.replaceAll(" ", "")),
}));
const isVariable = ({ name }: { name: string }) => name.startsWith("HOLDFAST_");

test("[DP2] the page lists the fixed limits of the source", () => {
  const fixed = rows.filter((row) => !isVariable(row));
  expect(fixed.length).toBeGreaterThan(20);
  expect(fixed).toEqual(fixed.map(({ name }) => ({ name, is: limits[name as keyof typeof limits] })));
});

test("[DP2] the page lists the settable limits of the server's help", async () => {
  const { flags, file } = sourceProgram(join(root, "packages/server/src/holdfast.ts"));
  const { stdout } = await ending(runIn(root, process.execPath, [...flags, file, "--help"]));
  const listed = [...stdout.matchAll(/^ +(HOLDFAST_\w+) +(\d+)$/gm)].map(([, name, is]) => ({ name, is: Number(is) }));
  expect(listed.length).toBeGreaterThan(10);
  const byName = (one: { name?: string | undefined }, other: { name?: string | undefined }) =>
    String(one.name).localeCompare(String(other.name));
  expect(rows.filter(isVariable).sort(byName)).toEqual(listed.sort(byName));
});
