import type { JsonObject } from "../../protocol/json.ts";
import { conditionsOn, isFollowed } from "../log/followed.ts";
import { scopeOf } from "../log/scope-key.ts";
import { lookUp, refOf } from "../log/tables.ts";
import type { Mutation } from "../queue/mutation.ts";
import { lostValues } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";

/**
 * The last values of a record whose part is followed no longer, while writes to it are not settled. They meet none of
 * the present parts; those of a record that was deleted did. Undefined: the rows have it, or it was deleted.
 */
export function unfollowedValues(
  { rows, models }: Pick<ClientState, "rows" | "models">,
  key: string,
  writes: readonly Mutation[],
): JsonObject | undefined {
  const record = refOf(key);
  const data = lostValues(writes, key);
  if (!data || lookUp(rows.tables, record)) return undefined;
  const scope = scopeOf(rows.scope);
  const isLeft = Array.isArray(conditionsOn(scope, record.model)) && !isFollowed(scope, models, record, data);
  return isLeft ? data : undefined;
}
