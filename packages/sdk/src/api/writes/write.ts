import { shownRow } from "../../core/conflicts/overlay.ts";
import { OWNER_UNKNOWN } from "../../core/connection/owner-name.ts";
import type { NewOperation } from "../../core/events.ts";
import { type RecordRef, recordKey, tableOf } from "../../core/log/tables.ts";
import { type Asks, asksOnly } from "../../core/queue/asks.ts";
import { nameTaken } from "../../core/queue/failure.ts";
import type { Premise } from "../../core/queue/mutation.ts";
import { find } from "../../core/queue/queue.ts";
import { shownState } from "../../core/select.ts";
import type { Engine } from "../../engine/engine.ts";
import type { PendingPromises } from "../../engine/pending-promises.ts";
import type { Random } from "../../engine/ports.ts";
import { invalid, localError, odd, SyncError } from "../../errors.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { Row } from "../../protocol/commits/apply.ts";
import { attributionOf } from "../../protocol/commits/attribution-of.ts";
import { CHANGE, type Change } from "../../protocol/commits/change.ts";
import type { FieldChanges } from "../../protocol/commits/field-change.ts";
import type { OnStale } from "../../protocol/commits/stale.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { brokenRule } from "../../protocol/schema/field-rules.ts";
import { expectedValue, fits, isRequired } from "../../protocol/schema/field-value.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { checkOneOf, mustBe } from "../lists/query-error.ts";
import type { ShownRows } from "../lists/shown-rows.ts";
import { checkModel } from "./check-model.ts";
import { got } from "./got.ts";
import type { judgeCommit } from "./judge-commit.ts";
import { checkId, checkTxId, objectCopy } from "./payload.ts";
import type { SeenRecords } from "./seen-before.ts";
import type { undoOf } from "./undo.ts";
import type { LeaseRef, OperationRequest, UndoableWrite, WriteOptions } from "./write-api.ts";

/** The dependencies of the write functions. */
export interface WriteDeps {
  readonly engine: Engine;
  readonly waiters: PendingPromises;
  readonly random: Random;
  readonly isClosed: () => boolean;
  readonly shown: ShownRows;
  /** Undefined: it is still being loaded. */
  readonly later: () => LaterCode | undefined;
}

/** What writes need only later than the first view, and so comes with the runtime. */
export interface LaterCode {
  readonly undoOf: typeof undoOf;
  readonly judgeCommit: typeof judgeCommit;
  readonly seen: SeenRecords;
}

const ON_STALE: readonly OnStale[] = ["reject", "overwrite", "notify"];

/** Every write of the app goes through this function. One operation or a hundred are one commit. */
export function makeWrite(
  deps: WriteDeps,
  asked: readonly OperationRequest[],
  options: WriteOptions = {},
  reads: readonly Premise[] = [],
  isUndo = false,
  asks: Asks | undefined = options.propose && { propose: options.propose },
): UndoableWrite {
  if (deps.isClosed()) throw localError("client_closed", "The client is closed: it cannot write.");
  checkOwner(deps);
  const { onStale = "notify", readAt } = options;
  checkOneOf(onStale, ON_STALE, "onStale");
  if (readAt !== undefined && !(Number.isSafeInteger(readAt) && readAt >= 0))
    throw mustBe("readAt", "a whole number from 0", readAt);
  checkCount(asked, reads);
  const claims = [options.claim ?? []].flat();
  const isAlone = asked.length === 1;
  const operations = asked.map((one): NewOperation => {
    const operation = checked(deps, one, isAlone);
    const copied = isUndo ? Object.keys(operation.data ?? {}) : undefined;
    return underClaim({ ...operation, readAt, onStale, ...(copied && { copied }) }, claims);
  });
  const attribution = attributionOf(options);
  deps.later()?.judgeCommit(deps.engine.store.getState(), { operations, reads, attribution, asks });
  if (claims.length > 0 && !operations.some((o) => o.claim !== undefined))
    throw odd(
      "claim",
      "The lease is not on a record of this write. Pass the lease of a record that the write changes.",
    );
  const clientTxId = options.clientTxId === undefined ? deps.random.id() : checkTxId(options.clientTxId);
  if (find(deps.engine.store.getState().queue, clientTxId)) throw new SyncError(nameTaken(clientTxId));
  const { queued, receipt } = deps.waiters.add(clientTxId);
  const before = new Map(operations.map((o) => [recordKey(o), shownNow(deps, o)]));
  deps.later()?.seen.remember(before);
  // Without the values that its author saw: they may be erased.
  const written = operations.map(({ base: _, ...rest }) => rest);
  /** What the changes of the write did is not there, or taken back already. */
  let isGone = false;
  if (operations.some(({ changes }) => changes))
    receipt.catch(({ type, code }: SyncError) => {
      // A person decides about the values of a conflict. Its changes are sent either way.
      isGone = type !== "claim_error" && code !== "stale_context";
    });
  deps.engine.dispatch({ type: "mutated", clientTxId, operations, reads, attribution, asks });
  return {
    ...{ id: operations[0]?.id ?? "", clientTxId, queued, receipt },
    undo: (undoOptions) => {
      if (asks && asksOnly({ asks })) return undefined;
      const { models } = deps.engine.store.getState();
      const now = (record: RecordRef) => shownNow(deps, record);
      const later = deps.later();
      if (!later) throw localError("part_not_loaded", "The client is still loading: it cannot undo yet.");
      const there = written.filter((o) => before.has(recordKey(o)));
      const was = (record: RecordRef) => before.get(recordKey(record));
      const back = later.undoOf({ operations: there, isGone, before: was, now, models });
      isGone = true;
      return back.length === 0 ? undefined : makeWrite(deps, back, undoOptions, [], true);
    },
  };
}

/** The record as the user sees it. */
function shownNow({ engine, shown }: WriteDeps, record: RecordRef): Row | undefined {
  const row = shownRow(shownState(engine.store.getState()), record);
  return row && shown.show(tableOf(record.model), row);
}

/** Writes belong to the owner of the store. A write by another participant would be sent in the owner's name. */
export function checkOwner({ engine }: WriteDeps): void {
  const state = engine.store.getState();
  if (state.withheld) throw localError("not_owner", state.withheldReason ?? OWNER_UNKNOWN);
}

export function checkCount(asked: readonly unknown[], reads: readonly unknown[] = []): void {
  if (asked.length === 0 || asked.length > limits.operationsPerCommit || reads.length > limits.readsPerCommit)
    throw invalid("too_many_operations", "A commit must have 1 to 100 operations.", "operations");
}

/** A claim is on an existing record, so a create has none. */
function underClaim(o: NewOperation, claims: readonly LeaseRef[]): NewOperation {
  const lease = claims.find(({ model, recordId: id }) => recordKey({ model, id }) === recordKey(o));
  return lease && o.action !== "create" ? { ...o, claim: lease.id } : o;
}

/** An operation of the app, validated against the schema. `isAlone`: no other one changes the record before it. */
export function checked(
  deps: WriteDeps,
  { action, model, id, data, changes: stored, base }: OperationRequest,
  isAlone = true,
): Omit<NewOperation, "onStale"> {
  const models = deps.engine.store.getState().models;
  checkModel(models, model);
  switch (action) {
    case "create": {
      const fields = objectCopy(data, "data");
      const own = checkId(id ?? fields.id ?? deps.random.id());
      if (fields.id !== undefined && fields.id !== own)
        throw invalid("id_mismatch", "data.id must equal the record's id.", "data.id");
      return { action, model, id: own, data: checkedData(models, model, action, fields) };
    }
    case "update": {
      const own = checkId(id);
      const patch = patchOf(deps, { model, id: own }, data ?? (stored && {}), isAlone);
      const fields = objectCopy(patch.data, "data");
      const changes = stored || patch.changes ? { ...stored, ...patch.changes } : undefined;
      if (Object.keys({ ...fields, ...changes }).length === 0)
        throw invalid("empty_update", "An update needs at least one field.", "data");
      const update = { action, model, id: own, data: checkedData(models, model, action, fields) };
      return { ...update, ...(changes && { changes }), ...(base && { base: objectCopy(base, "base") }) };
    }
    case "delete":
    case "archive":
    case "unarchive":
      return { action, model, id: checkId(id) };
    default:
      throw odd("action", `Unknown action: ${JSON.stringify(action satisfies never)}.`);
  }
}

function patchOf(
  deps: WriteDeps,
  record: RecordRef,
  data: object | undefined,
  isAlone: boolean,
): { readonly data: unknown; readonly changes?: FieldChanges } {
  const change = Object.values(data ?? {}).find((value) => value?.[CHANGE]) as Change<unknown> | undefined;
  if (!data || !change) return { data };
  const model = deps.engine.store.getState().models[tableOf(record.model)];
  const shown = isAlone ? shownNow(deps, record)?.data : undefined;
  return change[CHANGE].split(data as Record<string, unknown>, { name: record.model, model, shown });
}

/** Validates the data against the schema, so that a write that the server would refuse is not queued. */
function checkedData(
  models: Readonly<Record<string, Model>>,
  model: string,
  action: "create" | "update",
  data: JsonObject,
): JsonObject {
  const fields = models[tableOf(model)]?.fields ?? {};
  for (const [name, value] of Object.entries(data)) {
    if (name === "id") continue;
    const param = `data.${name}`;
    const field = fields[name];
    if (!field)
      throw invalid(
        "unknown_field",
        name.startsWith("$")
          ? `The server sets ${JSON.stringify(name)}: leave it out.`
          : `The model "${model}" has no field ${JSON.stringify(name)}.`,
        param,
      );
    if (!fits(field, value))
      throw invalid("invalid_type", `The "${name}" field must be ${expectedValue(field)} (got ${got(value)}).`, param);
    const broken = brokenRule(field, value, action);
    if (broken) throw invalid("rule_broken", `The "${name}" field ${broken.demand}.`, param, broken.rule);
  }
  if (action === "create")
    for (const [name, field] of Object.entries(fields))
      if (isRequired(field) && name !== "id" && !Object.hasOwn(data, name))
        throw invalid("missing_field", `The "${name}" field is missing: a new ${model} needs it.`, `data.${name}`);
  return data;
}
