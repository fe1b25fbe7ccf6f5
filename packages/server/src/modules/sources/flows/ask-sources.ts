import { type SourceAnswers, type SourceCommit, type SourceResult, sourceLimits } from "@holdfast/sdk/protocol";
import { writerOf } from "../../../kernel/commits/rules/commit-request.ts";
import { answerOf, type SourceAnswer } from "../rules/source-answer.ts";
import type { SourceIntent } from "../rules/source-intent.ts";
import type { AskSource } from "./submit-commits.ts";

/** Sends commits to a source. Undefined: there was no answer. */
export type SendCommits = (
  tenant: number,
  source: string,
  commits: readonly SourceCommit[],
) => Promise<SourceAnswers["commit"] | "too large" | undefined>;

/** Calls in flight to one source. While they are, its commits gather, and go together. */
const CALLS = 4;
/** More commits that wait for one source are not asked: their authors are told at once. */
const MOST_WAITING = 1_000;

interface Asking {
  readonly since: number;
  readonly commit: SourceCommit;
  readonly bytes: number;
  resolve(answer: SourceAnswer | undefined): void;
}

interface Queue {
  readonly waiting: Asking[];
  calls: number;
}

/** Asks sources about intents. Each source has a queue of its own, so a slow one delays no other. */
export function askSources(send: SendCommits): AskSource {
  const queues = new Map<string, Queue>();

  async function run(key: string, queue: Queue, tenant: number, source: string): Promise<void> {
    queue.calls += 1;
    while (queue.waiting.length > 0) {
      const taken = takeCall(queue.waiting);
      // Their authors have waited as long as for a call.
      const late = performance.now() - sourceLimits.requestMs;
      if (taken.every(({ since }) => since < late)) {
        for (const { resolve } of taken) resolve(undefined);
        continue;
      }
      const commits = taken.map(({ commit }) => commit);
      const results = await ask(tenant, source, commits).catch(() => []);
      // The first one counts, if there are two of one commit.
      const answers = new Map(results.toReversed().map((result) => [result.clientTxId, answerOf(result)]));
      for (const { commit, resolve } of taken) resolve(answers.get(commit.clientTxId));
    }
    queue.calls -= 1;
    if (queue.calls === 0) queues.delete(key);
  }

  /** If the answer would be too large, the commits are asked about again, half of them at a time. */
  async function ask(
    tenant: number,
    source: string,
    commits: readonly SourceCommit[],
  ): Promise<readonly SourceResult[]> {
    const answer = await send(tenant, source, commits);
    if (answer !== "too large") return answer?.results ?? [];
    if (commits.length === 1) return [];
    const half = Math.ceil(commits.length / 2);
    return [
      ...(await ask(tenant, source, commits.slice(0, half))),
      ...(await ask(tenant, source, commits.slice(half))),
    ];
  }

  return (intent) => {
    const { source, commit } = intent;
    const { tenant } = commit.principal;
    const key = `${tenant} ${source}`;
    const queue = queues.get(key) ?? { waiting: [], calls: 0 };
    if (queue.waiting.length >= MOST_WAITING) return Promise.resolve(undefined);
    queues.set(key, queue);
    return new Promise((resolve) => {
      const asked = asCommit(intent);
      queue.waiting.push({
        since: performance.now(),
        commit: asked,
        bytes: Buffer.byteLength(JSON.stringify(asked)),
        resolve,
      });
      if (queue.calls < CALLS) void run(key, queue, tenant, source);
    });
  };
}

/** The first commits, as many as fit into a call; at least one. */
function takeCall(waiting: Asking[]): Asking[] {
  let bytes = 0;
  const end = waiting.findIndex((one, i) => {
    bytes += one.bytes;
    return i > 0 && (i >= sourceLimits.commitsPerCall || bytes > sourceLimits.commitBytes);
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

const asCommit = ({ id, commit, operations }: SourceIntent): SourceCommit => ({
  clientTxId: id,
  writtenBy: writerOf(commit).writtenBy,
  operations: [...operations],
});
