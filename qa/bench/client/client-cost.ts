import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { keepProfile, profileByFile } from "../report/cpu-profile.ts";
import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { startProfiled, startProgram, wholeOutput } from "../stage/processes.ts";
import type { ServerReady } from "../stage/server.ts";
import { type Options, openStage, type Stage } from "../stage/stage.ts";
import type { ClientFigures, ClientPlan, Side, Task } from "./client-process.ts";

const CLIENTS = 64;
const HEARERS = 100;
const QUEUED = 5_000;
const ROWS = 50_000;

type Comparison = "share of" | "×";

/** What the SDK adds to its wire: the same work by the SDK and by bare requests and sockets, in turns. */
export async function measureClientCost({ rounds, seconds, print, profile = false }: Options): Promise<Row[]> {
  const tasks = {
    own: { name: "writes", clients: CLIENTS, seconds, own: true },
    all: { name: "writes", clients: CLIENTS, seconds, own: false },
    one: { name: "writes", clients: 1, seconds, own: false },
    heard: { name: "heard", clients: HEARERS, seconds },
    flush: { name: "flush", writes: QUEUED },
    load: { name: "load", rows: ROWS },
  } as const satisfies Record<string, Task>;
  type Measured = keyof typeof tasks;
  const found = new Map<string, ClientFigures[]>();
  const of = (task: Measured, side: Side) => found.get(`${task} ${side}`) ?? [];

  await using stage = await openStage();
  for (const task of Object.keys(tasks) as Measured[]) {
    const sides: readonly Side[] = tasks[task].name === "writes" ? ["http", "sdk", "fetch"] : ["http", "sdk"];
    for (let round = 0; round < rounds; round++)
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const figures = await measured(stage, tasks[task], side, { run: `${task}_${round}_${side}`, profile, print });
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

interface Run {
  /** Its name. Each run has a database of its own, so that none has the rows of another. */
  readonly run: string;
  readonly profile: boolean;
  print(line: string): void;
}

/** Where profiles go, in the folder in which the benchmark was started. */
const PROFILES = "bench-profiles";

async function measured(stage: Stage, task: Task, side: Side, { run, profile, print }: Run): Promise<ClientFigures> {
  const server = await stage.server({ database: run });
  if (task.name === "load") await fill(stage, run, task.rows);
  const plan: ClientPlan = { url: server.url, token: tokenOf(server), side, task, run };
  const [file, args] = [new URL("client-process.ts", import.meta.url), [JSON.stringify(plan)]];
  const isProfiled = profile && side === "sdk";
  if (isProfiled) mkdirSync(PROFILES, { recursive: true });
  const child = isProfiled ? startProfiled(PROFILES, file, args) : startProgram(file, args);
  const ended = once(child, "exit");
  const figures = await wholeOutput<ClientFigures>(child);
  await ended;
  if (isProfiled) {
    const path = keepProfile(PROFILES, run);
    print(`${path}, for any viewer of flame graphs that reads .cpuprofile files. By file:`);
    for (const line of profileByFile(path)) print(line);
  }
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
