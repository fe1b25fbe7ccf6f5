import { ownValue } from "@holdfast/sdk/protocol";
import { newId } from "../../../ids.ts";
import { lockHeads } from "../../../kernel/commits/db/heads.ts";
import { loadHistory } from "../../../kernel/commits/db/history.ts";
import { TenantElsewhere } from "../../../kernel/commits/db/tenant-elsewhere.ts";
import { judgeRound, savings } from "../../../kernel/commits/flows/commit-round.ts";
import type { RoundRules } from "../../../kernel/commits/flows/in-rounds.ts";
import { load, NO_BOUNDS } from "../../../kernel/commits/flows/load-round.ts";
import { openLoads } from "../../../kernel/commits/flows/round-modules.ts";
import type { Drained } from "../../../kernel/commits/flows/round-result.ts";
import { capturedCommit } from "../../../kernel/commits/rules/captured-commit.ts";
import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { RecordChange } from "../../../kernel/commits/rules/record-change.ts";
import type { RecordState } from "../../../kernel/commits/rules/tenant-state.ts";
import type { Pipe } from "../../../kernel/connection/pipe.ts";
import { begin, commit as commitTransaction, probe, rollback } from "../../../kernel/connection/statement.ts";
import type { LiveSchema } from "../../../kernel/schema/flows/schema-cache.ts";
import type { DeclaredModel } from "../../../kernel/schema/rules/declared-model.ts";
import { loadReservations } from "../db/intents.ts";

/** Records as a source has just shown them. */
export interface Observation {
  readonly tenant: number;
  readonly schema: LiveSchema;
  /** The end of the log before the source was asked. */
  readonly since: number;
  readonly records: readonly RecordChange[];
}

/** What came into the log, and the records that have to be asked for again: they were being written meanwhile. */
export interface Observed extends Drained {
  readonly left: readonly RecordChange[];
}

/**
 * Brings records into the log as a source has shown them. One that a commit of ours writes, or has written since the
 * source was asked, is left: the source may not have had that commit yet.
 */
export async function observeRecords(
  pipe: Pipe,
  rules: RoundRules,
  { tenant, schema, since, records }: Observation,
): Promise<Observed> {
  try {
    const [, [head], reserved, history] = await pipe.send([
      begin,
      lockHeads([tenant]),
      loadReservations(records.map(({ model, id }) => ({ tenant, key: recordKey(model, id) }))),
      loadHistory(records.map(({ model, id }) => ({ tenant, model, id, after: since }))),
    ]);
    if (!head) throw new TenantElsewhere(tenant);
    const busy = new Set(reserved.map(({ key }) => key));
    const isFree = ({ model, id }: RecordChange, i: number) =>
      head.schemaVersion === schema.version && !busy.has(recordKey(model, id)) && history[i]?.length === 0;
    const free = records.filter(isFree);
    const left = records.filter((record, i) => !isFree(record, i));
    const jobsFor = (changes: readonly RecordChange[]) => [
      { commits: [capturedCommit(tenant, newId(""), changes)], captured: true },
    ];
    const unbounded = { ...rules, ...NO_BOUNDS };
    const found = await load(pipe, jobsFor(free), openLoads(rules.modules), unbounded, probe);
    const stored = new Map(found.records.map((record) => [recordKey(record.model, record.id), record]));
    const changes = free.map((one) => asWhole(one, stored.get(recordKey(one.model, one.id)), schema.models));
    const result = await judgeRound(pipe, unbounded, jobsFor(changes), found);
    await pipe.send([...savings(result), commitTransaction]);
    const to = result.heads[0]?.syncId ?? head.syncId;
    return { from: head.syncId, to, changed: result.changed.map(({ module }) => module), left };
  } catch (error) {
    if (pipe.usable) await pipe.send([rollback]).catch(() => {});
    throw error;
  }
}

/** A source shows whole records: a field that it leaves out has no value any more. */
function asWhole(
  change: RecordChange,
  stored: Pick<RecordState, "data"> | undefined,
  models: ReadonlyMap<string, DeclaredModel>,
): RecordChange {
  const { model, data } = change;
  // The values of a record that is gone were not read.
  if (!data || !stored) return change;
  const fields = models.get(model)?.model.fields ?? {};
  const gone = Object.keys(stored.data).filter(
    (field) => !Object.hasOwn(data, field) && ownValue(fields, field)?.nullable === true,
  );
  return gone.length === 0
    ? change
    : { ...change, data: { ...data, ...Object.fromEntries(gone.map((f) => [f, null])) } };
}
