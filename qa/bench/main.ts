import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { runProgram } from "../support/program.ts";
import { benchmarkPage, comparisonPage, figuresPage, type Part } from "./report/page.ts";
import { type Row, toTable } from "./report/table.ts";
import type { Options } from "./stage/stage.ts";

/** Rows with a text that stands above their table. */
interface NotedRows {
  readonly notes: string;
  readonly rows: Row[];
  /** For docs/comparison.md. */
  readonly comparison?: string;
}

/** Each part is loaded when it runs, so that `--help` answers at once. */
const parts: Record<Part, (options: Options) => Promise<Row[] | NotedRows>> = {
  commits: async (options) => (await import("./commits/commits.ts")).measureCommits(options),
  stream: async (options) => (await import("./stream/stream.ts")).measureStream(options),
  snapshot: async (options) => (await import("./snapshot/snapshot.ts")).measureSnapshot(options),
  "followed-part": async (options) => (await import("./snapshot/followed-part.ts")).measureFollowedPart(options),
  "slow-line": async (options) => (await import("./snapshot/slow-line.ts")).measureSlowLine(options),
  lists: async (options) => [
    ...(await (await import("./lists/mounted-lists.ts")).measureMountedLists(options)),
    ...(await (await import("./lists/lists.ts")).measureLists(options)),
  ],
  sockets: async (options) => (await import("./stream/sockets.ts")).measureSockets(options),
  parts: async (options) => (await import("./stream/parts.ts")).measureParts(options),
  push: async (options) => (await import("./push/push.ts")).measurePush(options),
  claims: async (options) => (await import("./claims/claims.ts")).measureClaims(options),
  changes: async (options) => (await import("./changes/changes.ts")).measureChanges(options),
  agents: async (options) => (await import("./claims/agents.ts")).measureAgents(options),
  webhooks: async (options) => (await import("./webhooks/webhooks.ts")).measureWebhooks(options),
  tables: async (options) => (await import("./tables/tables.ts")).measureTables(options),
  endpoint: async (options) => (await import("./endpoint/endpoint.ts")).measureEndpoint(options),
  moves: async (options) => (await import("./moves/moves.ts")).measureMoves(options),
  fairness: async (options) => (await import("./tenants/fairness.ts")).measureFairness(options),
  away: async (options) => (await import("./tenants/away.ts")).measureAway(options),
  databases: async (options) => (await import("./tenants/databases.ts")).measureDatabases(options),
  fleet: async (options) => (await import("./tenants/fleet.ts")).measureFleet(options),
  herd: async (options) => (await import("./tenants/herd.ts")).measureHerd(options),
  client: async (options) => (await import("./client/client-cost.ts")).measureClientCost(options),
  loading: async (options) => (await import("./client/loading.ts")).measureLoading(options),
  flush: async (options) => (await import("./client/flush.ts")).measureFlush(options),
  step: async (options) => (await import("./client/step.ts")).measureStep(options),
  "live-lists": async (options) => (await import("./lists/live-lists.ts")).measureLiveLists(options),
  "included-lists": async (options) => (await import("./lists/included-lists.ts")).measureIncludedLists(options),
  "query-peers": async (options) => (await import("./peers/query-peers.ts")).measureQueryPeers(options),
  peers: async (options) => (await import("./systems/systems.ts")).measureSystems(options),
  "file-store": async (options) => (await import("./client/file-store.ts")).measureFileStore(options),
  browser: async (options) => (await import("./browser/browser.ts")).measureBrowser(options),
  demo: async (options) => (await import("./browser/demo.ts")).measureDemo(options),
  tracker: async (options) => (await import("./browser/tracker.ts")).measureTracker(options),
  memory: async (options) => (await import("./commits/memory.ts")).measureMemory(options),
  disk: async (options) => (await import("./commits/disk.ts")).measureDisk(options),
};

await runProgram({
  name: "bench",
  says: "Measures Holdfast on this machine, next to lower bounds measured in the same run. Takes about half an hour.",
  options: {
    only: { says: `some of ${Object.keys(parts).join(", ")}`, someOf: Object.keys(parts) },
    rounds: {
      says: "runs per figure (reports the median, the lowest and the highest)",
      count: [1, 1_000],
      default: 3,
    },
    seconds: { says: "length of a run under load", count: [1, 3_600], default: 3 },
    profile: {
      says: "with client: keep profiles of the SDK's CPU time in bench-profiles/, and print which files spent it",
      flag: true,
    },
    write: {
      says: "write the tables to qa/bench/figures.md, some rows to docs/benchmarks.md, and that of peers to docs/comparison.md too; parts that were not measured stay unchanged",
      flag: true,
    },
  },
  async run({ only, rounds, seconds, profile, write }, print) {
    const measured = new Map<Part, string>();
    const comparisons: string[] = [];
    for (const name of only as readonly Part[]) {
      print(`${name} …`);
      const result = await parts[name]({ rounds, seconds, profile, print });
      const { notes, rows, comparison }: Partial<NotedRows> & { rows: Row[] } =
        "rows" in result ? result : { rows: result };
      if (comparison !== undefined) comparisons.push(comparison);
      const above = [machine({ rounds, seconds }), ...(notes ? [notes] : [])].join("\n\n");
      measured.set(name, `${above}\n\n${toTable(rows)}`);
    }
    process.stdout.write(`${[...measured.values()].join("\n\n")}\n`);
    if (write) {
      rewrite("qa/bench/figures.md", (before) => figuresPage(before, measured));
      rewrite("docs/benchmarks.md", () => benchmarkPage(read("qa/bench/figures.md")));
      const about = machine({ rounds, seconds });
      for (const table of comparisons)
        rewrite("docs/comparison.md", (before) => comparisonPage(before, { machine: about, table }));
    }
    return true;
  },
});

const fileOf = (page: string): URL => new URL(`../../${page}`, import.meta.url);
const read = (page: string): string => readFileSync(fileOf(page), "utf8");

function rewrite(page: string, change: (before: string) => string): void {
  writeFileSync(fileOf(page), change(read(page)));
}

function machine({ rounds, seconds }: { rounds: number; seconds: number }): string {
  const [cpu] = cpus();
  const what = `${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform}`;
  return `Machine: ${what}. Embedded Postgres over a unix socket, \`fsync\` and \`synchronous_commit\` on. Server, Postgres and the load generator share the machine. ${new Date().toISOString().slice(0, 10)}, ${rounds} runs, interleaved; under load of ${seconds} s each, unless a row says otherwise.`;
}
