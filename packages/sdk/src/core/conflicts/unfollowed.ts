import type { JsonObject } from "../../protocol/json.ts";
import { conditionsOn, isFollowed } from "../log/followed.ts";
import { scopeOf } from "../log/scope-key.ts";
import { lookUp, refOf } from "../log/tables.ts";
import { keysOf, type Mutation } from "../queue/mutation.ts";
import { lostValues } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";

type Sides = Pick<ClientState, "rows" | "models">;

/**
 * The last values of a record whose part is followed no longer, while writes to it are not settled. They meet none of
 * the present parts; those of a record that was deleted did. Undefined: the rows have it, or it was deleted.
 */
export function unfollowedValues(sides: Sides, key: string, writes: readonly Mutation[]): JsonObject | undefined {
  const data = lostValues(writes, key);
  return data && !isWithinReach(sides, key, writes) ? data : undefined;
}

/** Whether the rows say what became of a record: they have it, or would have it, as far as its last values say. */
export function isWithinReach({ rows, models }: Sides, key: string, writes: readonly Mutation[]): boolean {
  const record = refOf(key);
  if (lookUp(rows.tables, record)) return true;
  const scope = scopeOf(rows.scope);
  if (!Array.isArray(conditionsOn(scope, record.model))) return true;
  const data = lostValues(writes, key);
  return data !== undefined && isFollowed(scope, models, record, data);
}

/** A write with the last values of the records that are shown because of the writes before it, as those have them. */
export function withLost(state: ClientState, write: Mutation, before: (key: string) => Mutation | undefined): Mutation {
  const lost: Record<string, JsonObject> = {};
  const archived: Record<string, string> = {};
  for (const key of keysOf(write.operations)) {
    const from = before(key);
    const data = from?.lost?.[key];
    if (!from || !data || !lookUp(state.overlay, refOf(key)) || isWithinReach(state, key, [from])) continue;
    lost[key] = data;
    const since = archivedSince([from], key);
    if (since !== null) archived[key] = since;
  }
  return Object.keys(lost).length > 0 ? { ...write, lost, archived } : write;
}

/** Since when the record was archived whose last values these writes have. */
export const archivedSince = (writes: readonly Mutation[], key: string): string | null =>
  writes.find(({ lost }) => lost?.[key])?.archived?.[key] ?? null;
