import { saveClaims } from "../db/claims.ts";
import { eraseRecords, holdOffCopies } from "../db/erase.ts";
import type { LockedHead } from "../db/heads.ts";
import type { HistoryQuestion } from "../db/history.ts";
import { loadSchema } from "../db/model-schemas.ts";
import type { Pipe } from "../db/pipe.ts";
import { deleteRecords } from "../db/records.ts";
import { type Expectation, saveCreates } from "../db/save-creates.ts";
import { type Round, type SavedGroup, type SavedLine, saveRound } from "../db/save-round.ts";
import { commit as commitTransaction, type Statement } from "../db/statement.ts";
import type { ClaimDecision } from "../rules/claim-queue.ts";
import { judgeClaim } from "../rules/claim-round.ts";
import { recordKey } from "../rules/commit-request.ts";
import { storedEntry } from "../rules/entry-text.ts";
import { type Judged, judgeInOrder, lookupFor } from "../rules/round.ts";
import type { LogLine, WorldState } from "../rules/world-state.ts";
import {
  commitsOf,
  emptyWorldAt,
  type Job,
  type Loaded,
  roundSizes,
  type SizeRules,
  worldAt,
  worldOf,
} from "./load-round.ts";
import type { LiveSchema, SchemaCache } from "./schema-cache.ts";

/** What came of a job. */
export type Outcome =
  /** Fewer than the job has: the others have to wait for a later round. */
  | { readonly commits: readonly Judged[]; readonly claim?: undefined }
  | { readonly claim: ClaimOutcome; readonly commits?: undefined };

export interface ClaimOutcome {
  readonly decision: ClaimDecision;
  /** As declared. */
  readonly declaredName: string;
  /** The database's clock when it was judged, in milliseconds since 1970. */
  readonly now: number;
}

/** What a round added to one world's log, in order: (from, to]. */
export interface Batch {
  readonly world: number;
  readonly from: number;
  readonly to: number;
  readonly lines: readonly SavedLine[];
  /** By which they were judged. */
  readonly schema: LiveSchema;
}

export interface RoundResult {
  /** In the order of the jobs. */
  readonly outcomes: readonly Outcome[];
  readonly batches: readonly Batch[];
  /** The worlds whose claims changed. */
  readonly claimWorlds: readonly number[];
  /** What has to be written for all this to be true. */
  readonly round: Round;
  readonly claims: readonly Statement<void>[];
  /** The worlds' heads after it. */
  readonly heads: readonly LockedHead[];
  /** Of a round that was judged before anything was looked up: what it took for granted. */
  readonly expected?: Expectation;
  /** The connection whose transaction holds the locks. */
  readonly pipe: Pipe;
}

/** What every round is judged by. */
export interface RoundRules extends SizeRules {
  readonly schemas: SchemaCache;
}

/** Judges the jobs of each world in the order they came. */
export async function judgeRound(
  pipe: Pipe,
  { schemas, ...rules }: RoundRules,
  jobs: readonly Job[],
  loaded: Loaded,
): Promise<RoundResult> {
  const sizes = roundSizes(rules, jobs);
  const worlds: WorldJobs[] = [];
  for (const head of loaded.heads) {
    const own = jobs.filter((job) => worldOf(job) === head.world);
    const schema =
      schemas.get(head.world, head.schemaVersion) ??
      schemas.put(head.world, (await pipe.send([loadSchema(head.world, head.schemaVersion)]))[0]);
    worlds.push({
      world: head.world,
      jobs: own,
      schema,
      state: await worldAt(pipe, head, schema, sizes, own, loaded),
    });
  }
  return judgeWorlds(pipe, jobs, worlds);
}

/**
 * Judges a round of creates by heads that are expected, without asking the database for anything: as if nothing that
 * it names were there, or had been since it was read. What it saves says so too (see `save`), and fails as a whole where
 * that is wrong. Undefined when one of its commits would not be confirmed: what is not written cannot fail, so nobody
 * would notice.
 */
export function judgeExpected(
  pipe: Pipe,
  { schemas, ...rules }: RoundRules,
  jobs: readonly Job[],
  heads: readonly LockedHead[],
): RoundResult | undefined {
  const sizes = roundSizes(rules, jobs);
  const worlds: WorldJobs[] = [];
  for (const head of heads) {
    const own = jobs.filter((job) => worldOf(job) === head.world);
    const schema = schemas.get(head.world, head.schemaVersion);
    if (!schema) return undefined;
    worlds.push({ world: head.world, jobs: own, schema, state: emptyWorldAt(head, schema, sizes, own) });
  }
  const unseen = worlds.flatMap(questions);
  const result = judgeWorlds(pipe, jobs, worlds);
  const isWritten = result.outcomes.every(
    (outcome, i) =>
      isComplete(jobs[i] as Job, outcome) && outcome.commits?.every(({ decision }) => decision.kind === "confirmed"),
  );
  // The save compares the heads that it moves: one that nothing was written to would go unasked.
  const isMoved = result.round.heads.length === heads.length;
  return isWritten && isMoved ? { ...result, expected: { heads, unseen } } : undefined;
}

/** What would be asked of the log about what moved, if it were asked. */
const questions = ({ world, state, jobs }: WorldJobs): HistoryQuestion[] =>
  [...lookupFor(state, commitsOf(jobs)).history.values()].map((question) => ({ world, ...question }));

/** The jobs of one world, with the world as they find it. */
interface WorldJobs {
  readonly world: number;
  readonly jobs: readonly Job[];
  readonly schema: LiveSchema;
  readonly state: WorldState;
}

function judgeWorlds(pipe: Pipe, jobs: readonly Job[], found: readonly WorldJobs[]): RoundResult {
  const outcomes = new Map<Job, Outcome>();
  const worlds = found.map(({ world, jobs: own, schema, state }) => {
    const from = state.head.syncId;
    for (const job of own) outcomes.set(job, judge(state, job));
    const judged = own.flatMap((job) => outcomes.get(job)?.commits?.slice(job.judged?.length ?? 0) ?? []);
    const lines = savedLines(world, state.now, judged);
    return { state, batch: { world, from, to: state.head.syncId, lines, schema } };
  });
  const answers = jobs.map((job) => outcomes.get(job));
  if (answers.includes(undefined)) throw new Error("A job's world has no head.");
  const claimed = worlds.filter(({ state }) => state.changedClaims.size > 0);
  return {
    outcomes: answers as readonly Outcome[],
    batches: worlds.map(({ batch }) => batch).filter(({ lines }) => lines.length > 0),
    claimWorlds: claimed.map(({ batch }) => batch.world),
    round: roundOf(worlds),
    claims: claimed.length > 0 ? [saveChanged(claimed)] : [],
    heads: worlds.map(({ state: { head, now, claimChange, claimCount }, batch: { world } }) => ({
      ...head,
      world,
      now,
      claimChange,
      claims: claimCount,
    })),
    pipe,
  };
}

/** Whether all that a job asks for is judged. */
export const isComplete = ({ commits }: Job, outcome: Outcome): boolean => commits?.length === outcome.commits?.length;

const judge = (state: WorldState, { commits, judged, order }: Job): Outcome =>
  order === undefined
    ? { commits: judgeInOrder(state, commits, judged) }
    : {
        claim: {
          decision: judgeClaim(state, order),
          declaredName: state.models.get(order.model)?.name ?? order.model,
          now: Date.parse(state.now),
        },
      };

const saveChanged = (worlds: readonly JudgedWorld[]): Statement<void> =>
  saveClaims(
    worlds.flatMap(({ state, batch: { world } }) =>
      [...state.changedClaims.values()].map((changed) => ({ ...changed, world })),
    ),
    worlds.map(({ state, batch: { world } }) => ({ world, claimChange: state.claimChange, claims: state.claimCount })),
  );

/** One world after its commits were judged. */
interface JudgedWorld {
  readonly state: WorldState;
  readonly batch: Batch;
}

function savedLines(world: number, now: string, judged: readonly Judged[]): SavedLine[] {
  const written = judged.flatMap(({ commit, decision }) =>
    decision.kind === "confirmed" ? decision.lines.map((line) => ({ commit, line })) : [],
  );
  // Who was made first in this round was not there before it; what is said last of a record is what it is now, and what
  // was said before its erasure has no values.
  const made = new Set<string>();
  const last = new Map<string, LogLine>();
  const erasedAt = new Map<string, number>();
  for (const { line } of written) {
    const key = recordKey(line.model, line.id);
    if (line.verb === "created" && !last.has(key)) made.add(key);
    last.set(key, line);
    if (line.verb === "erased") erasedAt.set(key, line.syncId);
  }
  return written.map(({ commit, line }) => {
    const key = recordKey(line.model, line.id);
    const isErased = line.syncId < (erasedAt.get(key) ?? 0);
    return {
      world,
      entry: storedEntry(commit, isErased ? { ...line, text: null } : line, now),
      createdSyncId: line.createdSyncId,
      after: line.after,
      row: last.get(key) !== line ? null : line.after === null ? "deleted" : made.has(key) ? "inserted" : "updated",
    };
  });
}

function roundOf(worlds: readonly JudgedWorld[]): Round {
  const moved = worlds.filter(({ batch }) => batch.lines.length > 0);
  return {
    lines: moved.flatMap(({ batch }) => batch.lines),
    receipts: worlds.flatMap(({ state, batch: { world } }) =>
      state.newReceipts.map(({ participant, name, fingerprint, body, held }) => ({
        world,
        participant,
        name,
        fingerprint,
        body,
        held,
      })),
    ),
    heads: moved.map(({ state: { head, now }, batch: { world } }) => ({
      world,
      syncId: head.syncId,
      writer: head.writer,
      otherSyncId: head.otherSyncId,
      now,
    })),
    groups: moved.flatMap(movedGroups),
    now: worlds[0]?.state.now ?? "",
  };
}

/**
 * The groups that have news. Of one that the round did not ask about only its own positions are known, which is what
 * `saveRound` takes: it keeps what it finds for the rest.
 */
const movedGroups = ({ state, batch: { world, from } }: JudgedWorld): SavedGroup[] =>
  [...state.groupHeads].flatMap(([name, head]) =>
    head.syncId > from
      ? [{ world, name, syncId: head.syncId, writer: head.writer, otherSyncId: head.otherSyncId }]
      : [],
  );

/** Second trip, or the only one: writes what was decided, and commits. */
export function save({ pipe, round, claims, expected }: RoundResult): Promise<unknown> {
  if (expected) return pipe.send([saveCreates(round, expected)]);
  const erased = round.lines
    .filter(({ entry }) => entry.verb === "erased")
    .map(({ world, entry: { model, id, syncId } }) => ({ world, model, id, syncId }));
  const gone = round.lines
    .filter(({ row }) => row === "deleted")
    .map(({ world, entry: { model, id } }) => ({ world, model, id }));
  return pipe.send([
    ...(round.receipts.length > 0 ? [saveRound(round)] : []),
    ...(erased.length > 0 ? [holdOffCopies(erased.map(({ world }) => world)), eraseRecords(erased)] : []),
    ...(gone.length > 0 ? [deleteRecords(gone)] : []),
    ...claims,
    commitTransaction,
  ]);
}
