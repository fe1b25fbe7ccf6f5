import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { StaleNotification } from "../../protocol/commits/stale.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { ownValue } from "../../protocol/own-value.ts";
import { brokenRule } from "../../protocol/schema/field-rules.ts";
import type { Field } from "../../protocol/schema/model-schema.ts";
import { brokenPattern } from "../../protocol/schema/pattern.ts";
import type { Plan } from "../events.ts";
import { lookUp, recordKey, tableOf } from "../log/tables.ts";
import type { Mutation, MutationOperation } from "../queue/mutation.ts";
import { onRecord } from "../queue/queue.ts";
import { withChanged } from "../queue/queue-changes.ts";
import { sentOf, utf8Length } from "../queue/serialized.ts";
import type { ClientState } from "../state.ts";
import { openConflictsOf, pick } from "./conflict.ts";

/** Merges two texts that were made from a base. */
export type MergeText = (
  base: string,
  mine: string,
  theirs: string,
) => { readonly text: string } | { readonly conflict: true };

/** Of a request; and of a record, if the server has not said it. */
export const MOST_BYTES = 1_048_576;
/** A request has its names around the values. */
const ENVELOPE_BYTES = 4_096;

/** What a record has in a contested field after the writes that were merged so far. */
interface Merged {
  readonly fields: Readonly<Record<string, Field>>;
  readonly row: JsonObject;
  readonly contested: readonly string[];
  /** Others' values of the contested fields, with ours merged into them. */
  readonly values: JsonObject;
  /** How far the log has been seen. */
  readonly readAt: number;
  /** The rows show every change until then, so no other field of a write can be stale. */
  readonly isWhole: boolean;
}

/**
 * Merges the texts of a stale write into those of the server, and then the texts of the writes behind it, one by one:
 * each is what its author typed on top of the one before. A later write that cannot be merged stays as it is, so that
 * the server finds it stale in its turn. Undefined: a person has to decide.
 */
export function planMerge(
  mergeText: MergeText,
  state: ClientState,
  stale: Mutation,
  notifications: readonly StaleNotification[],
): Plan | undefined {
  const stage = { phase: "conflicted", notifications, conflictedAfter: state.queue.lastSeq } as const;
  const conflicted: Mutation = { ...stale, stage };
  const queue = withChanged(state.queue, [conflicted]);
  const records = new Map<string, Merged>();
  for (const open of openConflictsOf({ ...state, queue }, conflicted)) {
    const key = recordKey(open);
    const { fields = {} } = state.models[tableOf(open.model)] ?? {};
    const row = lookUp(state.rows.tables, open)?.data;
    const told = notifications.filter((n) => recordKey(n) === key);
    const reported: JsonObject = Object.assign({}, ...told.map((n) => n.currentValues));
    // Rows that have not reached an earlier write of this client are older than what the server reports.
    const isWhole = open.seen && onRecord(queue, key)[0] === conflicted;
    const contested = isWhole ? open.fields : told.flatMap((n) => n.conflictingFields);
    if (!open.theirs || !contested.every((field) => fields[field]?.merge === "text")) return undefined;
    const values = pick((isWhole && row) || reported, contested);
    const readAt = isWhole ? open.observedSyncId : Math.max(...told.map((n) => n.observedSyncId));
    records.set(key, { fields, row: { ...row, ...values }, contested, values, readAt, isWhole });
  }
  const instead = mergedWrite(mergeText, state, stale, records, "stale");
  if (!instead) return undefined;
  const again: Mutation[] = [];
  for (const later of laterWrites(state, stale, records)) {
    const merged = later.stage.phase === "queued" && mergedWrite(mergeText, state, later, records, "later");
    if (!merged) break;
    if (merged !== later) again.push(merged);
  }
  return { write: stale, instead: { ...instead, merges: (stale.merges ?? 0) + 1 }, again };
}

/** The writes behind it to the same records, in the order of the queue. Those behind the first hundred are found stale. */
function laterWrites(
  { queue }: ClientState,
  stale: Mutation,
  records: ReadonlyMap<string, Merged>,
): readonly Mutation[] {
  const writes = new Set([...records.keys()].flatMap((key) => onRecord(queue, key)));
  return [...writes]
    .filter(({ seq = 0 }) => seq > (stale.seq ?? 0))
    .sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
    .slice(0, limits.commitsPerBulk);
}

/** The write on top of the merged texts, which it then is a part of. Undefined: it cannot be merged. */
function mergedWrite(
  mergeText: MergeText,
  { recordBytes = MOST_BYTES }: ClientState,
  write: Mutation,
  records: Map<string, Merged>,
  which: "stale" | "later",
): Mutation | undefined {
  const after = new Map<string, Merged>();
  const operations: MutationOperation[] = [];
  for (const operation of write.operations) {
    const key = recordKey(operation);
    const record = records.get(key);
    const merged = record ? mergedOperation(mergeText, operation, record, which) : operation;
    if (!merged) return undefined;
    operations.push(merged);
    if (!record || merged === operation) continue;
    const values = {
      ...record.values,
      ...after.get(key)?.values,
      ...pick(merged.data ?? {}, record.contested),
    };
    after.set(key, { ...record, values });
  }
  if (after.size === 0) return write;
  const isTooLarge =
    utf8Length(JSON.stringify(operations.map(sentOf))) > MOST_BYTES - ENVELOPE_BYTES ||
    [...after.values()].some(({ row, values }) => utf8Length(JSON.stringify({ ...row, ...values })) > recordBytes);
  if (isTooLarge) return undefined;
  for (const [key, record] of after) records.set(key, record);
  return { ...write, operations };
}

/** All operations of a write were made on what its author saw before it, so each is merged with what was there then. */
function mergedOperation(
  mergeText: MergeText,
  operation: MutationOperation,
  { fields, contested: all, values, readAt, isWhole }: Merged,
  which: "stale" | "later",
): MutationOperation | undefined {
  const written = Object.keys(operation.data ?? {});
  const contested = written.filter((field) => all.includes(field));
  if (contested.length === 0) return operation;
  if (operation.action !== "update" || operation.onStale !== "notify") return undefined;
  // The server has judged the other fields of the stale write only.
  if (which === "later" && !isWhole && written.length > contested.length) return undefined;
  const data: Record<string, Json> = { ...operation.data };
  const base: Record<string, Json> = { ...operation.base };
  for (const field of contested) {
    const [before, mine, theirs] = [ownValue(base, field), ownValue(data, field), ownValue(values, field)];
    const declared = fields[field];
    if (!declared || typeof before !== "string" || typeof mine !== "string" || typeof theirs !== "string")
      return undefined;
    const merged = mergeText(before, mine, theirs);
    if (!("text" in merged)) return undefined;
    if (brokenRule(declared, merged.text, "update") ?? brokenPattern(declared, merged.text)) return undefined;
    base[field] = theirs;
    data[field] = merged.text;
  }
  return { ...operation, data, base, readAt: Math.max(operation.readAt ?? 0, readAt) };
}
