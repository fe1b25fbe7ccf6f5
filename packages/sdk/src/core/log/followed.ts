import type { JsonObject } from "../../protocol/json.ts";
import { meetsConditions } from "../../protocol/log/meets-conditions.ts";
import type { ClientState } from "../state.ts";
import type { Scope } from "./rows.ts";
import { type RecordRef, tableOf } from "./tables.ts";

/** Whether the scope has records of the model. */
export const followsModel = ({ models }: Scope, model: string): boolean =>
  !models || models.some((name) => tableOf(name) === tableOf(model));

/** What the scope asks of a model's records: one condition, a list of them, or nothing. */
export const conditionsOn = ({ where = {} }: Scope, model: string) =>
  Object.entries(where).find(([name]) => tableOf(name) === tableOf(model))?.[1];

/** Whether a record with these values is one of a model's followed records, as far as its values say. */
export function isFollowed(
  scope: Scope,
  models: ClientState["models"],
  { model, id }: RecordRef,
  data: JsonObject,
): boolean {
  const conditions = conditionsOn(scope, model);
  const declared = models[tableOf(model)];
  return (
    followsModel(scope, model) &&
    (!conditions || [conditions].flat().some((part) => meetsConditions(part, declared, id, data)))
  );
}
