import { readFileSync } from "node:fs";
import { limits } from "@holdfast/sdk/protocol";
import { expect, onTestFinished, test } from "vitest";
import { programHelp } from "./program-help.ts";

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
  const holdfast = "packages/server/src/holdfast.ts";
  const help = await programHelp([holdfast]);
  onTestFinished(() => help.remove());
  const { output } = await help.read(holdfast);
  const listed = [...output.matchAll(/^ +(HOLDFAST_\w+) +(\d+)$/gm)].map(([, name, is]) => ({ name, is: Number(is) }));
  expect(listed.length).toBeGreaterThan(10);
  const byName = (one: { name?: string | undefined }, other: { name?: string | undefined }) =>
    String(one.name).localeCompare(String(other.name));
  expect(rows.filter(isVariable).sort(byName)).toEqual(listed.sort(byName));
});
