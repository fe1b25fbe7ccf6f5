import type { JsonObject, ModelSchema, SyncClient } from "@holdfast/sdk";

/** A record as the agent has read it, and the rows' log position at that time. */
export interface Reading {
  readonly record: JsonObject;
  readonly readAt: number;
}

/**
 * The records that the agent has read. An update is based on the last read of its record, however long ago, so that the
 * server detects what others changed meanwhile and nothing is overwritten.
 */
export interface ReadSet {
  /** Reads the record as it is now, which counts as seen from now on; undefined: it does not exist. */
  take(model: string, id: string): Reading | undefined;
  last(model: string, id: string): Reading | undefined;
  /** Forgets everything. */
  close(): void;
}

/** The maximum number of records. Older ones must be read again. */
const REMEMBERED = 10_000;

export function createReadSet(client: SyncClient<ModelSchema>): ReadSet {
  const seen = new Map<string, Reading>();
  // A record of an erasure is not there to be written, so its reading is of no use.
  const off = client.onErased(({ model, id }) => seen.delete(`${model} ${id}`));
  return {
    take(model, id) {
      const key = `${model} ${id}`;
      const record = client.models[model]?.get(id) as JsonObject | undefined;
      // Delete and insert again: the map's order is the order of reading, and the first entry is forgotten first.
      seen.delete(key);
      if (record === undefined) return undefined;
      const reading = { record, readAt: client.status().syncId };
      seen.set(key, reading);
      if (seen.size > REMEMBERED)
        for (const oldest of seen.keys()) {
          seen.delete(oldest);
          break;
        }
      return reading;
    },
    last: (model, id) => seen.get(`${model} ${id}`),
    close() {
      off();
      seen.clear();
    },
  };
}

/** The fields that have changed → both values. */
export function changesBetween(before: JsonObject, now: JsonObject): Record<string, { was: unknown; is: unknown }> {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(now[field]));
  return Object.fromEntries(
    changed.map((field) => [field, { was: before[field] ?? null, is: now[field] ?? null }] as const),
  );
}
