import type { FollowedConditions } from "../../protocol/log/followed-records.ts";

const texts = new WeakMap<FollowedConditions, string>();

/** The conditions of a part as JSON. Parts with the same text are one. A client may have hundreds, and compares them often. */
export function partText(conditions: FollowedConditions): string {
  const known = texts.get(conditions);
  if (known !== undefined) return known;
  const text = JSON.stringify(conditions);
  texts.set(conditions, text);
  return text;
}
