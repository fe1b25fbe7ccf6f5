import { limits } from "@holdfast/sdk/protocol";
import { countClaims, loadWaits } from "../../db/claims/claims.ts";
import type { LockedHead } from "../../db/commits/heads.ts";
import { loadHistory } from "../../db/commits/history.ts";
import type { Pipe } from "../../db/connection/pipe.ts";
import { loadAuthors } from "../../db/log/log.ts";
import { lockTokens, readEndedTokens } from "../../db/tokens/scoped-tokens.ts";
import { type ClaimQueue, holderName } from "../../rules/claims/claim.ts";
import type { AcquireClaim } from "../../rules/claims/claim-order.ts";
import { claimsRound } from "../../rules/claims/claims-round.ts";
import { CLAIMS, type ClaimsState } from "../../rules/claims/claims-state.ts";
import { type CommitRequest, recordKey } from "../../rules/commits/commit-request.ts";
import { lookupFor } from "../../rules/commits/judge-commits.ts";
import { NO_VALUES, recordValues } from "../../rules/commits/record-values.ts";
import { sentReceipt } from "../../rules/commits/short-receipt.ts";
import {
  type FiledEntry,
  type RoundBytes,
  type RoundModule,
  receiptKey,
  type TenantState,
} from "../../rules/commits/tenant-state.ts";
import type { DeclaredModel } from "../../rules/schema/declared-model.ts";
import { presentFields } from "../../rules/schema/schema-change.ts";
import { SOURCES, type TenantIntents } from "../../rules/sources/tenant-intents.ts";
import { TABLES, tablesRound } from "../../rules/tables/tenant-tables.ts";
import { nameOf } from "../../rules/tokens/participant.ts";
import type { LiveSchema } from "../schema/schema-cache.ts";
import { commitsOf, type Job, principalOf } from "./job.ts";
import type { Loaded, SizeRules } from "./load-round.ts";

/** The state of a round that loads nothing. */
const NOTHING_FOUND: Omit<Loaded, "heads"> = {
  receipts: [],
  records: [],
  entries: [],
  groups: [],
  intents: { reserved: [], open: [], listed: [] },
  unread: new Set(),
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
    modules: modulesAt(head, NOTHING_FOUND, { held: new Map(), waits: [], revokedTokens: new Set() }),
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
    waits: await waitsFor(pipe, head.tenant, jobs, loaded),
    held: await claimsHeld(pipe, head, jobs),
    revokedTokens: await revokedTokens(pipe, jobs),
  };
  const modules = modulesAt(head, loaded, asked);
  const state = tenantState(head, organizationOf(jobs), schema, loaded, { ...sizes, modules });
  await lookUp(pipe, head.tenant, state, commitsOf(jobs));
  return state;
}

/** Timer jobs have no principal, and no rule about them needs the organization. */
const organizationOf = (jobs: readonly Job[]): string =>
  jobs.map((job) => principalOf(job)?.organization).find((name) => name !== undefined) ?? "";

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
  const names = asking.map(nameOf);
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
  const [scoped, secret, ended] = await pipe.send([
    lockTokens("scoped_token", idsOf(false)),
    lockTokens("secret_key", idsOf(true)),
    readEndedTokens(tokens.map(({ tokenId }) => tokenId)),
  ]);
  return new Set([...scoped, ...secret, ...ended]);
}

type OfRecord = Pick<AcquireClaim, "model" | "record">;
const isOfOneRecord = (a: OfRecord, b: OfRecord): boolean => a.model === b.model && a.record === b.record;

const claimantOf = ({ principal, clientId }: AcquireClaim) => ({
  tenant: principal.tenant,
  participant: nameOf(principal),
  clientId: clientId ?? null,
});

const inTenant = <T extends { readonly tenant: number }>(tenant: number, items: readonly T[]): readonly T[] =>
  items.filter((item) => item.tenant === tenant);

const tenantState = (
  head: LockedHead,
  organization: string,
  schema: LiveSchema,
  { receipts, records, groups, values }: Omit<Loaded, "heads">,
  { recordBytes, bytes, modules }: Pick<TenantState, "recordBytes" | "bytes" | "modules">,
): TenantState => ({
  organization,
  models: schema.models,
  recordBytes,
  bytes,
  now: head.now,
  head,
  records: new Map(inTenant(head.tenant, records).map((record) => [recordKey(record.model, record.id), record])),
  history: new Map(),
  values: recordValues(schema.values, values?.get(head.tenant) ?? NO_VALUES),
  groupHeads: new Map(inTenant(head.tenant, groups).map((group) => [group.name, group])),
  authors: new Map(),
  receipts: new Map(
    inTenant(head.tenant, receipts).map(({ participant, name, fingerprint, kept, conflicted }) => [
      receiptKey(participant, name),
      { fingerprint, body: sentReceipt(kept ?? "", name), conflicted },
    ]),
  ),
  newReceipts: [],
  modules,
});

/** What the modules know of a tenant in a round. */
const modulesAt = (
  head: LockedHead,
  { entries, tables, intents }: Omit<Loaded, "heads">,
  { held, ...known }: Pick<ClaimsState, "held" | "waits" | "revokedTokens">,
): TenantState["modules"] =>
  new Map<string, RoundModule>([
    ...(tables ? [[TABLES, tablesRound(tables)] as const] : []),
    [
      CLAIMS,
      claimsRound({
        ...known,
        held: new Map(held),
        queues: entriesByRecord(inTenant(head.tenant, entries)),
        change: head.claimChange,
        count: head.claims,
        changed: new Map(),
      }),
    ],
    [SOURCES, intentsAt(head, intents)],
  ]);

const intentsAt = (
  { tenant }: LockedHead,
  { reserved, open, listed }: Loaded["intents"],
): RoundModule & TenantIntents => ({
  reserved: new Set(inTenant(tenant, reserved).map(({ key }) => key)),
  open: new Set(open),
  listed: new Set(inTenant(tenant, listed).map(({ model }) => model)),
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
