import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ClientFigures, Task } from "../client/tasks.ts";
import { endProgram, firstLine, startProgram, wholeOutput } from "../stage/processes.ts";
import type { SystemName } from "./chosen-system.ts";
import type { Outcome, SystemClientPlan, SystemServerPlan } from "./system-plans.ts";

interface Run {
  readonly system: SystemName;
  /** Where its packages are. */
  readonly packages: string;
  readonly task: Task;
  readonly run: string;
}

/** A task that takes longer than this ends with its processes. */
const PATIENCE_MS = 300_000;

/** Without Node's warnings of many listeners, which some of their servers cause for each client. */
const production = { NODE_ENV: "production", NODE_NO_WARNINGS: "1" };

/** One task by another system: its server in one process, its clients in another. */
export async function runSystem({ system, packages, task, run }: Run): Promise<ClientFigures> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-system-"));
  const rows = task.name === "load" ? task.rows : 0;
  const serverPlan: SystemServerPlan = { system, packages, folder, rows };
  const server = startProgram(new URL("system-server.ts", import.meta.url), [JSON.stringify(serverPlan)], production);
  try {
    const { url } = successful(
      await patiently(firstLine<Outcome<{ readonly url: string }>>(server), "Its server did not start"),
    );
    server.stdout?.resume();
    const clientPlan: SystemClientPlan = { system, packages, url, task, run };
    const client = startProgram(new URL("system-client.ts", import.meta.url), [JSON.stringify(clientPlan)], production);
    const ended = once(client, "exit");
    try {
      const outcome = await patiently(wholeOutput<Outcome<ClientFigures>>(client), "Its clients did not finish");
      await ended;
      return successful(outcome);
    } finally {
      await endProgram(client);
    }
  } finally {
    await endProgram(server);
    rmSync(folder, { recursive: true, force: true });
  }
}

function successful<T extends object>(outcome: Outcome<T>): T {
  if ("failed" in outcome) throw new Error(outcome.failed);
  return outcome;
}

async function patiently<T>(work: Promise<T>, otherwise: string): Promise<T> {
  const stop = new AbortController();
  const late = pause(PATIENCE_MS, undefined, stop).then(() => {
    throw new Error(`${otherwise} within ${PATIENCE_MS / 1_000} s.`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
  }
}
