import type { NewOperation } from "../../core/events.ts";
import { changesProblem } from "../../protocol/commits/changes-problem.ts";
import type { CommitProblem } from "../../protocol/commits/commit-problem.ts";
import { type FieldChange, writtenFields } from "../../protocol/commits/field-change.ts";
import { isPlainObject, jsonProblem } from "../../protocol/json-problem.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";

/** What is wrong with an operation, whatever its record is, beyond the values of its fields. */
export function operationProblem(
  model: Model,
  { action, id, data = {}, changes = {}, claim }: Omit<NewOperation, "onStale">,
): CommitProblem | undefined {
  if (data.id !== undefined && data.id !== id)
    return { code: "id_mismatch", param: "data.id", message: "data.id must equal the record's id." };
  if (action === "update" && writtenFields({ data, changes }).every((name) => name === "id"))
    return { code: "empty_update", param: "data", message: "An update needs at least one field." };
  if (claim !== undefined && (typeof claim !== "string" || jsonProblem(claim)))
    return invalid("claim", "The id of a claim must be a string.");
  const odd = Object.entries(changes).find(([, change]) => !isChange(change));
  if (odd) return invalid(`changes.${odd[0]}`, `Make the change of "${odd[0]}" with increment(), add() or remove().`);
  return changesProblem(model, data, changes);
}

const MOST_ITEMS = 1_000;

function isChange(change: unknown): change is FieldChange {
  if (!isPlainObject(change) || jsonProblem(change)) return false;
  const { increment, add = [], remove = [], ...rest } = change;
  const isOne = increment === undefined ? isItems(add) && isItems(remove) : Number.isFinite(increment);
  return isOne && Object.keys(rest).length === 0 && (increment === undefined || Object.keys(change).length === 1);
}

const isItems = (items: unknown): boolean =>
  Array.isArray(items) &&
  items.length <= MOST_ITEMS &&
  items.every((item) => ["string", "number", "boolean"].includes(typeof item));

const invalid = (param: string, message: string): CommitProblem => ({ code: "invalid_value", param, message });
