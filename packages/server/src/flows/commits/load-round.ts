import { limits } from "@holdfast/sdk/protocol";
import { countClaims, loadQueues, loadWaits } from "../../db/claims/claims.ts";
import { loadGroupHeads } from "../../db/commits/group-heads.ts";
import { type LockedHead, lockHeads, type Rewriting } from "../../db/commits/heads.ts";
import { loadHistory } from "../../db/commits/history.ts";
import { loadReceipts } from "../../db/commits/receipts.ts";
import { type AskedRecord, type FoundRecord, loadRecords, loadSmallRecords } from "../../db/commits/records.ts";
import type { Pipe } from "../../db/connection/pipe.ts";
import { begin } from "../../db/connection/statement.ts";
import { loadAuthors } from "../../db/log/log.ts";
import { adoptRecords } from "../../db/schema/rewritten-records.ts";
import { lockTokens } from "../../db/tokens/scoped-tokens.ts";
import { type ClaimQueue, holderName } from "../../rules/claims/claim.ts";
import { type AcquireClaim, type ClaimOrder, tenantOfOrder } from "../../rules/claims/claim-order.ts";
import { valuesAsked } from "../../rules/commits/commit-bytes.ts";
import { type CommitRequest, namesOf, operationKeyName, recordKey } from "../../rules/commits/commit-request.ts";
import { writerOf } from "../../rules/commits/decide-commit.ts";
import { type Judged, lookupFor } from "../../rules/commits/judge-commits.ts";
import {
  type ByteBounds,
  type FiledEntry,
  type RoundBytes,
  receiptKey,
  type TenantState,
} from "../../rules/commits/tenant-state.ts";
import type { DeclaredModel } from "../../rules/schema/declared-model.ts";
import { presentFields } from "../../rules/schema/schema-change.ts";
import { participantName } from "../../rules/tokens/participant.ts";
import type { LiveSchema } from "../schema/schema-cache.ts";

/** The work of one request: one commit, or the commits of a bulk in order, or an order about claims. */
export type Job =
  | {
      readonly commits: readonly CommitRequest[];
      /** The results of its first commits, from earlier rounds: see rules/commits/commit-bytes.ts. */
      readonly judged?: readonly Judged[];
      readonly order?: undefined;
      /** Size of the request's body. */
      readonly bytes?: number;
    }
  | {
      readonly order: ClaimOrder;
      readonly commits?: undefined;
      readonly judged?: undefined;
      readonly bytes?: undefined;
    };

/** All commits of a job have the same tenant. */
export const tenantOf = ({ commits, order }: Job): number =>
  order === undefined ? (commits[0]?.principal.tenant ?? 0) : tenantOfOrder(order);

/** The token for the fair order. Jobs that a timer starts have none. */
export const tokenOf = (job: Job): string => principalOf(job)?.tokenId ?? "";

/** The result of the first round trip. Everything is read under the heads' locks. */
export type Loaded = Awaited<ReturnType<typeof load>>;

/** Size bounds of a record after a write, and of commits and rounds in memory. */
export interface SizeRules extends ByteBounds {
  /** Largest JSON size of a record. */
  readonly recordBytes: number;
}

/**
 * The first round trip: locks the heads of all tenants concerned, then reads everything the jobs name. Claims are not
 * read for a tenant that had none when this lane last read its head. If the locked head says that it has some now, they
 * are read after all.
 */
export async function load(pipe: Pipe, jobs: readonly Job[], unclaimed: Set<number>, sizes: SizeRules) {
  const commits = commitsOf(jobs);
  const orders = jobs.flatMap(({ order }) => order ?? []);
  const tenants = [...new Set(jobs.map(tenantOf))].sort((a, b) => a - b);
  const groups = commits.flatMap(groupNames);
  const claimed = orders.map((order) => ({ tenant: tenantOfOrder(order), model: order.model, id: order.record }));
  const written = commits.flatMap(writtenNames);
  const named = [
    ...commits.flatMap(writtenValues),
    ...[...claimed, ...commits.flatMap(readNames)].map((name) => ({ ...name, values: false })),
  ];
  const asksClaims = orders.length > 0 || tenants.some((tenant) => !unclaimed.has(tenant));
  const askClaims = async () => (await pipe.send([loadQueues([...written, ...claimed])]))[0];
  const [[, heads, receipts, records, groupHeads], entries] = await Promise.all([
    pipe.send([
      begin,
      lockHeads(tenants),
      loadReceipts(commits.flatMap(receiptNames)),
      loadSmallRecords(distinct(named)),
      // Each statement is another message for both sides, and few commits name groups.
      ...(groups.length > 0 ? [loadGroupHeads(groups)] : []),
    ]),
    asksClaims ? askClaims() : undefined,
  ]);
  for (const { tenant, claims } of heads)
    if (claims === 0) unclaimed.add(tenant);
    else unclaimed.delete(tenant);
  const present = await inPresentForm(pipe, heads, distinct(named), records);
  const isSure = entries !== undefined || heads.every(({ tenant }) => unclaimed.has(tenant));
  return {
    heads,
    receipts,
    records: await withLargeValues(pipe, present, commits, sizes),
    entries: entries ?? (isSure ? [] : await askClaims()),
    groups: groupHeads ?? [],
  };
}

/**
 * While a schema push rewrites a tenant's records, the new forms are stored beside the rows. The named records get
 * theirs before they are read.
 */
async function inPresentForm(
  pipe: Pipe,
  heads: readonly (LockedHead & Rewriting)[],
  names: readonly AskedRecord[],
  records: readonly FoundRecord[],
): Promise<readonly FoundRecord[]> {
  const tenants = new Set(heads.filter(({ rewriting }) => rewriting).map(({ tenant }) => tenant));
  const affected = names.filter(({ tenant }) => tenants.has(tenant));
  if (affected.length === 0) return records;
  const [, read] = await pipe.send([adoptRecords(affected), loadSmallRecords(affected)]);
  return [...records.filter(({ tenant }) => !tenants.has(tenant)), ...read];
}

/** Read a record that several commits name only once. */
function distinct(names: readonly AskedRecord[]): AskedRecord[] {
  const byKey = new Map<string, AskedRecord>();
  for (const name of names) {
    const key = tenantKey(name);
    if (name.values || !byKey.has(key)) byKey.set(key, name);
  }
  return [...byKey.values()];
}

/** Most large records per statement. The statement may exceed the byte bound by this many records. */
const MOST_LARGE = 16;

/**
 * Reads the large values that the commits need, in order, until the round is full. The first commit may use up to
 * `commitBytes`, the others up to `roundBytes`. The rest stays "not read".
 */
async function withLargeValues(
  pipe: Pipe,
  records: readonly FoundRecord[],
  commits: readonly CommitRequest[],
  { recordBytes, commitBytes, roundBytes }: SizeRules,
): Promise<readonly FoundRecord[]> {
  if (records.every(({ bytes }) => bytes !== "not read")) return records;
  const byKey = new Map(records.map((record) => [tenantKey(record), record]));
  const wanted = new Map<FoundRecord, "of the first" | "of others">();
  for (const [n, commit] of commits.entries())
    for (const record of valuesAsked(commit, (model, id) =>
      byKey.get(tenantKey({ tenant: commit.principal.tenant, model, id })),
    ))
      if (record.bytes === "not read" && !wanted.has(record))
        wanted.set(record, n === 0 ? "of the first" : "of others");
  const names = [...wanted.keys()];
  // Sizes are unknown before the read. Start with as many records as fit in any case, and read more at a time if they
  // are small.
  let most = Math.max(1, Math.floor(roundBytes / recordBytes));
  let bytes = 0;
  for (let i = 0; i < names.length; ) {
    const bound = wanted.get(names[i] as FoundRecord) === "of the first" ? commitBytes : roundBytes;
    if (bytes >= bound) break;
    const [found] = await pipe.send([loadRecords(names.slice(i, i + most))]);
    i += most;
    for (const record of found) {
      byKey.set(tenantKey(record), record);
      bytes += record.bytes === "not read" ? 0 : (record.bytes ?? 0);
    }
    if (bytes < roundBytes / 2) most = Math.min(2 * most, MOST_LARGE);
  }
  return [...byKey.values()];
}

const tenantKey = ({ tenant, model, id }: Pick<AskedRecord, "tenant" | "model" | "id">): string =>
  `${tenant} ${recordKey(model, id)}`;

/** The commits that have not been judged yet. */
export const commitsOf = (jobs: readonly Job[]): CommitRequest[] =>
  jobs.flatMap(({ commits, judged }) => commits?.slice(judged?.length ?? 0) ?? []);

/** The state of a round that loads nothing. */
const NOTHING_FOUND: Omit<Loaded, "heads"> = {
  receipts: [],
  records: [],
  entries: [],
  groups: [],
};

/** Shared by all tenants of a round. */
export interface RoundSizes {
  readonly recordBytes: number;
  readonly bytes: RoundBytes;
}

export const roundSizes = ({ recordBytes, commitBytes, roundBytes }: SizeRules, jobs: readonly Job[]): RoundSizes => ({
  recordBytes,
  bytes: { commitBytes, roundBytes, first: commitsOf(jobs)[0], used: 0 },
});

/** A tenant with only its head known: no name of its jobs is taken, no named record exists, and none is claimed. */
export const emptyTenantAt = (
  head: LockedHead,
  schema: LiveSchema,
  sizes: RoundSizes,
  jobs: readonly Job[],
): TenantState =>
  tenantState(head, organizationOf(jobs), schema, NOTHING_FOUND, {
    ...sizes,
    claimsHeld: new Map(),
    waits: [],
    revokedTokens: new Set(),
  });

/**
 * The state of one tenant, with everything that its jobs name. Queries the log only for records and groups that have
 * moved.
 */
export async function tenantAt(
  pipe: Pipe,
  head: LockedHead,
  schema: LiveSchema,
  sizes: RoundSizes,
  jobs: readonly Job[],
  loaded: Loaded,
): Promise<TenantState> {
  const asked = {
    ...sizes,
    waits: await waitsFor(pipe, head.tenant, jobs, loaded),
    claimsHeld: await claimsHeld(pipe, head, jobs),
    revokedTokens: await revokedTokens(pipe, jobs),
  };
  const state = tenantState(head, organizationOf(jobs), schema, loaded, asked);
  await lookUp(pipe, head.tenant, state, commitsOf(jobs));
  return state;
}

/** Timer jobs have no principal, and no rule about them needs the organization. */
const organizationOf = (jobs: readonly Job[]): string =>
  jobs.map((job) => principalOf(job)?.organization).find((name) => name !== undefined) ?? "";

const principalOf = ({ commits, order }: Job) =>
  commits ? commits[0]?.principal : order.kind === "settle" ? undefined : order.principal;

/**
 * Loads the wait graph. It is needed only if a queue is reordered, or a claimant is about to wait for a record that is
 * claimed or is claimed in this same round.
 */
async function waitsFor(pipe: Pipe, tenant: number, jobs: readonly Job[], { entries }: Loaded) {
  const acquiring = jobs.flatMap(({ order }) => (order?.kind === "acquire" ? order : []));
  const reordering = jobs.flatMap(({ order }) => (order?.kind === "reorder" ? order : []));
  const others = [...acquiring.filter(({ queue }) => queue), ...reordering].flatMap((order) => [
    ...entries.filter((claim) => claim.tenant === tenant && isOfOneRecord(claim, order)),
    ...acquiring.filter((other) => other !== order && isOfOneRecord(other, order)).map(claimantOf),
  ]);
  if (others.length === 0) return [];
  const [waits] = await pipe.send([loadWaits(others.map((other) => ({ tenant, holder: holderName(other) })))]);
  const known = new Set(
    entries.filter((claim) => claim.tenant === tenant).map((claim) => recordKey(claim.model, claim.record)),
  );
  // The round has loaded these records' queues itself, under the lock: its own state is newer.
  return waits.filter(({ model, record }) => !known.has(recordKey(model, record)));
}

/** Counts claims per participant only if the tenant has enough in total for one participant to reach the limit. */
async function claimsHeld(
  pipe: Pipe,
  { tenant, claims }: LockedHead,
  jobs: readonly Job[],
): Promise<Map<string, number>> {
  const asking = jobs.flatMap(({ order }) => (order?.kind === "acquire" ? order.principal : []));
  if (asking.length === 0 || claims + asking.length <= limits.claimsPerParticipant) return new Map();
  const names = asking.map(({ participantKind, participantId }) => participantName(participantKind, participantId));
  return (await pipe.send([countClaims(tenant, [...new Set(names)])]))[0];
}

/**
 * A process caches tokens for a while. Checks under lock that none was revoked meanwhile, so that a revoked token gets
 * no claim.
 */
async function revokedTokens(pipe: Pipe, jobs: readonly Job[]): Promise<ReadonlySet<string>> {
  const tokens = jobs.flatMap(({ order }) => (order?.kind === "acquire" ? order.principal : []));
  if (tokens.length === 0) return new Set();
  const idsOf = (isSecret: boolean) =>
    [...new Set(tokens.filter(({ tokenKind }) => (tokenKind === "secret_key") === isSecret))].map(
      ({ tokenId }) => tokenId,
    );
  const [scoped, secret] = await pipe.send([
    lockTokens("scoped_token", idsOf(false)),
    lockTokens("secret_key", idsOf(true)),
  ]);
  return new Set([...scoped, ...secret]);
}

type OfRecord = Pick<AcquireClaim, "model" | "record">;
const isOfOneRecord = (a: OfRecord, b: OfRecord): boolean => a.model === b.model && a.record === b.record;

const claimantOf = ({ principal: { tenant, participantKind, participantId }, clientId }: AcquireClaim) => ({
  tenant,
  participant: participantName(participantKind, participantId),
  clientId: clientId ?? null,
});

const receiptNames = (commit: CommitRequest) => {
  const { tenant } = commit.principal;
  const participant = writerOf(commit).writtenBy;
  const own = commit.operations.flatMap(({ idempotencyKey }) =>
    idempotencyKey === undefined ? [] : [operationKeyName(idempotencyKey)],
  );
  return [...namesOf(commit), ...own].map((name) => ({ tenant, participant, name }));
};

const writtenNames = ({ principal: { tenant }, operations }: CommitRequest) =>
  operations.map(({ model, id }) => ({ tenant, model, id }));

/** A deleted record's values are needed only if it has moved, which is not known yet. */
const writtenValues = ({ principal: { tenant }, operations }: CommitRequest): AskedRecord[] =>
  operations.map(({ action, model, id }) => ({ tenant, model, id, values: action !== "delete" && action !== "erase" }));

const readNames = ({ principal: { tenant }, reads }: CommitRequest) =>
  reads.flatMap(({ model, id }) => (model === undefined || id === undefined ? [] : [{ tenant, model, id }]));

const groupNames = ({ principal: { tenant }, reads }: CommitRequest) =>
  reads.flatMap(({ group }) => (group === undefined ? [] : [{ tenant, name: group }]));

const inTenant = <T extends { readonly tenant: number }>(tenant: number, items: readonly T[]): readonly T[] =>
  items.filter((item) => item.tenant === tenant);

const tenantState = (
  head: LockedHead,
  organization: string,
  schema: LiveSchema,
  { receipts, records, groups, entries }: Omit<Loaded, "heads">,
  {
    recordBytes,
    bytes,
    claimsHeld,
    waits,
    revokedTokens,
  }: Pick<TenantState, "recordBytes" | "bytes" | "claimsHeld" | "waits" | "revokedTokens">,
): TenantState => ({
  organization,
  models: schema.models,
  recordBytes,
  bytes,
  now: head.now,
  head,
  records: new Map(inTenant(head.tenant, records).map((record) => [recordKey(record.model, record.id), record])),
  history: new Map(),
  groupHeads: new Map(inTenant(head.tenant, groups).map((group) => [group.name, group])),
  authors: new Map(),
  receipts: new Map(
    inTenant(head.tenant, receipts).map((receipt) => [receiptKey(receipt.participant, receipt.name), receipt]),
  ),
  newReceipts: [],
  claims: entriesByRecord(inTenant(head.tenant, entries)),
  waits,
  revokedTokens,
  claimsHeld: new Map(claimsHeld),
  claimChange: head.claimChange,
  claimCount: head.claims,
  changedClaims: new Map(),
});

function entriesByRecord(claims: ClaimQueue): Map<string, ClaimQueue> {
  const entries = new Map<string, ClaimQueue>();
  for (const claim of claims) {
    const key = recordKey(claim.model, claim.record);
    const entry = entries.get(key) ?? [];
    // Two jobs of a round may name the same record.
    if (!entry.some(({ id }) => id === claim.id)) entries.set(key, [...entry, claim]);
  }
  return entries;
}

/** Loads the history of records and groups that moved after a `readAt`. This is a separate, rare round trip. */
async function lookUp(
  pipe: Pipe,
  tenant: number,
  state: TenantState,
  commits: readonly CommitRequest[],
): Promise<void> {
  const { history, authors } = lookupFor(state, commits);
  if (history.size === 0 && authors.size === 0) return;
  const [lists, known] = await pipe.send([
    loadHistory([...history.values()].map((question) => ({ tenant, ...question }))),
    loadAuthors(tenant, [...authors]),
  ]);
  for (const [i, [key, { model }]] of [...history].entries())
    state.history.set(
      key,
      (lists[i] ?? []).map((entry) => inPresentWords(entry, state.models.get(model))),
    );
  for (const [position, author] of known) state.authors.set(position, author);
}

/** Translates renamed fields to their current names and omits hidden ones. */
const inPresentWords = (entry: FiledEntry, declared: DeclaredModel | undefined): FiledEntry =>
  !declared || declared.changes.length === 0 || entry.changedFields === null
    ? entry
    : { ...entry, changedFields: presentFields(entry.changedFields, entry.syncId, declared) };
