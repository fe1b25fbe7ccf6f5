import type { Pipe } from "../../connection/pipe.ts";
import { begin, type Statement } from "../../connection/statement.ts";
import type { RecordRelation } from "../../lists/db/record-relation.ts";
import { adoptRecords } from "../../schema/db/rewritten-records.ts";
import { loadGroupHeads } from "../db/group-heads.ts";
import { type LockedHead, lockHeads, type Rewriting } from "../db/heads.ts";
import { loadReceipts } from "../db/receipts.ts";
import {
  type FoundRecord,
  loadRecords,
  loadRelationRecords,
  loadSmallRecords,
  type RequestedRecord,
} from "../db/records.ts";
import { valuesAsked } from "../rules/commit-bytes.ts";
import { type CommitRequest, namesOf, operationKeyName, recordKey, writerOf } from "../rules/commit-request.ts";
import type { FoundValues } from "../rules/record-values.ts";
import type { ByteBounds } from "../rules/tenant-state.ts";
import type { SizeRules } from "./in-rounds.ts";
import { type Ask, commitsOf, type Job, tenantOf } from "./job.ts";
import { beginLoads, type ModuleLoads } from "./round-modules.ts";

/** The result of the first round trip. Everything is read under the heads' locks. */
export type Loaded = Awaited<ReturnType<typeof load>> & {
  /** By tenant: what a judgement found missing. */
  readonly values?: ReadonlyMap<number, FoundValues>;
};

/** The models of the round's tenant whose records are in relations of a module. */
export interface PlacedModels {
  /** Undefined: its rows cannot be read now. */
  readonly relations: ReadonlyMap<string, RecordRelation | undefined>;
  /** What is read of their records: the rows, or only what the rows lack. */
  readonly read: "rows" | "lines";
}

const NONE_PLACED: PlacedModels = { relations: new Map(), read: "rows" };

/** What has happened cannot be refused for its size. Those who bring it into the log take a bounded part at a time. */
export const NO_BOUNDS: ByteBounds = {
  commitBytes: Number.MAX_SAFE_INTEGER,
  roundBytes: Number.MAX_SAFE_INTEGER,
};

/**
 * The first round trip: locks the heads of all tenants concerned, then reads everything the jobs name. `opening` begins
 * the transaction, unless one is open.
 */
export async function load(
  pipe: Pipe,
  jobs: readonly Job[],
  loads: ModuleLoads,
  sizes: SizeRules,
  opening: Statement<void> = begin,
  placed: PlacedModels = NONE_PLACED,
) {
  const commits = commitsOf(jobs);
  const tenants = [...new Set(jobs.map(tenantOf))].sort((a, b) => a - b);
  const groups = commits.flatMap(groupNames);
  const inQuestion = jobs.flatMap(({ ask }) => (ask ? recordAsked(ask) : []));
  const named = [
    ...commits.flatMap(writtenValues),
    ...[...inQuestion, ...commits.flatMap(readNames)].map((name) => ({ ...name, values: false })),
  ];
  const { relations } = placed;
  const asked = distinct(named);
  const kept = asked.filter(({ model }) => !relations.has(model));
  const ofRows = placed.read === "rows" ? byRelation(asked, relations) : [];
  const lines =
    placed.read === "lines"
      ? asked.filter(({ model }) => relations.has(model)).map((name) => ({ ...name, values: false }))
      : [];
  const [[, heads, receipts, records, groupHeads], rows, endLoads] = await Promise.all([
    pipe.send([
      opening,
      lockHeads(tenants),
      loadReceipts(commits.flatMap(receiptNames)),
      loadSmallRecords([...kept, ...lines]),
      // Each statement is another message for both sides, and few commits name groups.
      ...(groups.length > 0 ? [loadGroupHeads(groups)] : []),
    ]),
    ofRows.length > 0
      ? pipe.send(ofRows.map(({ relation, names }) => loadRelationRecords(relation, names, "small")))
      : undefined,
    beginLoads(pipe, loads, jobs),
  ]);
  const present = await inPresentForm(pipe, heads, kept, records);
  const withRows = [...present, ...(rows ?? []).flatMap((found) => found ?? [])];
  return {
    heads,
    receipts,
    /** Models whose relations could not be read. */
    unread: new Set(ofRows.flatMap(({ model }, i) => (rows?.[i] ? [] : model))),
    records: placed.read === "lines" ? withRows : await withLargeValues(pipe, withRows, commits, sizes, relations),
    groups: groupHeads ?? [],
    modules: await endLoads(heads),
  };
}

/**
 * While a schema push rewrites a tenant's records, the new forms are stored beside the rows. The named records get
 * theirs before they are read.
 */
export async function inPresentForm(
  pipe: Pipe,
  heads: readonly (LockedHead & Rewriting)[],
  names: readonly RequestedRecord[],
  records: readonly FoundRecord[],
): Promise<readonly FoundRecord[]> {
  const tenants = new Set(heads.filter(({ rewriting }) => rewriting).map(({ tenant }) => tenant));
  const affected = names.filter(({ tenant }) => tenants.has(tenant));
  if (affected.length === 0) return records;
  const [, read] = await pipe.send([adoptRecords(affected), loadSmallRecords(affected)]);
  return [...records.filter(({ tenant }) => !tenants.has(tenant)), ...read];
}

/** The names of records of modules, by relation. */
function byRelation(names: readonly RequestedRecord[], relations: PlacedModels["relations"]) {
  return [...relations].flatMap(([model, relation]) => {
    const own = names.filter((name) => name.model === model);
    return relation === undefined || own.length === 0 ? [] : [{ model, relation, names: own }];
  });
}

/** Read a record that several commits name only once. */
function distinct(names: readonly RequestedRecord[]): RequestedRecord[] {
  const byKey = new Map<string, RequestedRecord>();
  for (const name of names) {
    const key = tenantKey(name);
    if (name.values || !byKey.has(key)) byKey.set(key, name);
  }
  return [...byKey.values()];
}

/** Most large records per statement, which may exceed the byte bound by so many. Each has up to 32 MiB, and an answer is bounded. */
const MOST_LARGE = 7;

/**
 * Reads the large values that the commits need, in order, until the round is full. The first commit may use up to
 * `commitBytes`, the others up to `roundBytes`. The rest stays "not read".
 */
async function withLargeValues(
  pipe: Pipe,
  records: readonly FoundRecord[],
  commits: readonly CommitRequest[],
  { recordBytes, commitBytes, roundBytes }: SizeRules,
  relations: PlacedModels["relations"],
): Promise<readonly FoundRecord[]> {
  if (records.every(({ bytes }) => bytes !== "not read")) return records;
  const byKey = new Map(records.map((record) => [tenantKey(record), record]));
  const wanted = new Map<FoundRecord, "of the first" | "of others">();
  for (const [n, commit] of commits.entries())
    for (const record of valuesAsked(commit, (model, id) =>
      byKey.get(tenantKey({ tenant: commit.principal.tenant, model, id })),
    ))
      if (record.bytes === "not read" && record.unreadable === undefined && !wanted.has(record))
        wanted.set(record, n === 0 ? "of the first" : "of others");
  const names = [...wanted.keys()];
  // Sizes are unknown before the read. Start with as many records as fit in any case, and read more at a time if they
  // are small.
  let most = Math.max(1, Math.floor(roundBytes / recordBytes));
  let bytes = 0;
  for (let i = 0; i < names.length; ) {
    const bound = wanted.get(names[i] as FoundRecord) === "of the first" ? commitBytes : roundBytes;
    if (bytes >= bound) break;
    const next = names.slice(i, i + most).map((name) => ({ ...nameOf(name), values: true }));
    const found = (
      await pipe.send([
        loadRecords(next.filter(({ model }) => !relations.has(model))),
        ...byRelation(next, relations).map(({ relation, names: own }) => loadRelationRecords(relation, own, "any")),
      ])
    ).flatMap((some) => some ?? []);
    i += most;
    for (const record of found) {
      byKey.set(tenantKey(record), record);
      bytes += record.bytes === "not read" ? 0 : (record.bytes ?? 0);
    }
    if (bytes < roundBytes / 2) most = Math.min(2 * most, MOST_LARGE);
  }
  return [...byKey.values()];
}

const nameOf = ({ tenant, model, id }: FoundRecord) => ({ tenant, model, id });

const tenantKey = ({ tenant, model, id }: Pick<RequestedRecord, "tenant" | "model" | "id">): string =>
  `${tenant} ${recordKey(model, id)}`;

const recordAsked = ({ tenant, model, record }: Ask) => ({ tenant, model, id: record });

const receiptNames = (commit: CommitRequest) => {
  const { tenant } = commit.principal;
  const participant = writerOf(commit).writtenBy;
  const own = commit.operations.flatMap(({ idempotencyKey }) =>
    idempotencyKey === undefined ? [] : [operationKeyName(idempotencyKey)],
  );
  return [...namesOf(commit), ...own].map((name) => ({ tenant, participant, name }));
};

/** A deleted record's values say which readers had it. */
const writtenValues = ({ principal: { tenant }, operations }: CommitRequest): RequestedRecord[] =>
  operations.map(({ action, model, id }) => ({ tenant, model, id, values: action !== "erase" }));

const readNames = ({ principal: { tenant }, reads }: CommitRequest) =>
  reads.flatMap(({ model, id }) => (model === undefined || id === undefined ? [] : [{ tenant, model, id }]));

const groupNames = ({ principal: { tenant }, reads }: CommitRequest) =>
  reads.flatMap(({ group }) => (group === undefined ? [] : [{ tenant, name: group }]));
