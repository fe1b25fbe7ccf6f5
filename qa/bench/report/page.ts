/** The parts of the benchmark, in the order in which docs/benchmarks.md shows them, with their headings there. */
export const HEADINGS = {
  commits: "Commits over HTTP",
  stream: "The stream",
  snapshot: "The snapshot",
  "followed-part": "A part of a large model",
  sockets: "Writes that many hear",
  parts: "Many readers of small parts",
  "slow-line": "A slow line",
  lists: "Lists",
  push: "Schema pushes that rewrite records",
  claims: "Claims",
  agents: "Agents that share a list of tasks",
  webhooks: "Webhooks",
  tables: "Your own tables",
  endpoint: "Records behind an endpoint",
  moves: "A tenant that moves",
  fairness: "One tenant beside another",
  away: "Beside a database that is away",
  databases: "Several databases",
  fleet: "A fleet of organizations",
  herd: "Many sockets that return at once",
  client: "What the client adds to its wire",
  loading: "Parts that come and go",
  flush: "The SDK's queue",
  step: "A write in the client",
  "live-lists": "Live lists",
  "included-lists": "Lists with related records",
  "query-peers": "Lists with related records, beside other libraries",
  peers: "Beside other systems",
  "file-store": "The agents' store",
  browser: "In Chromium",
  demo: "The slide board",
  tracker: "The issue tracker",
  memory: "Memory",
  disk: "Disk",
} as const;

export type Part = keyof typeof HEADINGS;

const INTRODUCTION = `# Benchmarks

\`npm run bench -- --write\` makes this page. Run it on your machine: absolute figures depend on the machine and on its other load, so each figure stands beside a
floor or a baseline from the same run.

- **Conditions.** The server is the built one, as npm has it. Its limits have their defaults, except the rate of the scoped token. Postgres has run for a while before a measurement, so that it does not create write-ahead log files while commits wait.
- **Figures.** The median of the runs, with the lowest and the highest. Commits, stream and flush are measured warm: the first seconds do not count.
- **Ratios at 64 connections.** Two servers are measured in one run, in turns of two seconds. The ratio is the median of the ratios of neighboring turns.
- **Targets.** A target is what we want. A figure that misses its target stays on this page until it meets it.

Compare ratios, and only within one table: the same machine may be twice as fast an hour later.

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

/** The part of docs/comparison.md that is measured. It is the last one. */
export const SPEED = "## Speed";

/** docs/comparison.md with the table that was measured now. */
export function comparisonPage(before: string, { machine, table }: { machine: string; table: string }): string {
  const kept = before.slice(0, before.indexOf(`${SPEED}\n`));
  const says = `\`npm run bench -- --only peers --write\` measures this. Compare within a line: [Benchmarks](benchmarks.md#beside-other-systems) has the versions, what was done with each system, and all figures.`;
  return `${kept}${SPEED}\n\n${says}\n\n${machine}\n\n${table}\n`;
}
