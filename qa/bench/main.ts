import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
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

Measures Holdfast on this machine, beside floors measured in the same run. Takes about half an hour.

  --only     some of the parts: commits, stream, snapshot, slow-line, lists, push, claims, agents, webhooks, fairness, fleet, herd, flush, step, live-lists, file-store, browser, demo, memory
  --rounds   runs of each figure: 3 (the median is quoted, with the lowest and the highest)
  --seconds  length of a run under load: 3
  --write    put the tables into docs/benchmarks.md; the parts that were not measured stay there as they are
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

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    write: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const say = (line: string) => void process.stderr.write(`bench: ${line}\n`);
const names = values.only?.split(",") ?? Object.keys(parts);
const isPart = (name: string): name is Part => Object.hasOwn(parts, name);

if (values.help || !names.every(isPart)) {
  process.stdout.write(HELP);
  process.exitCode = values.help ? 0 : 1;
} else {
  const measured = new Map<Part, string>();
  for (const name of names) {
    say(`${name} …`);
    const rows = await parts[name]({ rounds: Number(values.rounds), seconds: Number(values.seconds), say });
    measured.set(name, `${machine()}\n\n${toTable(rows)}`);
  }
  process.stdout.write(`${[...measured.values()].join("\n\n")}\n`);
  const page = new URL("../../docs/benchmarks.md", import.meta.url);
  if (values.write) writeFileSync(page, benchmarkPage(readFileSync(page, "utf8"), measured));
}

function machine(): string {
  const [cpu] = cpus();
  const what = `${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform}`;
  return `Machine: ${what}. Embedded Postgres over a unix socket, \`fsync\` and \`synchronous_commit\` on. Server, Postgres and whoever sends the load share the machine. ${new Date().toISOString().slice(0, 10)}, ${values.rounds} runs, interleaved; under load of ${values.seconds} s each, unless a row says otherwise.`;
}
