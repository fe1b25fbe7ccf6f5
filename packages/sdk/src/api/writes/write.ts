import { anothersToken } from "../../core/connection/owner-name.ts";
import type { NewOperation } from "../../core/events.ts";
import { recordKey, tableOf } from "../../core/log/tables.ts";
import { knownFailure, nameTaken } from "../../core/queue/failure.ts";
import type { Premise } from "../../core/queue/mutation.ts";
import { find } from "../../core/queue/queue.ts";
import type { Engine } from "../../engine/engine.ts";
import type { PendingPromises } from "../../engine/pending-promises.ts";
import type { Random } from "../../engine/ports.ts";
import { localError, SyncError } from "../../errors.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { Action } from "../../protocol/commits/operation.ts";
import type { OnStale } from "../../protocol/commits/stale.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { expectedValue, fits, isRequired } from "../../protocol/schema/field-value.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import type { ShowRow } from "../lists/shown-rows.ts";
import { checkId, checkTxId, jsonCopy } from "./payload.ts";
import type { LeaseRef, Write, WriteOptions } from "./write-api.ts";

/** The dependencies of the write functions. */
export interface WriteDeps {
  readonly engine: Engine;
  readonly waiters: PendingPromises;
  readonly random: Random;
  readonly isClosed: () => boolean;
  readonly show: ShowRow;
}

export interface OperationRequest {
  readonly action: Action;
  readonly model: string;
  readonly id?: string | undefined;
  readonly data?: object | undefined;
}

const ON_STALE: readonly OnStale[] = ["reject", "overwrite", "notify"];

/** Every write of the app goes through this function. One operation or a hundred are one commit. */
export function makeWrite(
  deps: WriteDeps,
  asked: readonly OperationRequest[],
  options: WriteOptions = {},
  reads: readonly Premise[] = [],
): Write {
  if (deps.isClosed()) throw localError("client_closed", "The client is closed: it cannot write.");
  checkOwner(deps);
  const { onStale = "notify", readAt } = options;
  if (!ON_STALE.includes(onStale)) throw invalid("onStale", "onStale must be reject, overwrite or notify.");
  if (readAt !== undefined && !(Number.isSafeInteger(readAt) && readAt >= 0))
    throw invalid("readAt", "readAt must be a position in the log: a whole number from 0.");
  checkCount(asked, reads);
  const claims = [options.claim ?? []].flat();
  const operations = asked.map((o): NewOperation => underClaim({ ...checked(deps, o), readAt, onStale }, claims));
  if (claims.length > 0 && !operations.some((o) => o.claim !== undefined))
    throw invalid("claim", "The lease is on a record that this write does not name.");
  const clientTxId = options.clientTxId === undefined ? deps.random.id() : checkTxId(options.clientTxId);
  if (find(deps.engine.store.getState().queue, clientTxId)) throw new SyncError(nameTaken(clientTxId));
  const { queued, receipt } = deps.waiters.add(clientTxId);
  deps.engine.dispatch({ type: "mutated", clientTxId, operations, reads });
  return { id: operations[0]?.id ?? "", clientTxId, queued, receipt };
}

/** Writes belong to the owner of the store. A write by another participant would be sent in the owner's name. */
export function checkOwner({ engine }: WriteDeps): void {
  const state = engine.store.getState();
  if (state.withheld) throw localError("not_owner", anothersToken(state));
}

export function checkCount(asked: readonly unknown[], reads: readonly unknown[] = []): void {
  if (asked.length === 0 || asked.length > limits.operationsPerCommit || reads.length > limits.readsPerCommit)
    throw new SyncError(
      knownFailure("too_many_operations", "A commit must have 1 to 100 operations.", { param: "operations" }),
    );
}

/** A claim is on an existing record, so a create has none. */
function underClaim(o: NewOperation, claims: readonly LeaseRef[]): NewOperation {
  const lease = claims.find(({ model, recordId: id }) => recordKey({ model, id }) === recordKey(o));
  return lease && o.action !== "create" ? { ...o, claim: lease.id } : o;
}

export function checkModel(models: object, model: unknown): void {
  if (typeof model === "string" && Object.hasOwn(models, tableOf(model))) return;
  const message = `The client's schema has no model ${JSON.stringify(model)}.`;
  throw new SyncError(knownFailure("unknown_model", message, { param: "model" }));
}

/** An operation of the app, validated against the schema. */
export function checked(deps: WriteDeps, { action, model, id, data }: OperationRequest): Omit<NewOperation, "onStale"> {
  const models = deps.engine.store.getState().models;
  checkModel(models, model);
  switch (action) {
    case "create": {
      const fields = jsonCopy(data, "data");
      const own = checkId(id ?? fields.id ?? deps.random.id());
      if (fields.id !== undefined && fields.id !== own)
        throw new SyncError(knownFailure("id_mismatch", "data.id must equal the record's id.", { param: "data.id" }));
      return { action, model, id: own, data: checkedData(models, model, action, fields) };
    }
    case "update": {
      const fields = jsonCopy(data, "data");
      if (Object.keys(fields).length === 0)
        throw new SyncError(knownFailure("empty_update", "An update needs at least one field.", { param: "data" }));
      return { action, model, id: checkId(id), data: checkedData(models, model, action, fields) };
    }
    case "delete":
    case "archive":
    case "unarchive":
      return { action, model, id: checkId(id) };
    default:
      throw invalid("action", `Unknown action: ${JSON.stringify(action satisfies never)}.`);
  }
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
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) throw wrong("unknown_field", name, `The model "${model}" has no field ${JSON.stringify(name)}.`);
    if (!fits(field, value))
      throw wrong("invalid_type", name, `The "${name}" field must be ${expectedValue(field)} (got ${got(value)}).`);
  }
  if (action === "create")
    for (const [name, field] of Object.entries(fields))
      if (isRequired(field) && name !== "id" && !Object.hasOwn(data, name))
        throw wrong("missing_field", name, `The "${name}" field is missing: a new ${model} needs it.`);
  return data;
}

const wrong = (code: "unknown_field" | "invalid_type" | "missing_field", field: string, message: string) =>
  new SyncError(knownFailure(code, message, { param: `data.${field}` }));

const got = (value: Json): string =>
  value === null || typeof value === "string"
    ? JSON.stringify(value)?.slice(0, 40)
    : Array.isArray(value)
      ? "an array"
      : typeof value;

const invalid = (param: string, message: string) => new SyncError(knownFailure("invalid_value", message, { param }));
