import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { readArgs } from "../support/read-args.ts";
import { measureAgents } from "./agents.ts";
import { measureBrowser } from "./browser.ts";
import { measureClaims } from "./claims.ts";
import { measureCommits } from "./commits.ts";
import { measureDemo } from "./demo.ts";
import { measureFairness } from "./fairness.ts";
import { measureFileStore } from "./file-store.ts";
import { measureFleet } from "./fleet.ts";
import { measureFlush } from "./flush.ts";
import { measureHerd } from "./herd.ts";
import { measureLists } from "./lists.ts";
import { measureLiveLists } from "./live-lists.ts";
import { measureMemory } from "./memory.ts";
import { measureMountedLists } from "./mounted-lists.ts";
import { benchmarkPage, type Part } from "./page.ts";
import { measurePush } from "./push.ts";
import { measureSlowLine } from "./slow-line.ts";
import { measureSnapshot } from "./snapshot.ts";
import { measureStep } from "./step.ts";
import { measureStream } from "./stream.ts";
import { type Row, toTable } from "./table.ts";
import { measureWebhooks } from "./webhooks.ts";

const HELP = `Usage: npm run bench [-- --only commits,stream,snapshot,slow-line,lists,push,claims,agents,webhooks,fairness,fleet,herd,flush,step,live-lists,file-store,browser,demo,memory] [--rounds 3] [--seconds 3] [--write]

Measures Holdfast on this machine, next to lower bounds measured in the same run. Takes about half an hour.

  --only     run only these parts: commits, stream, snapshot, slow-line, lists, push, claims, agents, webhooks, fairness, fleet, herd, flush, step, live-lists, file-store, browser, demo, memory
  --rounds   runs per figure: 3 (reports the median, the lowest and the highest)
  --seconds  length of a run under load: 3
  --write    write the tables to docs/benchmarks.md; parts that were not measured stay unchanged
`;

interface Options {
  readonly rounds: number;
  readonly seconds: number;
  say(line: string): void;
}

const parts: Record<Part, (options: Options) => Promise<Row[]>> = {
  commits: measureCommits,
  stream: measureStream,
  snapshot: measureSnapshot,
  "slow-line": measureSlowLine,
  lists: async (options) => [...(await measureMountedLists(options)), ...(await measureLists(options))],
  push: measurePush,
  claims: measureClaims,
  agents: measureAgents,
  webhooks: measureWebhooks,
  fairness: measureFairness,
  fleet: measureFleet,
  herd: measureHerd,
  flush: measureFlush,
  step: measureStep,
  "live-lists": measureLiveLists,
  "file-store": measureFileStore,
  browser: measureBrowser,
  demo: measureDemo,
  memory: measureMemory,
};

const args = readArgs(
  {
    only: { someOf: Object.keys(parts) },
    rounds: { count: [1, 1_000], default: 3 },
    seconds: { count: [1, 3_600], default: 3 },
    write: { flag: true },
  } as const,
  process.argv.slice(2),
);
const say = (line: string) => void process.stderr.write(`bench: ${line}\n`);

if (typeof args === "string") {
  (args === "" ? process.stdout : process.stderr).write(args === "" ? HELP : `${args}\n\n${HELP}`);
  process.exitCode = args === "" ? 0 : 2;
} else {
  const { only, rounds, seconds, write } = args;
  const measured = new Map<Part, string>();
  for (const name of only as readonly Part[]) {
    say(`${name} …`);
    const rows = await parts[name]({ rounds, seconds, say });
    measured.set(name, `${machine({ rounds, seconds })}\n\n${toTable(rows)}`);
  }
  process.stdout.write(`${[...measured.values()].join("\n\n")}\n`);
  const page = new URL("../../docs/benchmarks.md", import.meta.url);
  if (write) writeFileSync(page, benchmarkPage(readFileSync(page, "utf8"), measured));
}

function machine({ rounds, seconds }: { rounds: number; seconds: number }): string {
  const [cpu] = cpus();
  const what = `${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform}`;
  return `Machine: ${what}. Embedded Postgres over a unix socket, \`fsync\` and \`synchronous_commit\` on. Server, Postgres and the load generator share the machine. ${new Date().toISOString().slice(0, 10)}, ${rounds} runs, interleaved; under load of ${seconds} s each, unless a row says otherwise.`;
}
