import type { JsonObject } from "../../protocol/json.ts";
import { conditionsOn, isFollowed } from "../log/followed.ts";
import { lookUp, recordKey, refOf } from "../log/tables.ts";
import { lostValues } from "../queue/last-values.ts";
import type { Mutation } from "../queue/mutation.ts";
import type { ClientState } from "../state.ts";

type Sides = Pick<ClientState, "rows" | "models">;

/**
 * The last values of a record whose part is followed no longer, while writes to it are not settled. They meet none of
 * the present parts; those of a record that was deleted did. Undefined: the rows have it, it was deleted, or no write
 * knows them.
 */
export function unfollowedValues(sides: Sides, key: string, writes: readonly Mutation[]): JsonObject | undefined {
  const data = lostValues(writes, key);
  return data && !isWithinReach(sides, key, writes) ? data : undefined;
}

/**
 * Whether the rows say what became of a record: they have it, or would have it, as far as its last values say. Without
 * these, it is not there any more.
 */
export function isWithinReach({ rows, models }: Sides, key: string, writes: readonly Mutation[]): boolean {
  const record = refOf(key);
  const data = lostValues(writes, key);
  if (!data || lookUp(rows.tables, record)) return true;
  const { scope = {} } = rows;
  return !Array.isArray(conditionsOn(scope, record.model)) || isFollowed(scope, models, record, data);
}

/** Whether the writes were made without a view of the record, in a model of which only parts are followed. */
export function isUnseen({ rows }: Sides, key: string, writes: readonly Mutation[]): boolean {
  const record = refOf(key);
  if (lookUp(rows.tables, record) || !Array.isArray(conditionsOn(rows.scope ?? {}, record.model))) return false;
  const operations = writes.flatMap((write) => write.operations.filter((o) => recordKey(o) === key));
  return operations.every(({ action, base }) => base === null && action !== "create");
}
