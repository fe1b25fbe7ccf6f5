import { type Conditions, compileConditions } from "../api/lists/conditions.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { FollowedRecords } from "../protocol/log/followed-records.ts";
import { ownValue } from "../protocol/own-value.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";

/** A record, or an entry of the log. */
export interface Followable {
  readonly model: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly verb?: string;
}

/**
 * What a server sends of these to a reader with conditions: what meets them, the end of every record, and an update
 * after which a record does not meet them as its deletion.
 */
export const followedPart = <T extends Followable>(
  all: readonly T[],
  where: FollowedRecords = {},
  models: ModelSchema["models"] = {},
): T[] =>
  all.flatMap((one) => {
    const { model, id, data, verb } = one;
    const wanted = where[model];
    const meets = (conditions: object) =>
      compileConditions(model, ownValue(models, model), conditions as Conditions)({ ...data, id } as JsonObject);
    if (!wanted || !data || [wanted].flat().some(meets)) return [one];
    return verb === "updated" ? [{ ...one, verb: "deleted", data: null, changedFields: null, left: true }] : [];
  });
