import { writtenFields } from "../../protocol/commits/field-change.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { NewOperation } from "../events.ts";
import { recordKey, tableOf } from "../log/tables.ts";
import { onRecord } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";
import { pick } from "./conflict.ts";
import { shownRow } from "./overlay.ts";

/** The values that the user saw when writing, stored with the write so that a conflict can show all three sides. */
export function baseOf(state: ClientState, operation: NewOperation): JsonObject | null {
  const { action, model, id, base, readAt } = operation;
  if (base) return base;
  if (action === "create") return null;
  const shown = shownRow(state, { model, id })?.data;
  if (!shown) return null;
  if (action !== "update") return shown;
  // If the caller names the position, what is shown now may be newer. A text must not be merged from that.
  const { fields = {} } = state.models[tableOf(model)] ?? {};
  return pick(
    shown,
    writtenFields(operation).filter((field) => readAt === undefined || !fields[field]?.merge),
  );
}

/**
 * How far the log was read in what the user saw, if that is less than the rows have read. A pending write shows its text
 * on top of what others have written since. What the user makes of that text has not seen theirs, and must not replace
 * it.
 */
export function seenAt({ models, queue }: ClientState, { action, data = {}, ...record }: NewOperation) {
  const { fields = {} } = models[tableOf(record.model)] ?? {};
  if (action !== "update" || !Object.keys(data).some((field) => fields[field]?.merge)) return undefined;
  const key = recordKey(record);
  const seen = onRecord(queue, key)
    .flatMap(({ operations }) => operations)
    .flatMap((o) => (recordKey(o) === key ? (o.readAt ?? []) : []));
  return seen.length > 0 ? Math.min(...seen) : undefined;
}
