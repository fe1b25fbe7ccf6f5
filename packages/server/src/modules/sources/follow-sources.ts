import { setTimeout as sleep } from "node:timers/promises";
import { openPipe, type Pipe } from "../../kernel/connection/pipe.ts";
import type { Part } from "../../kernel/part.ts";
import { startRepeating } from "../../kernel/workers/repeat.ts";
import type { Worker } from "../../kernel/workers/worker.ts";
import type { ModuleContext } from "../../open/context.ts";
import { noteProblem, pollAgain, type StoredSource, takeDueSources } from "./db/sources.ts";
import type { CallSource } from "./flows/call-source.ts";
import { finishIntents } from "./flows/finish-intents.ts";
import { type FollowDeps, followSource } from "./flows/follow-source.ts";
import { observeRecords } from "./flows/observe-records.ts";
import type { AskSource } from "./flows/submit-commits.ts";

/** How long a run waits for a head that a round of commits holds. */
const LOCK_MS = 200;
/** How soon to read the events of a source again: while there are more, and the longer they are quiet, the later. */
const MORE_MS = 0;
const IDLE_MS = { first: 500, longest: 4_000 };
/** After calls without an answer. */
const REST_MS = { first: 1_000, longest: 15_000 };
/** Most sources that this process reads at once. One that does not answer is read less and less often. */
const MOST = 200;
/** How long a registration waits for the first answer. */
const PATIENCE_MS = 5_000;

/** Finishes what was begun at sources, and brings into the log what they change by themselves. */
export interface FollowedSources extends Part {
  start(): void;
  /** Reads a source for the first time. Resolves when that is over, or after a while. */
  verify(source: StoredSource): Promise<void>;
}

export function followSources(
  ctx: ModuleContext,
  { call, ask }: { readonly call: CallSource; readonly ask: AskSource },
): FollowedSources {
  const { pool, url, verify, schemas, hooks, limits, lanes, publishDrained, logger, report } = ctx;
  const { recordBytes, commitBytes } = limits;
  const failed = report("source_failed");
  const rules = { schemas, modules: hooks.inRounds, recordBytes, commitBytes, roundBytes: commitBytes };
  const running = new Map<string, Promise<void>>();
  /** By tenant: how often its sources had nothing new, one time after the other. */
  const quiet = new Map<number, number>();
  let pipe: Pipe | undefined;
  let newest: Promise<unknown> = Promise.resolve();

  /** One after the other, because the connection has one transaction at a time. */
  const observe: FollowDeps["observe"] = (observation) => {
    const turn = newest.then(async () => {
      if (!pipe?.usable) pipe = await openPipe(url, { lockTimeoutMs: LOCK_MS, verify });
      const { left, ...drained } = await observeRecords(pipe, rules, observation);
      publishDrained(observation.tenant, drained);
      if (drained.to > drained.from) quiet.delete(observation.tenant);
      return left;
    });
    newest = turn.catch(() => {});
    return turn;
  };

  async function tell({ tenant, id }: StoredSource, problem: string): Promise<void> {
    logger.warn(
      { event: "source_record_invalid", source: id, problem },
      "A datasource returned a record that does not fit its model.",
    );
    await noteProblem(pool, tenant, id, problem);
  }

  async function read(source: StoredSource): Promise<void> {
    const { tenant, id, failures } = source;
    let nextMs = REST_MS.first;
    try {
      const found = await followSource({ db: pool, schemas, recordBytes, call, observe, tell }, source);
      const times = quiet.get(tenant) ?? 0;
      quiet.set(tenant, times + 1);
      nextMs = {
        more: MORE_MS,
        again: IDLE_MS.first,
        all: Math.min(IDLE_MS.first * 2 ** times, IDLE_MS.longest),
        "no answer": Math.min(REST_MS.first * 2 ** failures, REST_MS.longest),
      }[found];
    } catch (error) {
      failed(error);
    }
    await pollAgain(pool, tenant, id, nextMs).catch(failed);
  }

  function begin(source: StoredSource): Promise<void> {
    const key = `${source.tenant} ${source.id}`;
    const going = running.get(key) ?? read(source).finally(() => running.delete(key));
    running.set(key, going);
    return going;
  }

  const finish = finishIntents({ db: pool, lanes, ask, report: failed });
  async function readDue(): Promise<number | undefined> {
    const free = MOST - running.size;
    const due = free > 0 ? await takeDueSources(pool, free) : [];
    for (const source of due) void begin(source);
    // Some are due again soon.
    return running.size > 0 || quiet.size > 0 ? 100 : undefined;
  }
  let working: readonly Worker[] = [];

  return {
    verify: (source) => Promise.race([begin(source), sleep(PATIENCE_MS, undefined, { ref: false })]),
    start() {
      working = [startRepeating(finish, failed), startRepeating(readDue, failed)];
    },
    async stop() {
      await Promise.all(working.map(({ stop }) => stop()));
    },
    async close() {
      await newest;
      await pipe?.close();
    },
  };
}
