import { bundles } from "./size/bundles.ts";
import { judgeSize, kilobytes } from "./size/judge.ts";
import { measureBundle } from "./size/measure.ts";

const complaints: string[] = [];
const row = (...cells: string[]) =>
  console.error(`size: ${cells.map((cell, at) => cell.padEnd(at === 0 ? 24 : 10)).join("")}`);
row("", "at once", "allowed", "later", "packages");
for (const [name, { budget, ...request }] of Object.entries(bundles)) {
  const size = await measureBundle(request);
  const packages = [...size.packages, ...size.laterPackages.map((each) => `${each} (later)`)].join(", ");
  row(name, kilobytes(size.bytes), kilobytes(budget.bytes), kilobytes(size.laterBytes), packages);
  complaints.push(...judgeSize(budget, size).map((complaint) => `${name} ${complaint}`));
}
for (const complaint of complaints) console.error(`size: ${complaint}`);
process.exitCode = complaints.length > 0 ? 1 : 0;
