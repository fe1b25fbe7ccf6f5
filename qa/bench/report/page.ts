/** The parts of the benchmark, in the order in which docs/benchmarks.md shows them, with their headings there. */
export const HEADINGS = {
  commits: "Commits over HTTP",
  stream: "The stream",
  snapshot: "The snapshot",
  "followed-part": "A part of a large model",
  "slow-line": "A slow line",
  lists: "Lists",
  push: "Schema pushes that rewrite records",
  claims: "Claims",
  agents: "Agents that share a list of tasks",
  webhooks: "Webhooks",
  tables: "Your own tables",
  moves: "A tenant that moves",
  fairness: "One tenant beside another",
  away: "Beside a database that is away",
  fleet: "A fleet of organizations",
  herd: "Many sockets that return at once",
  flush: "The SDK's queue",
  step: "A write in the client",
  "live-lists": "Live lists",
  "included-lists": "Lists with related records",
  "query-peers": "Lists with related records, beside other libraries",
  "file-store": "The agents' store",
  browser: "In Chromium",
  demo: "The slide board",
  memory: "Memory",
} as const;

export type Part = keyof typeof HEADINGS;

const INTRODUCTION = `# Benchmarks

Made by \`npm run bench -- --write\`; run it on your machine. Absolute figures depend on the machine and on what else it does, so each is shown beside a
floor or a baseline from the same run. The limits of the server stay at their defaults, but for the rate of the scoped token.
The middle of the runs is quoted, with the lowest and the highest. Commits, stream and flush are measured warm: the first seconds do not count. The server is the built one, as npm has it.
Postgres is one that has been at work for a while, too: the files of its write-ahead log were there before, so that none has to be made while commits wait.

What a commit over HTTP is compared with at 64 connections is measured beside it: each server is sent to for two seconds in turn, and the share is the
middle one of those of the moments.

A target is what we want; a figure that misses its target stays here until it does not. Compare shares, and only within one table: the same machine may be
twice as fast an hour later.

Bundle sizes: \`npm test -- size\`.
`;

/** The page with what was measured now; what was not stays as it was. */
export function benchmarkPage(before: string, measured: ReadonlyMap<Part, string>): string {
  const kept = new Map(
    before
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf("\n")), section.slice(section.indexOf("\n")).trim()]),
  );
  const sections = (Object.keys(HEADINGS) as Part[]).flatMap((part) => {
    const text = measured.get(part) ?? kept.get(HEADINGS[part]);
    return text === undefined ? [] : [`## ${HEADINGS[part]}\n\n${text}\n`];
  });
  return [INTRODUCTION, ...sections].join("\n");
}
