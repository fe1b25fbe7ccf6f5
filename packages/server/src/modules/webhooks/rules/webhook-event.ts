import { isErased, type StoredEntry, valuesText, withAttribution } from "../../../kernel/commits/rules/stored-entry.ts";
import type { DeclaredModel } from "../../../kernel/schema/rules/declared-model.ts";
import { presentEntry } from "../../../kernel/schema/rules/schema-change.ts";

/** A change as JSON text, for the endpoints that are subscribed to its model. */
export interface EventText {
  readonly syncId: number;
  /** In lower case. */
  readonly model: string;
  readonly text: string;
}

/**
 * The event for a log entry, with keys in the protocol's order. Undefined if its model is no longer declared, or if its
 * values were erased: then only the erasure itself is sent.
 */
export function eventOf(entry: StoredEntry, declared: DeclaredModel | undefined): EventText | undefined {
  const shown = presentEntry(entry, declared);
  if (!declared || !shown || isErased(entry)) return undefined;
  return { syncId: entry.syncId, model: entry.model, text: eventText(entry, declared.name, shown) };
}

/** The event of a change. The row is JSON text already. */
export function eventText(
  {
    syncId,
    id,
    verb,
    createdAt,
    actor,
    participantKind,
    ...rest
  }: Pick<StoredEntry, "syncId" | "id" | "verb" | "createdAt" | "actor" | "participantKind" | "attribution">,
  model: string,
  shown: Pick<StoredEntry, "data">,
): string {
  const data = valuesText(shown);
  const said = data === shown.data ? "" : `"unreadable":${shown.data},`;
  const head = JSON.stringify({ type: `${model.toLowerCase()}.${verb}`, model, objectId: id });
  const tail = JSON.stringify({ syncId, id: String(syncId), createdAt, actor, participantKind });
  return withAttribution(`${head.slice(0, -1)},"data":${data ?? "null"},${said}${tail.slice(1)}`, rest);
}

/**
 * The event of a test request. It uses a position that was delivered before, so a receiver that deduplicates by
 * position stores nothing.
 */
export function testEvent(endpoint: string, cursor: number, now: number): EventText {
  const text = JSON.stringify({
    type: "webhook_endpoint.test",
    model: "webhook_endpoint",
    objectId: endpoint,
    data: { message: "This is a test. Nothing has changed." },
    syncId: cursor,
    id: String(cursor),
    createdAt: new Date(now).toISOString(),
  });
  return { syncId: cursor, model: "webhook_endpoint", text };
}
