import { type Budget, judgeSize, kilobytes } from "./size/judge.ts";
import { type BundleRequest, measureBundle } from "./size/measure.ts";

// What a browser has to load, weighed after minifying and gzip, against what we allow ourselves.
const bundles: Record<string, BundleRequest & { budget: Budget }> = {
  "@holdfast/sdk": {
    entry: "packages/sdk/src/index.ts",
    // TypeBox describes the wire for servers; a browser needs its types and constants only.
    // Later: what works with the disk and the server (with an election without locks and the pruning of the store, 1 KB; with
    // ky and partysocket, 8 KB), the database (32 KB), and claims and presence.
    // At once: 1 KB of it judges what is written and asked by the schema, so that a mistake throws where it is made.
    budget: {
      bytes: 20 * 1024,
      laterBytes: 79 * 1024,
      never: ["typebox", "undici"],
      later: ["dexie", "ky", "partysocket"],
    },
  },
  "@holdfast/sdk/webhooks": {
    entry: "packages/sdk/src/webhooks/index.ts",
    budget: { bytes: 5 * 1024, never: ["typebox"] },
  },
  "@holdfast/react": {
    entry: "packages/react/src/index.ts",
    external: ["react", "@holdfast/sdk"],
    // Half a KB for queries with dates, and for claims of a whole list that render once.
    budget: { bytes: 4.5 * 1024, never: ["typebox"] },
  },
};

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
