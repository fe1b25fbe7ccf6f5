import { type JsonObject, type KeptRecord, limits, type RevertBody, type Reverted } from "@holdfast/sdk/protocol";
import { newId } from "../../../ids.ts";
import { readHead } from "../../../kernel/commits/db/heads.ts";
import type { SubmitCommits } from "../../../kernel/commits/flows/submit-commits.ts";
import type { CommitOperation, CommitRequest } from "../../../kernel/commits/rules/commit-request.ts";
import type { Judged } from "../../../kernel/commits/rules/judge-commits.ts";
import { type StoredEntry, valuesText } from "../../../kernel/commits/rules/stored-entry.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import { schemaAt } from "../../../kernel/schema/flows/live-schema.ts";
import type { LiveSchema, SchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import { presentEntry } from "../../../kernel/schema/rules/schema-change.ts";
import { nameOf, type Principal } from "../../../kernel/tokens/rules/participant.ts";
import { isVisible } from "../../../kernel/tokens/rules/scope.ts";
import {
  type PastSize,
  readPastSizes,
  readPasts,
  readSelected,
  type SelectedRecord,
  type Selection,
} from "../db/selected-entries.ts";
import { type Inverted, invert, type PastChange } from "../rules/invert.ts";

/** Takes changes back, in commits of its own. */
export type RevertChanges = (by: Principal, body: RevertBody) => Promise<Reverted | Refusal>;

const MOST_RECORDS = 10_000;
const RECORDS_AT_ONCE = 100;
/** After that long, the caller asks again: what is taken back already has not changed since, and stays. */
const LONGEST_MS = 20_000;
const MOST_LISTED = 1_000;
/** Of all records together. */
const MOST_SELECTED = 100_000;
/** Of one record's history. */
const MOST_ENTRIES = 1_000;
/** Of the histories that are in memory at once. */
const MOST_BYTES = 16 * 1024 * 1024;

/** What becomes of a record. */
interface Plan {
  readonly record: SelectedRecord;
  readonly inverted: Inverted;
}

export const revertChanges =
  (db: Database, schemas: SchemaCache, submit: SubmitCommits): RevertChanges =>
  async (by, body) => {
    const { dry = false } = body;
    const head = await readHead(db, by.tenant);
    const [from = 1, to = head.syncId] = body.entries ?? [];
    if (body.entries && (to < from || from > head.syncId))
      return refuse("invalid_value", { param: "entries", message: `The log ends at ${head.syncId}.` });
    if (body.entries && from <= head.trimmedTo)
      return refuse("resync_required", { param: "entries", message: `The log begins after ${head.trimmedTo}.` });
    const selection: Selection = {
      ...{ tenant: by.tenant, run: body.run, clientTxId: body.clientTxId, from, to },
      actor: body.actor ?? (body.clientTxId === undefined ? undefined : nameOf(by)),
    };
    const records = await readSelected(db, selection, MOST_SELECTED + 1);
    const selected = records.reduce((sum, { positions }) => sum + positions.length, 0);
    if (records.length > MOST_RECORDS || selected > MOST_SELECTED)
      return refuse("too_many_operations", {
        message: `A revert can be of up to ${MOST_SELECTED} changes of ${MOST_RECORDS} records. Take a part of them: \`entries\` names positions.`,
      });
    const schema = await schemaAt(db, schemas, by.tenant, head.schemaVersion);
    const run = `revert:${body.run ?? body.clientTxId ?? `${from}-${to}`}`.slice(0, limits.runLength);
    const written = { reverted: 0, proposed: 0, lastSyncId: head.syncId };
    const seen = { entries: 0, records: 0 };
    const would: NonNullable<Reverted["would"]> = [];
    const kept: KeptRecord[] = [];
    const until = performance.now() + LONGEST_MS;
    let done = 0;
    for (; done < records.length && (done === 0 || performance.now() < until); done += RECORDS_AT_ONCE) {
      const some = records.slice(done, done + RECORDS_AT_ONCE);
      // Of what is written after this, the commit says that it is stale.
      const { syncId: readAt } = done === 0 ? head : await readHead(db, by.tenant);
      const plans = await plansOf(some, readAt);
      for (const { record, inverted } of plans) {
        seen.entries += record.positions.length;
        seen.records += 1;
        if (inverted.kept) kept.push({ ...shownName(schema, record), ...inverted.kept });
        if (dry && inverted.operations.length > 0) {
          written.reverted += 1;
          for (const operation of inverted.operations) would.push({ ...operation, ...shownName(schema, record) });
        }
      }
      if (!dry)
        await write(
          plans.filter(({ inverted }) => inverted.operations.length > 0),
          readAt,
        );
    }
    return {
      ...{ object: "revert", dry, run, entries: seen.entries, records: seen.records, reverted: written.reverted },
      ...(written.proposed > 0 && { proposed: written.proposed }),
      ...(dry && { would: would.slice(0, MOST_LISTED) }),
      ...{ kept: kept.slice(0, MOST_LISTED), lastSyncId: written.lastSyncId, has_more: done < records.length },
    };

    /** Those that the caller may see. */
    async function plansOf(some: readonly SelectedRecord[], readAt: number): Promise<readonly Plan[]> {
      const sizes = await readPastSizes(db, by.tenant, some, MOST_ENTRIES + 1);
      const plans: Plan[] = [];
      for (const together of inMemory(some.map((record, i) => ({ record, size: sizes[i] ?? NOTHING })))) {
        const isLong = together.some(({ size }) => size.bytes > MOST_BYTES || size.entries > MOST_ENTRIES);
        const group = together.map(({ record }) => record);
        const pasts = await readPasts(db, by.tenant, group, isLong ? 1 : MOST_ENTRIES);
        for (const [i, record] of group.entries()) plans.push(...planOf(record, pasts[i] ?? [], readAt, isLong));
      }
      return plans;
    }

    function planOf(record: SelectedRecord, past: readonly StoredEntry[], readAt: number, isLong: boolean): Plan[] {
      const entries = past.filter(({ syncId }) => syncId <= readAt);
      const isSeen = entries.every(({ model, groups }) => isVisible(by.scope, model, groups));
      if (!isSeen || !schema.models.has(record.model)) return [];
      if (isLong) return [{ record, inverted: { operations: [], kept: { why: "unknown" } } }];
      const { created = "delete", overwrite = false } = body;
      const all = entries.map((entry) => changeOf(schema, entry, new Set(record.positions)));
      const first = all.findIndex((one) => one.selected);
      return [
        { record, inverted: invert({ prior: all[first - 1], changes: all.slice(first) }, { created, overwrite }) },
      ];
    }

    /** In as few commits as possible; if one is refused, each of its records in one of its own. */
    async function write(plans: readonly Plan[], readAt: number): Promise<void> {
      for (const commits of commitsOf(plans)) {
        const judged = await commit(commits, readAt);
        if (judged && isDone(judged)) note(commits, judged);
        else if (commits.length > 1) for (const one of commits) await alone(one, readAt);
        else for (const one of commits) refusedOne(one, judged);
      }
    }

    async function alone(one: Plan, readAt: number): Promise<void> {
      const judged = await commit([one], readAt);
      if (judged && isDone(judged)) note([one], judged);
      else refusedOne(one, judged);
    }

    function note(commits: readonly Plan[], { decision }: Judged): void {
      written[decision.kind === "proposed" ? "proposed" : "reverted"] += commits.length;
      if ("receipt" in decision && "lastSyncId" in decision.receipt)
        written.lastSyncId = Math.max(written.lastSyncId, decision.receipt.lastSyncId ?? 0);
    }

    function refusedOne({ record }: Plan, judged: Judged | undefined): void {
      const refusal = judged?.decision.kind === "refused" ? judged.decision.refusal : refuse("unavailable");
      // It was changed while this was at work: the next request sees that.
      const { code, message } = refusal;
      kept.push({ ...shownName(schema, record), why: "refused", code, ...(message !== undefined && { message }) });
    }

    async function commit(plans: readonly Plan[], readAt: number): Promise<Judged | undefined> {
      const operations = plans.flatMap(({ record: { model, id }, inverted }) =>
        inverted.operations.map(
          (operation): CommitOperation => ({
            ...{ ...operation, model, id, readAt, onStale: "reject" },
          }),
        ),
      );
      const result = await submit([requestOf(by, { operations, run, reason: body.reason })]);
      return result.kind === "judged" ? result.judged[0] : undefined;
    }
  };

const NOTHING: PastSize = { entries: 0, bytes: 0 };

type Sized = { readonly record: SelectedRecord; readonly size: PastSize };

/** Records whose histories fit into memory together. One that is too long is alone. */
function inMemory(records: readonly Sized[]): readonly (readonly Sized[])[] {
  const groups: Sized[][] = [];
  let room = 0;
  for (const one of records) {
    const { entries, bytes } = one.size;
    const isLong = entries > MOST_ENTRIES;
    if (isLong || bytes > room) {
      groups.push([]);
      room = MOST_BYTES;
    }
    groups.at(-1)?.push(one);
    room = isLong ? 0 : room - bytes;
  }
  return groups;
}

const isDone = ({ decision: { kind } }: Judged): boolean => kind === "confirmed" || kind === "proposed";

const requestOf = (
  principal: Principal,
  { operations, run, reason }: { operations: readonly CommitOperation[]; run: string; reason: string | undefined },
): CommitRequest => ({
  ...{ principal, endpoint: "revertChanges", single: false, operations, reads: [], clientId: null, logId: undefined },
  attribution: { ...(reason !== undefined && { reason }), run },
  ...{ idempotencyKey: undefined, clientTxId: newId("ctx_"), serverTxId: newId("stx_"), fingerprint: "" },
});

/** All operations of a record are in one commit. */
function commitsOf(plans: readonly Plan[]): readonly (readonly Plan[])[] {
  const commits: Plan[][] = [];
  let room = 0;
  for (const plan of plans) {
    const count = plan.inverted.operations.length;
    if (count > room) {
      commits.push([]);
      room = limits.operationsPerCommit;
    }
    commits.at(-1)?.push(plan);
    room -= count;
  }
  return commits;
}

/** With the names of the schema at present. */
function changeOf({ models }: LiveSchema, entry: StoredEntry, selected: ReadonlySet<number>): PastChange {
  const { syncId, verb, archivedAt, changedFields, ...rest } = presentEntry(entry, models.get(entry.model)) ?? entry;
  const data = valuesText(rest);
  return {
    verb,
    data: data === null ? null : (JSON.parse(data) as JsonObject),
    changedFields: changedFields === null ? null : (JSON.parse(changedFields) as string[]),
    isArchived: verb === "archived" || (verb === "updated" && archivedAt !== null),
    selected: selected.has(syncId),
  };
}

const shownName = ({ models }: LiveSchema, { model, id }: SelectedRecord) => ({
  model: models.get(model)?.name ?? model,
  id,
});
