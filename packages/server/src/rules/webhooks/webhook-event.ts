import { isErased, type StoredEntry } from "../commits/stored-entry.ts";
import type { DeclaredModel } from "../schema/declared-model.ts";
import { presentEntry } from "../schema/schema-change.ts";

/** A change, as JSON text for those who are subscribed to its model. */
export interface EventText {
  readonly syncId: number;
  /** In lower case. */
  readonly model: string;
  readonly text: string;
}

/**
 * What an endpoint is told of an entry, its keys in the protocol's order; undefined when its model is no longer declared,
 * or when its values were erased: then only the erasure is told.
 */
export function eventOf(entry: StoredEntry, declared: DeclaredModel | undefined): EventText | undefined {
  const shown = presentEntry(entry, declared);
  if (!declared || !shown || isErased(entry)) return undefined;
  return { syncId: entry.syncId, model: entry.model, text: eventText(entry, declared.name, shown.data) };
}

/** The event of a change; the row is JSON text already. */
export function eventText(
  { syncId, id, verb, createdAt }: Pick<StoredEntry, "syncId" | "id" | "verb" | "createdAt">,
  model: string,
  data: string | null,
): string {
  const head = JSON.stringify({ type: `${model.toLowerCase()}.${verb}`, model, objectId: id });
  const tail = JSON.stringify({ syncId, id: String(syncId), createdAt });
  return `${head.slice(0, -1)},"data":${data ?? "null"},${tail.slice(1)}`;
}

/** Sent when the owner asks for it: at a position that the endpoint was told of before, so that whoever knows it stores nothing. */
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
