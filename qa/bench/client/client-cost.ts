import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { startProgram, wholeOutput } from "../stage/processes.ts";
import type { ServerReady } from "../stage/server.ts";
import { type Options, openStage, type Stage } from "../stage/stage.ts";
import type { ClientFigures, ClientPlan, Side, Task } from "./client-process.ts";

const CLIENTS = 64;
const HEARERS = 100;
const QUEUED = 5_000;
const ROWS = 50_000;

/** What the SDK adds to its wire: the same work by the SDK and by bare requests and sockets, in turns. */
export async function measureClientCost({ rounds, seconds, print }: Options): Promise<Row[]> {
  const tasks: readonly Task[] = [
    { name: "writes", clients: CLIENTS, seconds, own: true },
    { name: "writes", clients: CLIENTS, seconds, own: false },
    { name: "writes", clients: 1, seconds, own: false },
    { name: "heard", clients: HEARERS, seconds },
    { name: "flush", writes: QUEUED },
    { name: "load", rows: ROWS },
  ];
  const found = tasks.map((): Record<Side, ClientFigures[]> => ({ sdk: [], bare: [] }));
  await using stage = await openStage();
  for (const [i, task] of tasks.entries()) {
    for (let round = 0; round < rounds; round++)
      for (const side of round % 2 === 0 ? (["bare", "sdk"] as const) : (["sdk", "bare"] as const)) {
        const figures = await measured(stage, task, side, `t${i}_${round}_${side}`);
        found[i]?.[side].push(figures);
        const shown = Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(3)}`);
        print(
          `${task.name} ${"own" in task && task.own ? "own" : ""} ${side}, round ${round + 1} of ${rounds}: ${shown.join(", ")}`,
        );
      }
  }
  const at = (i: number) => found[i] as (typeof found)[number];
  const runs = (i: number, side: Side, figure: string, factor = 1) =>
    summarize(at(i)[side].map((each) => (each[figure] as number) * factor));
  /** The ratio of each round, and of these the median. */
  const ratio = (i: number, figure: string, what: "share of bare" | "× bare") => {
    const ratios = at(i).sdk.map((each, n) => (each[figure] as number) / (at(i).bare[n]?.[figure] as number));
    const sorted = ratios.sort((a, b) => a - b);
    const text = (value: number) => value.toFixed(2);
    return `**${text(percentile(sorted, 0.5))}** (${text(sorted[0] as number)} – ${text(sorted.at(-1) as number)}) ${what}`;
  };
  const pair = (
    what: string,
    unit: string,
    i: number,
    figure: string,
    kind: "share of bare" | "× bare",
    note?: string,
  ) => [
    { what: `bare: ${what}`, unit, runs: runs(i, "bare", figure) },
    {
      what: `SDK: ${what}`,
      unit,
      runs: runs(i, "sdk", figure),
      against: ratio(i, figure, kind),
      ...(note && { note }),
    },
  ];
  const each = `${CLIENTS} clients in one process, each follows its own deck`;
  const all = `${CLIENTS} clients in one process that hear each other`;
  return [
    ...pair(`writes, ${each}`, "/s", 0, "perSecond", "share of bare", "target 0.6"),
    ...pair("CPU of the process for each", "ms", 0, "cpuMs", "× bare", "target 1.8 ×"),
    ...pair(`writes, ${all}`, "/s", 1, "perSecond", "share of bare", "target 0.6"),
    ...pair("CPU of the process for each", "ms", 1, "cpuMs", "× bare", "target 1.8 ×"),
    ...pair("a write of one client until its receipt, p50", "ms", 2, "p50", "× bare", "target 1.25 ×"),
    ...pair(`one write heard by ${HEARERS} clients in one process, p50`, "ms", 3, "p50", "× bare", "target 1.5 ×"),
    ...pair("the same, p99", "ms", 3, "p99", "× bare", "target 2.5 ×"),
    ...pair(
      `${QUEUED.toLocaleString("en-US")} queued writes until another client has them`,
      "ms",
      4,
      "ms",
      "× bare",
      "target 1.0 ×",
    ),
    {
      what: "SDK: CPU to queue one of them, in memory",
      unit: "ms",
      runs: runs(4, "sdk", "queueCpuMs"),
      note: "target 0.06 ms",
    },
    ...pair(
      `first load of ${ROWS.toLocaleString("en-US")} rows`,
      "rows/s",
      5,
      "perSecond",
      "share of bare",
      "target 0.7",
    ),
    ...pair("CPU of the process for a row", "µs", 5, "cpuMs", "× bare"),
  ];
}

/** Each run has a database of its own, so that none has the rows of another. */
async function measured(stage: Stage, task: Task, side: Side, run: string): Promise<ClientFigures> {
  const server = await stage.server({ database: run });
  if (task.name === "load") await fill(stage, run, task.rows);
  const plan: ClientPlan = { url: server.url, token: tokenOf(server), side, task, run };
  const figures = await wholeOutput<ClientFigures>(
    startProgram(new URL("client-process.ts", import.meta.url), [JSON.stringify(plan)]),
  );
  await server.stop();
  return figures;
}

const tokenOf = ({ tokens }: ServerReady) => tokens[0] as string;

async function fill(stage: Stage, database: string, rows: number): Promise<void> {
  const url = await stage.database(database);
  await stage.sql(
    url,
    `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
     select (select tenant from holdfast.head where schema_version > 0), 'slide', md5(n::text), 1, json_build_object('id', md5(n::text), 'deckId', 'deck-' || n % 100, 'title', 'Slide ' || n, 'order', n, 'notes', repeat('n', 200)),
       array['deck:deck-' || n % 100], 1, 'system:key_filler', now(), now(), 'system:key_filler' from generate_series(1, ${rows}) n`,
  );
  await stage.sql(url, "vacuum analyze holdfast.record");
}
