import { newId } from "../../../ids.ts";
import type { CommitLanes, JobResult } from "../../../kernel/commits/flows/commit-lanes.ts";
import type { TakeCommits } from "../../../kernel/commits/flows/submit-commits.ts";
import { fullFor } from "../../../kernel/commits/rules/answer-room.ts";
import { type CommitRequest, touched } from "../../../kernel/commits/rules/commit-request.ts";
import { type Judged, judgedAs } from "../../../kernel/commits/rules/judge-commits.ts";
import type { Share } from "../../../kernel/limits/answer-bytes.ts";
import { refuse } from "../../../kernel/refusal.ts";
import type { SourceAnswer } from "../rules/source-answer.ts";
import { receiptKeys, reservedKeys, type SourceIntent } from "../rules/source-intent.ts";
import { SOURCES } from "../rules/tenant-intents.ts";
import { beginStep, endStep } from "./intents-in-rounds.ts";
import { turns } from "./turns.ts";

/** Undefined: there was no answer, and what became of the commit is not known. */
export type AskSource = (intent: SourceIntent) => Promise<SourceAnswer | undefined>;

/**
 * Submits the commits of tenants some of whose models have sources. One whose records are at a source takes three steps,
 * and holds no lock during the second:
 *
 *   judge, and keep its records for it ─► ask the source ─► append it to the log, or refuse it, and free its records
 *
 * If the last step is not reached, the intent that the first one left is finished later: see finish-intents.ts.
 */
export function submitToSources(lanes: Pick<CommitLanes, "submit" | "step">, ask: AskSource): TakeCommits {
  /** Tenants some of whose models have sources, as far as this process has found. */
  const known = new Set<number>();
  // The lanes would refuse to begin a commit while another one that writes its records is on its way, and try again and
  // again. Those of other processes meet there.
  const inTurn = turns<JobResult>(PATIENCE_MS, { kind: "failed", code: "overloaded", message: NOT_ITS_TURN });

  async function submitOne(commit: CommitRequest, bytes: number, share?: Share): Promise<JobResult> {
    for (;;) {
      const begun = await lanes.step(commit, beginStep(newId("int_")), bytes, share);
      if (begun.kind !== "answered") return begun;
      const intent = begun.answer;
      if (intent !== "no sources") {
        const answer = await ask(intent);
        return answer ? await settle(lanes, intent, answer) : { kind: "failed", code: "source_unavailable" };
      }
      known.delete(commit.principal.tenant);
      const result = await lanes.submit([commit], bytes, share);
      if (result.kind !== "taken") return result;
      if (result.by !== SOURCES) throw new Error(`The modules "${SOURCES}" and "${result.by}" take the same commits.`);
    }
  }

  return (next) =>
    async (commits, bytes = 0, answer) => {
      const tenant = commits[0]?.principal.tenant ?? 0;
      if (!known.has(tenant)) {
        const result = await next(commits, bytes, answer);
        if (result.kind !== "taken" || result.by !== SOURCES) return result;
        known.add(tenant);
      }
      return await inWaves(commits, (commit) =>
        inTurn(
          ofTenant(commit, reservedKeys(commit)),
          () => submitOne(commit, bytes / commits.length, answer?.share()),
          // By then its receipt is there, and any number can have it.
          ofTenant(commit, receiptKeys(commit)),
        ),
      );
    };
}

/** Ends an intent by its source's answer. */
export const settle = (
  lanes: Pick<CommitLanes, "step">,
  intent: SourceIntent,
  answer: SourceAnswer,
): Promise<JobResult> => lanes.step<never>(intent.commit, endStep(intent, answer)) as Promise<JobResult>;

const NOT_ITS_TURN =
  "Nothing was written: earlier commits that write the same records wait for their datasource. Try again later.";
/** How long a commit waits for earlier ones that write its records. */
const PATIENCE_MS = 5_000;

const ofTenant = ({ principal: { tenant } }: CommitRequest, keys: readonly string[]): readonly string[] =>
  keys.map((key) => `${tenant} ${key}`);

/**
 * Submits the commits of one request: those that touch different records together, the others in order. One that builds
 * on a commit that did not happen is refused.
 */
export async function inWaves(
  commits: readonly CommitRequest[],
  submit: (commit: CommitRequest) => Promise<JobResult>,
): Promise<JobResult> {
  const judged: Judged[] = [];
  const blockers = new Map<string, number>();
  /** Why no further commit is tried. */
  let full: ReturnType<typeof fullFor>;
  while (judged.length < commits.length) {
    const wave = independent(commits.slice(judged.length));
    const results = await Promise.all(
      wave.map(async (commit): Promise<JobResult> => {
        if (full) return { kind: "judged", judged: [judgedAs(commit, { kind: "refused", refusal: refuse(full) })] };
        const blockedBy = touched(commit).flatMap((key) => blockers.get(key) ?? [])[0];
        if (blockedBy === undefined) return await submit(commit);
        const refusal = refuse("dependency_blocked", { blockedBy });
        return { kind: "judged", judged: [judgedAs(commit, { kind: "refused", refusal })] };
      }),
    );
    for (const result of results) {
      // Those that happened have receipts: if the request is repeated, they are found.
      if (result.kind === "failed") return result;
      const [one] = result.judged as readonly [Judged];
      if (!isDone(one)) for (const key of touched(one.commit)) if (!blockers.has(key)) blockers.set(key, judged.length);
      judged.push(one);
    }
    full ??= judged.map(({ decision }) => fullFor(decision)).find((found) => found !== undefined);
  }
  return { kind: "judged", judged };
}

const isDone = ({ decision }: Judged): boolean =>
  decision.kind === "confirmed" || (decision.kind === "replayed" && !decision.receipt.conflicted);

/** The first commits, as many as touch different records. */
function independent(commits: readonly CommitRequest[]): readonly CommitRequest[] {
  const seen = new Set<string>();
  const end = commits.findIndex((commit) => {
    const keys = touched(commit);
    if (keys.some((key) => seen.has(key))) return true;
    for (const key of keys) seen.add(key);
    return false;
  });
  return end < 0 ? commits : commits.slice(0, end);
}
