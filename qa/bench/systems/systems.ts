import { runClient } from "../client/client-run.ts";
import type { Task } from "../client/tasks.ts";
import { type InstalledPeers, installPeers } from "../peers/packages.ts";
import type { Row } from "../report/table.ts";
import { type Options, openStage } from "../stage/stage.ts";
import { CATALOGUE, OURS_ACKNOWLEDGED } from "./catalogue.ts";
import type { SystemName } from "./chosen-system.ts";
import { CLIENTS, HEARERS, QUEUED, ROWS, type Side, SystemFigures, type TaskName } from "./system-figures.ts";
import { runSystem } from "./system-run.ts";

/** How often a client queues and flushes, or loads: the first time warms up the code. */
const TIMES = 2;

const NOTES = `The same work by our SDK on our server, and by other systems with their own clients and servers, installed from npm for this run. Each server and each side's clients are in
processes of their own; the systems take turns, in each round in the opposite order. All clients have their rows in memory. In the first two tasks each client has one write outstanding, and follows
a deck of its own; in the others all clients follow everything. A write that is heard comes from another client of the same process (beside our SDK: from a bare request). What is queued and what is loaded is measured the second time, in the same
process. These systems do not do the same for a write: ours judges it by its rules and stores it before it says so.`;

export interface MeasuredSystems {
  readonly notes: string;
  readonly rows: Row[];
  /** For docs/comparison.md: the medians, a column for each system. */
  readonly comparison: string;
}

/** Our client and server beside other systems. */
export async function measureSystems(options: Options): Promise<MeasuredSystems> {
  const { print } = options;
  const figures = new SystemFigures();
  const installed = new Map<SystemName, InstalledPeers>();
  const described: string[] = [`- Holdfast. Acknowledged: ${OURS_ACKNOWLEDGED}.`];
  try {
    for (const system of Object.keys(CATALOGUE) as SystemName[]) {
      const { name, packages, acknowledged, mapping } = CATALOGUE[system];
      try {
        // Without the peers that packages name for users of other databases and views: these are hundreds of megabytes.
        const peers = await installPeers(packages, ["--legacy-peer-deps"]);
        installed.set(system, peers);
        const { license } = await peers.described(nameOf(packages[0]));
        described.push(`- ${name} (${packages.join(", ")}; ${license}). Acknowledged: ${acknowledged}. ${mapping}`);
        print(`${name}: installed`);
      } catch (error) {
        const reason = `It could not be installed: ${reasonOf(error)}`;
        figures.fail("all tasks", system, reason);
        print(`${name}: ${reason}`);
      }
    }
    await measureRounds(installed, figures, options);
    return { notes: `${NOTES}\n\n${described.join("\n")}`, rows: figures.rows(), comparison: figures.comparison() };
  } finally {
    for (const peers of installed.values()) await peers.remove();
  }
}

async function measureRounds(
  installed: ReadonlyMap<SystemName, InstalledPeers>,
  figures: SystemFigures,
  { rounds, seconds, print }: Options,
): Promise<void> {
  const tasks: Record<TaskName, Task> = {
    many: { name: "writes", clients: CLIENTS, seconds, own: true },
    one: { name: "writes", clients: 1, seconds, own: true },
    heard: { name: "heard", clients: HEARERS, seconds },
    flush: { name: "flush", writes: QUEUED, times: TIMES },
    load: { name: "load", rows: ROWS, times: TIMES },
  };
  const sides: readonly Side[] = ["holdfast", ...installed.keys()];
  await using stage = await openStage();
  for (const task of Object.keys(tasks) as TaskName[])
    for (let round = 0; round < rounds; round++)
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const run = `${task}_${round}_${side}`;
        if (side === "holdfast") figures.note(task, side, await runClient(stage, tasks[task], "sdk", { run, print }));
        else {
          try {
            const { folder: packages } = installed.get(side) as InstalledPeers;
            figures.note(task, side, await runSystem({ system: side, packages, task: tasks[task], run }));
          } catch (error) {
            figures.fail(task, side, reasonOf(error));
            print(`${run}: ${reasonOf(error)}`);
            continue;
          }
        }
        print(`${run}: ${figures.last(task, side)}`);
      }
}

/** `@scope/name@1.2.3` without its version. */
const nameOf = (spec: string) => spec.slice(0, spec.lastIndexOf("@"));

/** In one line, without paths and addresses of this machine: it goes into the page. */
function reasonOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split("\n");
  const said = lines.filter((line) => !/^(Command failed|npm warn)/.test(line)).slice(0, 2);
  return said
    .join(" ")
    .replaceAll(/https?:\/\/\S+|\/\S+/g, "…")
    .replaceAll("|", "\\|")
    .trim();
}
