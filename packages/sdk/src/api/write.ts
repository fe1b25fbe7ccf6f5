import type { NewOperation } from "../core/events.ts";
import { knownFailure, nameTaken } from "../core/failure.ts";
import type { Premise } from "../core/mutation.ts";
import { anothersToken } from "../core/owner.ts";
import { find } from "../core/queue.ts";
import { recordKey, tableOf } from "../core/tables.ts";
import type { Engine } from "../engine/engine.ts";
import type { Dice } from "../engine/ports.ts";
import type { Waiters } from "../engine/waiters.ts";
import { localError, SyncError } from "../errors.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Action } from "../protocol/operation.ts";
import type { OnStale } from "../protocol/stale.ts";
import { checkId, checkTxId, jsonCopy } from "./payload.ts";
import type { LeaseRef, Write, WriteOptions } from "./write-api.ts";

/** What the parts of the public surface share. */
export interface Desk {
  readonly engine: Engine;
  readonly waiters: Waiters;
  readonly dice: Dice;
  readonly isClosed: () => boolean;
}

export interface AskedOperation {
  readonly action: Action;
  readonly model: string;
  readonly id?: string | undefined;
  readonly data?: object | undefined;
}

const ON_STALE: readonly OnStale[] = ["reject", "overwrite", "notify"];

/** Every write of the app comes through here: one operation or a hundred, it is one commit. */
export function makeWrite(
  desk: Desk,
  asked: readonly AskedOperation[],
  options: WriteOptions = {},
  reads: readonly Premise[] = [],
): Write {
  if (desk.isClosed()) throw localError("client_closed", "The client is closed: nothing can be written with it.");
  checkOwner(desk);
  const { onStale = "notify", readAt } = options;
  if (!ON_STALE.includes(onStale)) throw invalid("onStale", "onStale is reject, overwrite or notify.");
  if (readAt !== undefined && !(Number.isSafeInteger(readAt) && readAt >= 0))
    throw invalid("readAt", "readAt is a position in the log: a whole number from 0.");
  checkCount(asked, reads);
  const claims = [options.claim ?? []].flat();
  const operations = asked.map((o): NewOperation => underClaim({ ...checked(desk, o), readAt, onStale }, claims));
  if (claims.length > 0 && !operations.some((o) => o.claim !== undefined))
    throw invalid("claim", "The lease is on another record than what is written.");
  const clientTxId = options.clientTxId === undefined ? desk.dice.id() : checkTxId(options.clientTxId);
  if (find(desk.engine.store.getState().queue, clientTxId)) throw new SyncError(nameTaken(clientTxId));
  const { queued, receipt } = desk.waiters.add(clientTxId);
  desk.engine.dispatch({ type: "mutated", clientTxId, operations, reads });
  return { id: operations[0]?.id ?? "", clientTxId, queued, receipt };
}

/** What is written belongs to the owner of the store: another participant's writes would be sent as theirs. */
export function checkOwner({ engine }: Desk): void {
  const state = engine.store.getState();
  if (state.withheld) throw localError("not_owner", anothersToken(state));
}

export function checkCount(asked: readonly unknown[], reads: readonly unknown[] = []): void {
  if (asked.length === 0 || asked.length > limits.operationsPerCommit || reads.length > limits.readsPerCommit)
    throw new SyncError(
      knownFailure("too_many_operations", "A commit takes 1 to 100 operations.", { param: "operations" }),
    );
}

/** What a claim is on is there already: a create is under none. */
function underClaim(o: NewOperation, claims: readonly LeaseRef[]): NewOperation {
  const lease = claims.find(({ model, recordId: id }) => recordKey({ model, id }) === recordKey(o));
  return lease && o.action !== "create" ? { ...o, claim: lease.id } : o;
}

export function checkModel(models: object, model: unknown): void {
  if (typeof model === "string" && Object.hasOwn(models, tableOf(model))) return;
  const message = `The schema that this client was made with has no model ${JSON.stringify(model)}.`;
  throw new SyncError(knownFailure("unknown_model", message, { param: "model" }));
}

/** An operation as the app gave it, if the schema knows it. */
export function checked(desk: Desk, { action, model, id, data }: AskedOperation): Omit<NewOperation, "onStale"> {
  const models = desk.engine.store.getState().models;
  checkModel(models, model);
  switch (action) {
    case "create": {
      const fields = jsonCopy(data, "data");
      const own = checkId(id ?? fields.id ?? desk.dice.id());
      if (fields.id !== undefined && fields.id !== own)
        throw new SyncError(knownFailure("id_mismatch", "data.id is not the record's id.", { param: "data.id" }));
      return { action, model, id: own, data: known(models, model, fields) };
    }
    case "update": {
      const fields = jsonCopy(data, "data");
      if (Object.keys(fields).length === 0)
        throw new SyncError(knownFailure("empty_update", "An update needs at least one field.", { param: "data" }));
      return { action, model, id: checkId(id), data: known(models, model, fields) };
    }
    case "delete":
    case "archive":
    case "unarchive":
      return { action, model, id: checkId(id) };
    default:
      throw invalid("action", `There is no action ${JSON.stringify(action satisfies never)}.`);
  }
}

function known(
  models: Readonly<Record<string, { readonly fields: object }>>,
  model: string,
  data: JsonObject,
): JsonObject {
  const fields = models[tableOf(model)]?.fields ?? {};
  for (const field of Object.keys(data))
    if (field !== "id" && !Object.hasOwn(fields, field)) {
      const message = `The model ${model} has no field ${JSON.stringify(field)}.`;
      throw new SyncError(knownFailure("unknown_field", message, { param: `data.${field}` }));
    }
  return data;
}

const invalid = (param: string, message: string) => new SyncError(knownFailure("invalid_value", message, { param }));
