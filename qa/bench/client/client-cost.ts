import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { type Options, openStage } from "../stage/stage.ts";
import type { Side } from "./client-process.ts";
import { runClient } from "./client-run.ts";
import type { ClientFigures, Task } from "./tasks.ts";

const CLIENTS = 64;
const HEARERS = 100;
const QUEUED = 5_000;
const ROWS = 50_000;
/** How often a client queues and flushes, or loads: the times before the last warm up the code. */
const TIMES = 4;

type Comparison = "share of" | "×";

/** What the SDK adds to its wire: the same work by the SDK and by bare requests and sockets, in turns. */
export async function measureClientCost({ rounds, seconds, print, profile = false }: Options): Promise<Row[]> {
  const tasks = {
    own: { name: "writes", clients: CLIENTS, seconds, own: true },
    all: { name: "writes", clients: CLIENTS, seconds, own: false },
    one: { name: "writes", clients: 1, seconds, own: false },
    heard: { name: "heard", clients: HEARERS, seconds },
    flush: { name: "flush", writes: QUEUED, times: TIMES },
    load: { name: "load", rows: ROWS, times: TIMES },
  } as const satisfies Record<string, Task>;
  type Measured = keyof typeof tasks;
  const found = new Map<string, ClientFigures[]>();
  const of = (task: Measured, side: Side) => found.get(`${task} ${side}`) ?? [];

  await using stage = await openStage();
  for (const task of Object.keys(tasks) as Measured[]) {
    const sides: readonly Side[] = tasks[task].name === "writes" ? ["http", "sdk", "fetch"] : ["http", "sdk"];
    for (let round = 0; round < rounds; round++)
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const figures = await runClient(stage, tasks[task], side, { run: `${task}_${round}_${side}`, profile, print });
        found.set(`${task} ${side}`, [...of(task, side), figures]);
        const shown = Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(3)}`);
        print(`${task}, ${side}, round ${round + 1} of ${rounds}: ${shown.join(", ")}`);
      }
  }

  const runs = (task: Measured, side: Side, figure: string) =>
    summarize(of(task, side).map((each) => each[figure] as number));
  /** Of each round, and the median of these. */
  function ratio(task: Measured, figure: string, kind: Comparison, bare: "http" | "fetch" = "http"): string {
    const ratios = of(task, "sdk").map((each, n) => (each[figure] as number) / (of(task, bare)[n]?.[figure] as number));
    const sorted = ratios.sort((a, b) => a - b).map((value) => value.toFixed(2));
    const [median, least, most] = [percentile(sorted.map(Number), 0.5).toFixed(2), sorted[0], sorted.at(-1)];
    return `**${median}** (${least} – ${most}) ${kind} ${bare}`;
  }
  function pair(what: string, unit: string, task: Measured, figure: string, kind: Comparison, note?: string): Row[] {
    const isWritten = of(task, "fetch").length > 0;
    const against = [ratio(task, figure, kind), ...(isWritten ? [ratio(task, figure, kind, "fetch")] : [])];
    return [
      { what: `bare, \`http\`: ${what}`, unit, runs: runs(task, "http", figure) },
      ...(isWritten ? [{ what: `bare, \`fetch\`: ${what}`, unit, runs: runs(task, "fetch", figure) }] : []),
      {
        what: `SDK: ${what}`,
        unit,
        runs: runs(task, "sdk", figure),
        against: against.join(", "),
        ...(note && { note }),
      },
    ];
  }
  const own = `writes of ${CLIENTS} clients in one process, each of which follows its own deck`;
  const all = `writes of ${CLIENTS} clients in one process that hear each other`;
  const many = QUEUED.toLocaleString("en-US");
  return [
    ...pair(own, "/s", "own", "perSecond", "share of", "target 0.6"),
    ...pair("CPU of the process for each", "ms", "own", "cpuMs", "×", "target 1.8 ×"),
    ...pair(all, "/s", "all", "perSecond", "share of", "target 0.6"),
    ...pair("CPU of the process for each", "ms", "all", "cpuMs", "×", "target 1.8 ×"),
    ...pair("a write of one client until its receipt, p50", "ms", "one", "p50", "×", "target 1.25 ×"),
    ...pair(`one write heard by ${HEARERS} clients in one process, p50`, "ms", "heard", "p50", "×", "target 1.5 ×"),
    ...pair("the same, p99", "ms", "heard", "p99", "×", "target 2.5 ×"),
    ...pair(`${many} queued writes until another client has them`, "ms", "flush", "ms", "×", "target 1.0 ×"),
    {
      ...{ what: "SDK: CPU to queue one of them, in memory", unit: "ms", runs: runs("flush", "sdk", "queueCpuMs") },
      note: "target 0.06 ms",
    },
    ...pair(
      `first load of ${ROWS.toLocaleString("en-US")} rows`,
      "rows/s",
      "load",
      "perSecond",
      "share of",
      "target 0.7",
    ),
    ...pair("CPU of the process for a row", "µs", "load", "cpuUs", "×"),
  ];
}
