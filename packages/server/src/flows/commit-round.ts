import { loadGroupHeads } from "../db/groups.ts";
import { type LockedHead, lockHeads } from "../db/heads.ts";
import { loadHistory } from "../db/history.ts";
import { loadAuthors } from "../db/log.ts";
import { loadSchema } from "../db/model-schemas.ts";
import type { Pipe } from "../db/pipe.ts";
import { loadReceipts } from "../db/receipts.ts";
import { deleteRecords, loadRecords } from "../db/records.ts";
import { type Round, type SavedGroup, type SavedLine, type SavedReceipt, saveRound } from "../db/save-round.ts";
import { begin, commit as commitTransaction } from "../db/statement.ts";
import { writerOf } from "../rules/commit.ts";
import { type CommitRequest, namesOf, operationKeyName, recordKey } from "../rules/commit-request.ts";
import type { DeclaredModel } from "../rules/declared-model.ts";
import { entryText } from "../rules/entry-text.ts";
import { type Judged, judgeInOrder, lookupFor } from "../rules/round.ts";
import { presentFields } from "../rules/schema-change.ts";
import { type FiledEntry, receiptKey, type WorldState } from "../rules/world-state.ts";
import type { LiveSchema, SchemaCache } from "./schema-cache.ts";

/** The commits of one request: one, or a bulk's in their order. All of one world. */
export type Job = readonly CommitRequest[];

/** What a round added to one world's log, in order: (from, to]. */
export interface Batch {
  readonly world: number;
  readonly from: number;
  readonly to: number;
  readonly lines: readonly SavedLine[];
}

export interface RoundResult {
  /** For each job, its commits as judged. */
  readonly judged: readonly (readonly Judged[])[];
  readonly batches: readonly Batch[];
  /** What has to be written for all this to be true. */
  readonly round: Round;
  /** The connection whose transaction holds the locks. */
  readonly pipe: Pipe;
}

/** What the first trip to the database brought: everything is read under the heads' locks. */
export type Loaded = Awaited<ReturnType<typeof load>>;

/** First trip: lock the heads of all worlds concerned, then read whatever the commits name. */
export async function load(pipe: Pipe, jobs: readonly Job[]) {
  const commits = jobs.flat();
  const worlds = [...new Set(commits.map(({ principal }) => principal.world))].sort((a, b) => a - b);
  const groups = commits.flatMap(groupNames);
  const [, heads, receipts, records, groupHeads] = await pipe.send([
    begin,
    lockHeads(worlds),
    loadReceipts(commits.flatMap(receiptNames)),
    loadRecords(commits.flatMap(recordNames)),
    // Every statement is a message more for both sides, and few commits ask about groups.
    ...(groups.length > 0 ? [loadGroupHeads(groups)] : []),
  ]);
  return { heads, receipts, records, groups: groupHeads ?? [] };
}

/** Judges the commits of each world in the order they came. The database is asked again only about what moved. */
export async function judgeRound(
  pipe: Pipe,
  schemas: SchemaCache,
  jobs: readonly Job[],
  loaded: Loaded,
): Promise<RoundResult> {
  const judged = new Map<Job, readonly Judged[]>();
  const worlds: JudgedWorld[] = [];
  for (const head of loaded.heads) {
    const own = jobs.filter((job) => worldOf(job) === head.world);
    const commits = own.flat();
    const schema =
      schemas.get(head.world, head.schemaVersion) ??
      schemas.put(head.world, (await pipe.send([loadSchema(head.world, head.schemaVersion)]))[0]);
    const state = worldState(head, commits[0]?.principal.organization ?? "", schema, loaded);
    await lookUp(pipe, head.world, state, commits);
    for (const job of own) judged.set(job, judgeInOrder(state, job));
    const lines = savedLines(
      head.world,
      schema,
      state.now,
      own.flatMap((job) => judged.get(job) ?? []),
    );
    worlds.push({ state, batch: { world: head.world, from: head.syncId, to: state.head.syncId, lines } });
  }
  const answers = jobs.map((job) => judged.get(job));
  if (answers.includes(undefined)) throw new Error("A commit's world has no head.");
  return {
    judged: answers as readonly (readonly Judged[])[],
    batches: worlds.map(({ batch }) => batch).filter(({ lines }) => lines.length > 0),
    round: roundOf(worlds, [...judged.values()].flat()),
    pipe,
  };
}

/** One world after its commits were judged. */
interface JudgedWorld {
  readonly state: WorldState;
  readonly batch: Batch;
}

/** All commits of a job are of one world. */
export const worldOf = (job: Job): number => job[0]?.principal.world ?? 0;

const receiptNames = (commit: CommitRequest) => {
  const { world } = commit.principal;
  const participant = writerOf(commit).writtenBy;
  const own = commit.operations.flatMap(({ idempotencyKey }) =>
    idempotencyKey === undefined ? [] : [operationKeyName(idempotencyKey)],
  );
  return [...namesOf(commit), ...own].map((name) => ({ world, participant, name }));
};

const recordNames = ({ principal: { world }, operations, reads }: CommitRequest) => [
  ...operations.map(({ model, id }) => ({ world, model, id })),
  ...reads.flatMap(({ model, id }) => (model === undefined || id === undefined ? [] : [{ world, model, id }])),
];

const groupNames = ({ principal: { world }, reads }: CommitRequest) =>
  reads.flatMap(({ group }) => (group === undefined ? [] : [{ world, name: group }]));

const inWorld = <T extends { readonly world: number }>(world: number, items: readonly T[]): readonly T[] =>
  items.filter((item) => item.world === world);

const worldState = (
  head: LockedHead,
  organization: string,
  schema: LiveSchema,
  { receipts, records, groups }: Loaded,
): WorldState => ({
  organization,
  models: schema.models,
  now: head.now,
  head,
  records: new Map(inWorld(head.world, records).map((record) => [recordKey(record.model, record.id), record])),
  history: new Map(),
  groupHeads: new Map(inWorld(head.world, groups).map((group) => [group.name, group])),
  authors: new Map(),
  receipts: new Map(
    inWorld(head.world, receipts).map((receipt) => [receiptKey(receipt.participant, receipt.name), receipt]),
  ),
});

/** Asks the log about records and groups that moved after a `readAt`: a trip of its own, and a rare one. */
async function lookUp(pipe: Pipe, world: number, state: WorldState, commits: readonly CommitRequest[]): Promise<void> {
  const { history, authors } = lookupFor(state, commits);
  if (history.size === 0 && authors.size === 0) return;
  const [lists, known] = await pipe.send([
    loadHistory([...history.values()].map((question) => ({ world, ...question }))),
    loadAuthors(world, [...authors]),
  ]);
  for (const [i, [key, { model }]] of [...history].entries())
    state.history.set(
      key,
      (lists[i] ?? []).map((entry) => inPresentWords(entry, state.models.get(model))),
    );
  for (const [position, author] of known) state.authors.set(position, author);
}

/** Fields that were renamed since are told by the names they have now, and hidden ones not at all. */
const inPresentWords = (entry: FiledEntry, declared: DeclaredModel | undefined): FiledEntry =>
  !declared || declared.changes.length === 0 || entry.changedFields === null
    ? entry
    : { ...entry, changedFields: presentFields(entry.changedFields, entry.syncId, declared) };

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
export async function save({ pipe, round }: RoundResult): Promise<void> {
  const gone = round.lines
    .filter(({ last, line }) => last && line.after === null)
    .map(({ world, line }) => ({ world, model: line.model, id: line.id }));
  if (round.receipts.length === 0) await pipe.send([commitTransaction]);
  else if (gone.length === 0) await pipe.send([saveRound(round), commitTransaction]);
  else await pipe.send([saveRound(round), deleteRecords(gone), commitTransaction]);
}
