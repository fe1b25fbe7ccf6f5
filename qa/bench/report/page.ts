/** The parts of the benchmark, in the order in which qa/bench/figures.md has them, with their headings there. */
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
  changes: "Proposals and reverts",
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

const FIGURES = `# All figures

\`npm run bench -- --write\` makes this file, and [the page with some of them](../../docs/benchmarks.md), which says how they are measured.
`;

/** The file with what was measured now; what was not stays as it was. */
export function figuresPage(before: string, measured: ReadonlyMap<Part, string>): string {
  const kept = sectionsOf(before);
  const sections = (Object.keys(HEADINGS) as Part[]).flatMap((part) => {
    const text = measured.get(part) ?? kept.get(HEADINGS[part]);
    return text === undefined ? [] : [`## ${HEADINGS[part]}\n\n${text}\n`];
  });
  return [FIGURES, ...sections].join("\n");
}

const sectionsOf = (page: string): ReadonlyMap<string, string> =>
  new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf("\n")), section.slice(section.indexOf("\n")).trim()]),
  );

const INTRODUCTION = `# Benchmarks

How fast Holdfast is, where it misses what we want, and how to measure it on your machine: \`npm run bench\`. [All figures](../qa/bench/figures.md) has each of them, with the machine and the day. Bundle sizes: \`npm test -- size\`.

- **Compare ratios, and only within one table.** Absolute figures depend on the machine and on its other load, and the same machine may be twice as fast an hour later. So each figure stands beside a floor or a baseline from the same run.
- **Conditions.** 2 cores and 24 GiB for Postgres, server and load together. The server is the built one, as npm has it. Its limits have their defaults, except the rate of the scoped token.
- **Figures.** The median of the runs. Commits, stream and flush are measured warm: the first seconds do not count.
- **Targets.** A target is what we want. A figure that misses its target stays on this page until it meets it.
`;

/** docs/benchmarks.md: the rows of the figures that most readers ask for. Throws if one is gone. */
export function benchmarkPage(figures: string): string {
  const kept = sectionsOf(figures);
  const sections = Object.entries(SHOWN).map(([heading, rows]) => {
    const lines = rows.map(([part, name]) => {
      const line = kept
        .get(HEADINGS[part])
        ?.split("\n")
        .find((one) => one.startsWith(`| ${name}`));
      if (line === undefined) throw new Error(`${HEADINGS[part]} has no row that begins with: ${name}`);
      const [, what = "", median = "", , ratio = "", note = ""] = line.split("|").map((cell) => cell.trim());
      return `| ${what} | ${median} | ${ratio} | ${note} |`;
    });
    return `## ${heading}\n\n| what | median | ratio | note |\n| --- | --- | --- | --- |\n${lines.join("\n")}\n`;
  });
  return [INTRODUCTION, ...sections].join("\n");
}

/** Beginnings of rows: the first one with it is shown. */
const SHOWN: Readonly<Record<string, readonly (readonly [Part, string])[]>> = {
  "The server": [
    ["commits", "floor: transactions of one log line and one row, 64 connections"],
    ["commits", "commits, 1 organization, 64 connections"],
    ["commits", "commits with a slow disk"],
    ["commits", "commits, 32 organizations, 64 connections"],
    ["commits", "commits, a log of 2 000 000 entries"],
    ["commits", "bulk of 100, 4 connections"],
    ["stream", "sent → heard by another client, 100 sockets, 300 commits/s for 10 s, p50"],
    ["stream", "sent → heard by another client, 100 sockets, 300 commits/s for 10 s, p99"],
    ["sockets", "Holdfast: 10,000 sockets on one process hear 10 writes/s, sent → heard, p50"],
    ["snapshot", "snapshot of 200,000 rows"],
    ["followed-part", "5,000 of 1,000,000 rows, by an indexed field"],
    ["lists", "list of 100 of 1,000,000 rows by id, page 1, p50"],
    ["lists", "the same, page 10,000, p50"],
    ["push", "a rename in 100,000 records of 600 B: the longest commit meanwhile"],
    ["claims", "a claim handed over, from the release"],
    ["webhooks", "webhooks: a backlog of 50,000 events"],
    ["webhooks", "commits, 20 endpoints that are told all of it"],
    ["tables", "commits to an attached table, 64 connections"],
    ["tables", "SQL insert sent → heard by a client, 200/s, p50"],
    ["tables", "cost for SQL: updates of single rows"],
    ["endpoint", "commits to records behind an endpoint over SQLite"],
    ["moves", "the longest that a write waited meanwhile"],
    ["fairness", "the same beside 300 bulks of 100 commits"],
    ["fleet", "commits/s of 2000 organizations"],
    ["herd", "1500 sockets with own tokens return"],
  ],
  "The client": [
    ["client", "SDK: writes of 64 clients in one process, each of which follows its own deck"],
    ["client", "SDK: a write of one client until its receipt, p50"],
    ["client", "SDK: one write heard by 100 clients in one process, p50"],
    ["client", "SDK: first load of 50,000 rows"],
    ["flush", "SDK: 10,000 queued writes"],
    ["step", "SDK: update() to the new state"],
    ["lists", "SDK: a change, 1,000 mounted lists over 10,000 rows"],
    ["browser", "Chromium: update() until it is on disk"],
    ["browser", "Chromium: page loaded again with 10,000 queued writes"],
    ["browser", "Chromium: from a crash of the tab that sends"],
    ["tracker", "a click on a filter of 5000 issues, to the next paint"],
  ],
  "Memory and disk": [
    ["fleet", "10000 idle sockets on one process: memory each"],
    ["memory", "the same, second half"],
    ["disk", "create of a record with 200 B: write-ahead log"],
    ["disk", "create of a record with 200 B: in the record table"],
  ],
};

/** The part of docs/comparison.md that is measured. It is the last one. */
export const SPEED = "## Speed";

/** docs/comparison.md with the table that was measured now. */
export function comparisonPage(before: string, { machine, table }: { machine: string; table: string }): string {
  const kept = before.slice(0, before.indexOf(`${SPEED}\n`));
  const says = `\`npm run bench -- --only peers --write\` measures this. Compare within a line: [All figures](../qa/bench/figures.md#beside-other-systems) has the versions, what was done with each system, and all figures.`;
  return `${kept}${SPEED}\n\n${says}\n\n${machine}\n\n${table}\n`;
}
