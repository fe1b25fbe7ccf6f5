import { ACTIONS } from "../../protocol/commits/action.ts";
import { writtenFields } from "../../protocol/commits/field-change.ts";
import { isPlainObject, jsonProblem, levelsOfData } from "../../protocol/json-problem.ts";
import { ownValue } from "../../protocol/own-value.ts";
import { isRecordId } from "../../protocol/record-id.ts";
import { tableOf } from "../log/tables.ts";
import { localFailure } from "../queue/failure.ts";
import { keysOf, lastingPhase, type Mutation, type MutationOperation } from "../queue/mutation.ts";
import { serialized } from "../queue/serialized.ts";
import { reasonOf } from "../reason-of.ts";
import type { ClientState } from "../state.ts";
import type { OldOperation, Upcast } from "./old-operation.ts";
import { shapeOf } from "./schema-hash.ts";

/**
 * Adapts a write that another version of the app queued. If the part of the schema that it uses is unchanged, the write
 * stays as it is. Otherwise the app's upcast converts it. Without an upcast, the write waits for a person.
 */
export function adapted(m: Mutation, state: ClientState): Mutation {
  const { schemaHash: now, upcasts, models, clientId, rows } = state;
  const wasUnknown = m.stage.phase === "rejected" && m.stage.failure.code === "schema_changed";
  if ((m.stage.phase === "rejected" && !wasUnknown) || m.schema === undefined || m.schema === now) return m;
  const queued = wasUnknown ? { ...m, stage: { phase: "queued" } as const } : m;
  if (m.shape === shapeOf(models, m.operations)) return queued;
  const upcast = ownValue(upcasts, m.schema);
  if (!upcast)
    return unknown(
      m,
      `Another version of the app made this write (schema ${m.schema}), and the app has no upcast for that schema. Add one, or call discard().`,
    );
  try {
    const operations = m.operations.flatMap((o) => converted(o, upcast));
    const odd = operations.find((o) => !isKnown(o, state));
    if (operations.length === 0 || odd)
      return unknown(m, `upcast[${JSON.stringify(m.schema)}] must return operations that fit the schema.`);
    const written = {
      ...queued,
      operations,
      keys: keysOf(operations),
      schema: now,
      shape: shapeOf(models, operations),
    };
    return serialized(
      written,
      clientId,
      m.logId === undefined ? { ...rows, logId: undefined } : { ...rows, logId: m.logId },
    );
  } catch (error) {
    return unknown(m, `upcast[${JSON.stringify(m.schema)}] failed: ${reasonOf(error)}`);
  }
}

/** A follower shows the write in its stored phase: the leader decides whether it is sent. */
export const shownAs = (m: Mutation, onDisk: Mutation): Mutation =>
  lastingPhase(m.stage) === lastingPhase(onDisk.stage) ? m : onDisk;

function converted(o: MutationOperation, upcast: Upcast): readonly MutationOperation[] {
  const { action, model, id, data, changes } = o;
  const now: unknown = upcast({ action, model, id, ...(data && { data }), ...(changes && { changes }) });
  if (now === undefined) return [];
  if (!isOperation(now)) {
    // A promise that rejects would end a process of Node.
    void Promise.resolve(now).catch(() => {});
    throw new Error("it must return an operation or undefined, at once");
  }
  // The base values use the old schema too.
  const base: unknown = o.base && upcast({ action: "update", model, id, data: o.base });
  const copies = Object.fromEntries(Object.entries(data ?? {}).filter(([field]) => o.copied?.includes(field)));
  const copied: unknown = o.copied && upcast({ action: "update", model, id, data: copies });
  return [
    {
      ...o,
      ...pick(now),
      base: isOperation(base) ? (base.data ?? o.base) : o.base,
      ...(isOperation(copied) && { copied: Object.keys(copied.data ?? {}) }),
    },
  ];
}

const pick = ({ action, model, id, data, changes }: OldOperation): OldOperation => ({
  action,
  model,
  id,
  ...(data && { data }),
  ...(changes && { changes }),
});

/** An app's function may return anything, also a promise. */
function isOperation(value: unknown): value is OldOperation {
  if (!isPlainObject(value)) return false;
  const { action, model, id, data = {}, changes = {} } = value;
  return (
    ACTIONS.some((known) => known === action) &&
    typeof model === "string" &&
    isRecordId(id) &&
    [data, changes].every((each) => isPlainObject(each) && !jsonProblem(each, "data", levelsOfData))
  );
}

function isKnown(operation: OldOperation, { models }: ClientState): boolean {
  const fields = models[tableOf(operation.model)]?.fields;
  return (
    fields !== undefined && writtenFields(operation).every((field) => field === "id" || Object.hasOwn(fields, field))
  );
}

const unknown = (m: Mutation, reason: string): Mutation => ({
  ...m,
  stage: { phase: "rejected", failure: localFailure("schema_changed", reason) },
});
