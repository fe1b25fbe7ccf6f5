import { askServer } from "../../engine/ask-server.ts";
import { type ChangeAttribution, changeAttributionOf } from "../../protocol/commits/attribution-of.ts";
import type { List } from "../../protocol/lists/list.ts";
import type { LogEntry } from "../../protocol/log/log.ts";

/** Who set a field last, when, and what they said of it. */
export interface LastChange extends ChangeAttribution {
  /** `<participantKind>:<participantId>` of the writer. */
  readonly by: string;
  /** As ISO 8601. */
  readonly at: string;
  /** Position of the entry in the log. */
  readonly syncId: number;
  /** The writer's name for the commit. */
  readonly clientTxId: string;
}

/** By field. A field is absent if it was never set, or before the log begins. */
export type Blame<F extends string = string> = { readonly [field in Exclude<F, "id" | `$${string}`>]?: LastChange };

/** Reads the record's history back from now, until each field is found or the record was created. */
export async function readBlame(
  deps: Parameters<typeof askServer>[0],
  record: { readonly model: string; readonly id: string; readonly fields: readonly string[] },
  signal: AbortSignal,
): Promise<Blame> {
  const { model, id } = record;
  const wanted = new Set(record.fields);
  const found: Record<string, LastChange> = {};
  let cursor: string | null = "";
  while (cursor !== null && wanted.size > 0) {
    const query = { order: "desc", limit: "100", ...(cursor !== "" && { starting_after: cursor }) };
    const page = (await askServer(deps, "readHistory", { params: { model, id }, query }, signal)) as HistoryPage;
    for (const entry of page.data) {
      for (const field of fieldsSet(entry)) if (wanted.delete(field)) found[field] = changeOf(entry);
      if (entry.verb === "created") return found;
    }
    cursor = page.next_cursor;
  }
  return found;
}

type HistoryPage = Pick<List<LogEntry>, "data" | "next_cursor">;

const fieldsSet = ({ verb, data, changedFields }: LogEntry): readonly string[] =>
  verb === "created" ? Object.keys(data ?? {}) : (changedFields ?? []);

const changeOf = (entry: LogEntry): LastChange => ({
  by: `${entry.participantKind}:${entry.actor}`,
  at: entry.createdAt,
  syncId: entry.syncId,
  clientTxId: entry.clientTxId,
  ...changeAttributionOf(entry),
});
