import type { Scope } from "../core/log/rows.ts";
import type { FollowedConditions } from "../protocol/log/followed-records.ts";
import type { Part } from "../protocol/stream/part-frames.ts";

/** What a reader of parts follows, as models and conditions. */
export function scopeOfParts(parts: Iterable<Part>): Scope {
  const wanted = new Map<string, FollowedConditions[] | "all">();
  for (const { model, where } of parts) {
    const known = wanted.get(model);
    if (!where || known === "all") wanted.set(model, "all");
    else wanted.set(model, [...(known ?? []), where]);
  }
  const limited = [...wanted].filter((one): one is [string, FollowedConditions[]] => one[1] !== "all");
  return { models: [...wanted.keys()], where: Object.fromEntries(limited) };
}
