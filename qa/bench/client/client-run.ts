import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { keepProfile, profileByFile } from "../report/cpu-profile.ts";
import { startProfiled, startProgram, wholeOutput } from "../stage/processes.ts";
import type { ServerReady } from "../stage/server.ts";
import type { Stage } from "../stage/stage.ts";
import type { ClientPlan, Side } from "./client-process.ts";
import type { ClientFigures, Task } from "./tasks.ts";

export interface Run {
  /** Its name. Each run has a database of its own, so that none has the rows of another. */
  readonly run: string;
  readonly profile?: boolean;
  print(line: string): void;
}

/** Where profiles go, in the folder in which the benchmark was started. */
const PROFILES = "bench-profiles";

/** One task by one side, in a process of its own, on a server and a database of its own. */
export async function runClient(
  stage: Stage,
  task: Task,
  side: Side,
  { run, profile = false, print }: Run,
): Promise<ClientFigures> {
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
