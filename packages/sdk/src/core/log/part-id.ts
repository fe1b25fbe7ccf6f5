import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import { shortHash } from "../../protocol/short-hash.ts";

const ids = new WeakMap<FollowedConditions, { readonly model: string; readonly id: string }>();

/** The name of a part, also on the stream: two with the same model and conditions, spelled alike, are one. No conditions: all records. */
export function partId(model: string, where: FollowedConditions | undefined): string {
  const known = where && ids.get(where);
  if (known?.model === model) return known.id;
  const id = shortHash(`${model} ${JSON.stringify(where)}`);
  if (where) ids.set(where, { model, id });
  return id;
}
