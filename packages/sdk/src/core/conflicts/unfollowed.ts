import type { JsonObject } from "../../protocol/json.ts";
import { conditionsOn, isFollowed } from "../log/followed.ts";
import { scopeOf } from "../log/scope-key.ts";
import { lookUp, refOf } from "../log/tables.ts";
import { keysOf, type Mutation } from "../queue/mutation.ts";
import { lostValues, onRecord } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";

type Sides = Pick<ClientState, "rows" | "models">;

/**
 * The last values of a record whose part is followed no longer, while writes to it are not settled. They meet none of
 * the present parts; those of a record that was deleted did. Undefined: the rows have it, or it was deleted.
 */
export const unfollowedValues = (sides: Sides, key: string, writes: readonly Mutation[]): JsonObject | undefined =>
  isWithinReach(sides, key, writes) ? undefined : lostValues(writes, key);

/** Whether the rows say what became of a record: they have it, or would have it, as far as its last values say. */
export function isWithinReach({ rows, models }: Sides, key: string, writes: readonly Mutation[]): boolean {
  const record = refOf(key);
  const scope = scopeOf(rows.scope);
  if (lookUp(rows.tables, record) || !Array.isArray(conditionsOn(scope, record.model))) return true;
  const data = lostValues(writes, key);
  return data !== undefined && isFollowed(scope, models, record, data);
}

/** The same write, with the last values of the records that are shown only with the writes before it. */
export function withLost(state: ClientState, write: Mutation): Mutation {
  const left = keysOf(write.operations).flatMap((key) => {
    const before = onRecord(state.queue, key);
    const data = lookUp(state.overlay, refOf(key)) && unfollowedValues(state, key, before);
    return data ? [{ key, data, since: archivedSince(before, key) }] : [];
  });
  if (left.length === 0) return write;
  const archived = left.flatMap(({ key, since }) => (since === null ? [] : [[key, since]]));
  return {
    ...write,
    lost: Object.fromEntries(left.map(({ key, data }) => [key, data])),
    archived: Object.fromEntries(archived),
  };
}

/** Since when the record was archived whose last values these writes have. */
export const archivedSince = (writes: readonly Mutation[], key: string): string | null =>
  writes.find(({ lost }) => lost?.[key])?.archived?.[key] ?? null;
