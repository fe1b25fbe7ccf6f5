import { saveClaims } from "../db/claims.ts";
import { loadSchema } from "../db/model-schemas.ts";
import type { Pipe } from "../db/pipe.ts";
import { deleteRecords } from "../db/records.ts";
import { type Round, type SavedGroup, type SavedLine, type SavedReceipt, saveRound } from "../db/save-round.ts";
import { commit as commitTransaction, type Statement } from "../db/statement.ts";
import type { ClaimDecision } from "../rules/claim-queue.ts";
import { judgeClaim } from "../rules/claim-round.ts";
import { writerOf } from "../rules/commit.ts";
import { namesOf, operationKeyName, recordKey } from "../rules/commit-request.ts";
import { entryText } from "../rules/entry-text.ts";
import { type Judged, judgeInOrder } from "../rules/round.ts";
import type { WorldState } from "../rules/world-state.ts";
import { type Job, type Loaded, worldAt, worldOf } from "./load-round.ts";
import type { LiveSchema, SchemaCache } from "./schema-cache.ts";

/** What came of a job. */
export type Outcome =
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
  /** The connection whose transaction holds the locks. */
  readonly pipe: Pipe;
}

/** Judges the jobs of each world in the order they came. */
export async function judgeRound(
  pipe: Pipe,
  schemas: SchemaCache,
  jobs: readonly Job[],
  loaded: Loaded,
): Promise<RoundResult> {
  const outcomes = new Map<Job, Outcome>();
  const worlds: JudgedWorld[] = [];
  for (const head of loaded.heads) {
    const own = jobs.filter((job) => worldOf(job) === head.world);
    const schema =
      schemas.get(head.world, head.schemaVersion) ??
      schemas.put(head.world, (await pipe.send([loadSchema(head.world, head.schemaVersion)]))[0]);
    const state = await worldAt(pipe, head, schema, own, loaded);
    for (const job of own) outcomes.set(job, judge(state, job));
    const lines = savedLines(
      head.world,
      schema,
      state.now,
      own.flatMap((job) => outcomes.get(job)?.commits ?? []),
    );
    worlds.push({ state, batch: { world: head.world, from: head.syncId, to: state.head.syncId, lines } });
  }
  const answers = jobs.map((job) => outcomes.get(job));
  if (answers.includes(undefined)) throw new Error("A job's world has no head.");
  const claimed = worlds.filter(({ state }) => state.changedClaims.size > 0);
  return {
    outcomes: answers as readonly Outcome[],
    batches: worlds.map(({ batch }) => batch).filter(({ lines }) => lines.length > 0),
    claimWorlds: claimed.map(({ batch }) => batch.world),
    round: roundOf(
      worlds,
      [...outcomes.values()].flatMap(({ commits }) => commits ?? []),
    ),
    claims: claimed.length > 0 ? [saveChanged(claimed)] : [],
    pipe,
  };
}

const judge = (state: WorldState, { commits, order }: Job): Outcome =>
  order === undefined
    ? { commits: judgeInOrder(state, commits) }
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

function savedLines(world: number, schema: LiveSchema, now: string, judged: readonly Judged[]): SavedLine[] {
  const written = judged.flatMap(({ commit, decision }) =>
    decision.kind === "confirmed" ? decision.lines.map((line) => ({ commit, line })) : [],
  );
  const lastOf = new Map(written.map(({ line }) => [recordKey(line.model, line.id), line]));
  return written.map(({ commit, line }) => ({
    world,
    line,
    entry: entryText(commit, line, schema.models.get(line.model)?.name ?? line.model, now),
    last: lastOf.get(recordKey(line.model, line.id)) === line,
  }));
}

function roundOf(worlds: readonly JudgedWorld[], judged: readonly Judged[]): Round {
  const moved = worlds.filter(({ batch }) => batch.lines.length > 0);
  return {
    lines: moved.flatMap(({ batch }) => batch.lines),
    receipts: judged.flatMap(savedReceipts),
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

function savedReceipts({ commit, decision, body }: Judged): SavedReceipt[] {
  if (decision.kind !== "confirmed" && decision.kind !== "held") return [];
  const held = decision.kind === "held";
  const whose = { world: commit.principal.world, participant: writerOf(commit).writtenBy, held };
  const whole = namesOf(commit).map((name) => ({ ...whose, name, fingerprint: commit.fingerprint, body }));
  const keyed = held ? [] : commit.operations.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  if (keyed.length === 0) return whole;
  const own = new Map(keyed.map(({ idempotencyKey = "", fingerprint = "" }) => [idempotencyKey, fingerprint]));
  // A key that was there before made its operation a repetition: it stays as it is (see saveRound).
  return [
    ...whole,
    ...[...own].map(([key, fingerprint]) => ({ ...whose, name: operationKeyName(key), fingerprint, body: null })),
  ];
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

/** Second trip: writes what was decided, and commits. */
export async function save({ pipe, round, claims }: RoundResult): Promise<void> {
  const gone = round.lines
    .filter(({ last, line }) => last && line.after === null)
    .map(({ world, line }) => ({ world, model: line.model, id: line.id }));
  await pipe.send([
    ...(round.receipts.length > 0 ? [saveRound(round)] : []),
    ...(gone.length > 0 ? [deleteRecords(gone)] : []),
    ...claims,
    commitTransaction,
  ]);
}
