import { loadLines, loadWaits, saveClaims } from "../db/claims.ts";
import { loadGroupHeads } from "../db/groups.ts";
import { type LockedHead, lockHeads } from "../db/heads.ts";
import { loadHistory } from "../db/history.ts";
import { loadAuthors } from "../db/log.ts";
import { loadSchema } from "../db/model-schemas.ts";
import type { Pipe } from "../db/pipe.ts";
import { loadReceipts } from "../db/receipts.ts";
import { deleteRecords, loadRecords } from "../db/records.ts";
import { type Round, type SavedGroup, type SavedLine, type SavedReceipt, saveRound } from "../db/save-round.ts";
import { begin, commit as commitTransaction, type Statement } from "../db/statement.ts";
import type { ClaimLine } from "../rules/claim.ts";
import { type AcquireClaim, type ClaimOrder, worldOfOrder } from "../rules/claim-order.ts";
import type { ClaimDecision } from "../rules/claim-queue.ts";
import { judgeClaim } from "../rules/claim-round.ts";
import { writerOf } from "../rules/commit.ts";
import { type CommitRequest, namesOf, operationKeyName, recordKey } from "../rules/commit-request.ts";
import type { DeclaredModel } from "../rules/declared-model.ts";
import { entryText } from "../rules/entry-text.ts";
import { participantName } from "../rules/participant.ts";
import { type Judged, judgeInOrder, lookupFor } from "../rules/round.ts";
import { presentFields } from "../rules/schema-change.ts";
import { type FiledEntry, receiptKey, type WorldState } from "../rules/world-state.ts";
import type { LiveSchema, SchemaCache } from "./schema-cache.ts";

/** What one request asks of a world: commits, one or a bulk's in their order, or something about claims. */
export type Job =
  | { readonly commits: readonly CommitRequest[]; readonly order?: undefined }
  | { readonly order: ClaimOrder; readonly commits?: undefined };

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

/** What the first trip to the database brought: everything is read under the heads' locks. */
export type Loaded = Awaited<ReturnType<typeof load>>;

/** First trip: lock the heads of all worlds concerned, then read whatever the jobs name. */
export async function load(pipe: Pipe, jobs: readonly Job[]) {
  const commits = commitsOf(jobs);
  const orders = jobs.flatMap(({ order }) => order ?? []);
  const worlds = [...new Set(jobs.map(worldOf))].sort((a, b) => a - b);
  const groups = commits.flatMap(groupNames);
  const claimed = orders.map((order) => ({ world: worldOfOrder(order), model: order.model, id: order.record }));
  const written = commits.flatMap(writtenNames);
  const [, heads, receipts, records, lines, groupHeads] = await pipe.send([
    begin,
    lockHeads(worlds),
    loadReceipts(commits.flatMap(receiptNames)),
    loadRecords([...written, ...claimed, ...commits.flatMap(readNames)]),
    loadLines([...written, ...claimed]),
    // Every statement is a message more for both sides, and few commits ask about groups.
    ...(groups.length > 0 ? [loadGroupHeads(groups)] : []),
  ]);
  return { heads, receipts, records, lines, groups: groupHeads ?? [] };
}

const commitsOf = (jobs: readonly Job[]): CommitRequest[] => jobs.flatMap(({ commits }) => commits ?? []);

/** Judges the jobs of each world in the order they came. The database is asked again only about what moved. */
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
    const state = worldState(head, organizationOf(own), schema, loaded, await waitsFor(pipe, head.world, own, loaded));
    await lookUp(pipe, head.world, state, commitsOf(own));
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

/** Nobody in particular asks for what time does; then no rule asks for the organisation either. */
const organizationOf = (jobs: readonly Job[]): string =>
  jobs.map((job) => principalOf(job)?.organization).find((name) => name !== undefined) ?? "";

const principalOf = ({ commits, order }: Job) =>
  commits ? commits[0]?.principal : order.kind === "settle" ? undefined : order.principal;

/** Who waits for whom: asked only when somebody is about to wait for what another has, or gets in this very round. */
async function waitsFor(pipe: Pipe, world: number, jobs: readonly Job[], { lines }: Loaded) {
  const acquiring = jobs.flatMap(({ order }) => (order?.kind === "acquire" ? order : []));
  const others = acquiring
    .filter(({ queue }) => queue)
    .flatMap((order) => [
      ...lines.filter((claim) => claim.world === world && isOfOneRecord(claim, order)),
      ...acquiring.filter((other) => other !== order && isOfOneRecord(other, order)).map(claimantOf),
    ]);
  if (others.length === 0) return [];
  const [waits] = await pipe.send([loadWaits(others)]);
  const known = new Set(
    lines.filter((claim) => claim.world === world).map((claim) => recordKey(claim.model, claim.record)),
  );
  // What the round itself has loaded it knows better.
  return waits.filter(({ model, record }) => !known.has(recordKey(model, record)));
}

type OfRecord = Pick<AcquireClaim, "model" | "record">;
const isOfOneRecord = (a: OfRecord, b: OfRecord): boolean => a.model === b.model && a.record === b.record;

const claimantOf = ({ principal: { world, participantKind, participantId } }: AcquireClaim) => ({
  world,
  participant: participantName(participantKind, participantId),
});

const saveChanged = (worlds: readonly JudgedWorld[]): Statement<void> =>
  saveClaims(
    worlds.flatMap(({ state, batch: { world } }) =>
      [...state.changedClaims.values()].map((changed) => ({ ...changed, world })),
    ),
    worlds.map(({ state, batch: { world } }) => ({ world, claimChange: state.claimChange })),
  );

/** One world after its commits were judged. */
interface JudgedWorld {
  readonly state: WorldState;
  readonly batch: Batch;
}

/** All commits of a job are of one world. */
export const worldOf = ({ commits, order }: Job): number =>
  order === undefined ? (commits[0]?.principal.world ?? 0) : worldOfOrder(order);

const receiptNames = (commit: CommitRequest) => {
  const { world } = commit.principal;
  const participant = writerOf(commit).writtenBy;
  const own = commit.operations.flatMap(({ idempotencyKey }) =>
    idempotencyKey === undefined ? [] : [operationKeyName(idempotencyKey)],
  );
  return [...namesOf(commit), ...own].map((name) => ({ world, participant, name }));
};

const writtenNames = ({ principal: { world }, operations }: CommitRequest) =>
  operations.map(({ model, id }) => ({ world, model, id }));

const readNames = ({ principal: { world }, reads }: CommitRequest) =>
  reads.flatMap(({ model, id }) => (model === undefined || id === undefined ? [] : [{ world, model, id }]));

const groupNames = ({ principal: { world }, reads }: CommitRequest) =>
  reads.flatMap(({ group }) => (group === undefined ? [] : [{ world, name: group }]));

const inWorld = <T extends { readonly world: number }>(world: number, items: readonly T[]): readonly T[] =>
  items.filter((item) => item.world === world);

const worldState = (
  head: LockedHead,
  organization: string,
  schema: LiveSchema,
  { receipts, records, groups, lines }: Loaded,
  waits: WorldState["waits"],
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
  claims: linesByRecord(inWorld(head.world, lines)),
  waits,
  claimChange: head.claimChange,
  changedClaims: new Map(),
});

function linesByRecord(claims: ClaimLine): Map<string, ClaimLine> {
  const lines = new Map<string, ClaimLine>();
  for (const claim of claims) {
    const key = recordKey(claim.model, claim.record);
    const line = lines.get(key) ?? [];
    // Two jobs of a round may have named the same record.
    if (!line.some(({ id }) => id === claim.id)) lines.set(key, [...line, claim]);
  }
  return lines;
}

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
