import type { JsonObject } from "../../protocol/json.ts";
import type { LogEntry } from "../../protocol/log/log.ts";
import type { LogRow } from "./rows.ts";

/** A row after an entry of its record. Undefined: the record is gone. */
export function rowAfter(before: LogRow | undefined, entry: LogEntry): LogRow | undefined {
  const data = entry.data as JsonObject | null;
  if (!data) return undefined;
  const { syncId, createdAt } = entry;
  const by = `${entry.participantKind}:${entry.actor}`;
  const changed = (archivedAt: string | null): LogRow => ({
    ...{ data, archivedAt, syncId, ...madeBy(before, entry) },
    ...{ updatedAtMs: Date.parse(createdAt), updatedBy: by },
  });
  switch (entry.verb) {
    case "deleted":
    case "erased":
      return undefined;
    case "created":
      return {
        ...{ data, archivedAt: null, syncId, createdAtMs: Date.parse(createdAt), createdBy: by },
        ...{ updatedAtMs: undefined, updatedBy: undefined },
      };
    case "unarchived":
      return changed(null);
    case "updated":
      return changed(entry.archivedAt ?? before?.archivedAt ?? null);
    case "archived":
      return changed(entry.archivedAt ?? createdAt);
  }
}

/** An entry says it only if the client may not have seen the record before. */
function madeBy(before: LogRow | undefined, { record }: LogEntry): Pick<LogRow, "createdAtMs" | "createdBy"> {
  if (before?.createdBy !== undefined || !record)
    return { createdAtMs: before?.createdAtMs, createdBy: before?.createdBy };
  return { createdAtMs: Date.parse(record.createdAt), createdBy: record.createdBy };
}
