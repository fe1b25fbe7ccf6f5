import type { Pipe } from "../../connection/pipe.ts";
import { loadAuthors } from "../../log/db/log.ts";
import type { LiveSchema } from "../../schema/flows/schema-cache.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import { presentFields } from "../../schema/rules/schema-change.ts";
import type { LockedHead } from "../db/heads.ts";
import { loadHistory } from "../db/history.ts";
import { type CommitRequest, recordKey } from "../rules/commit-request.ts";
import { lookupFor } from "../rules/judge-commits.ts";
import { NO_VALUES, recordValues } from "../rules/record-values.ts";
import { sentReceipt } from "../rules/short-receipt.ts";
import { type FiledEntry, type RoundBytes, receiptKey, type TenantState } from "../rules/tenant-state.ts";
import type { SizeRules } from "./in-rounds.ts";
import { commitsOf, type Job, principalOf } from "./job.ts";
import type { Loaded } from "./load-round.ts";
import { modulesAt } from "./round-modules.ts";

/** The state of a round that loads nothing. */
const NOTHING_FOUND: Pick<Loaded, "receipts" | "records" | "groups" | "values"> = {
  receipts: [],
  records: [],
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
  modules: TenantState["modules"],
): TenantState => tenantState(head, organizationOf(jobs), schema, NOTHING_FOUND, { ...sizes, modules });

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
  const modules = await modulesAt(pipe, { head, schema, jobs }, loaded.modules);
  const state = tenantState(head, organizationOf(jobs), schema, loaded, { ...sizes, modules });
  await lookUp(pipe, head.tenant, state, commitsOf(jobs));
  return state;
}

/** Timer jobs have no principal, and no rule about them needs the organization. */
const organizationOf = (jobs: readonly Job[]): string =>
  jobs.map((job) => principalOf(job)?.organization).find((name) => name !== undefined) ?? "";

const inTenant = <T extends { readonly tenant: number }>(tenant: number, items: readonly T[]): readonly T[] =>
  items.filter((item) => item.tenant === tenant);

const tenantState = (
  head: LockedHead,
  organization: string,
  schema: LiveSchema,
  { receipts, records, groups, values }: typeof NOTHING_FOUND,
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
