import type { JsonObject, ModelSchema, SyncClient } from "@holdfast/sdk";

/** A record as the agent was shown it, and the position in the log that its rows had reached then. */
export interface Reading {
  readonly record: JsonObject;
  readonly readAt: number;
}

/**
 * What the agent has seen. An update is made in view of the last reading of its record, however long the agent thought
 * in between: so what somebody else changed meanwhile is found by the server, and never overwritten.
 */
export interface Readings {
  /** The record as it is now, which from now on counts as seen; undefined: there is none. */
  take(model: string, id: string): Reading | undefined;
  last(model: string, id: string): Reading | undefined;
}

/** Of records that were seen long ago nothing is remembered: they have to be read again. */
const REMEMBERED = 10_000;

export function createReadings(client: SyncClient<ModelSchema>): Readings {
  const seen = new Map<string, Reading>();
  return {
    take(model, id) {
      const key = `${model} ${id}`;
      const record = client.models[model]?.get(id) as JsonObject | undefined;
      // Taken out and put back: the map's order is the order of reading, and the first is the one to forget.
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
  };
}

/** What is another now than it was: field → both values. */
export function changesBetween(before: JsonObject, now: JsonObject): Record<string, { was: unknown; is: unknown }> {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(now[field]));
  return Object.fromEntries(
    changed.map((field) => [field, { was: before[field] ?? null, is: now[field] ?? null }] as const),
  );
}
