import {
  type Action,
  brokenPattern,
  brokenRule,
  changesProblem,
  expectedValue,
  type Field,
  type FieldChanges,
  fits,
  isOutOfRange,
  isRequired,
  type Json,
  type JsonObject,
  type Model,
  ownValue,
  writtenFields,
} from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";

/** Checks `data` against the pushed model, field by field. A caller's schema is never compiled to code. */
export function checkPayload(
  model: Model,
  action: Action,
  id: string,
  data: JsonObject | undefined,
  changes?: FieldChanges,
): Refusal | undefined {
  if (changes && action !== "update")
    return refuse("unknown_field", { param: "changes", message: `"${action}" must not have changes.` });
  if (action !== "create" && action !== "update")
    return data === undefined
      ? undefined
      : refuse("unknown_field", { param: "data", message: `"${action}" must not have data.` });
  if (data === undefined && !changes) return refuse("missing_field", { param: "data" });
  for (const [name, value] of Object.entries(data ?? {})) {
    if (name === "id") {
      if (value !== id) return refuse("id_mismatch", { param: "data.id" });
      continue;
    }
    const refusal = checkValue(model, name, value, action, `data.${name}`);
    if (refusal) return refusal;
  }
  return action === "create" ? checkRequired(model, data ?? {}) : changes && checkChanges(model, data ?? {}, changes);
}

function checkValue(
  model: Model,
  name: string,
  value: Json,
  action: "create" | "update",
  param: string,
): Refusal | undefined {
  const field = ownValue(model.fields, name);
  if (!field)
    return refuse("unknown_field", {
      param,
      ...(name.startsWith("$") && { message: `The server sets "${name.slice(0, 80)}": leave it out.` }),
    });
  if (field.type === "integer" && isOutOfRange(field, value))
    return refuse("invalid_value", { param, message: `"${name}" is beyond 2^53 - 1, where integers are not exact.` });
  if (!fits(field, value))
    return refuse("invalid_type", { param, message: `"${name}" must be ${expectedValue(field)}.` });
  return checkRules(field, name, value, action, param);
}

function checkRules(
  field: Field,
  name: string,
  value: Json,
  action: "create" | "update",
  param: string,
): Refusal | undefined {
  const broken = brokenRule(field, value, action) ?? brokenPattern(field, value);
  return broken && refuse("rule_broken", { param, rule: broken.rule, message: `"${name}" ${broken.demand}.` });
}

function checkChanges(model: Model, data: JsonObject, changes: FieldChanges): Refusal | undefined {
  const problem = changesProblem(model, data, changes);
  if (problem) return refuse(problem.code, problem);
  for (const name of Object.keys(changes)) {
    const field = ownValue(model.fields, name);
    // Whatever comes of it: of null, only whether the field can be updated at all is judged.
    const refusal = field && checkRules(field, name, null, "update", `changes.${name}`);
    if (refusal) return refusal;
  }
  return undefined;
}

/** Whether changed fields still have values of their types that keep their rules. It depends on what was there. */
export function checkChanged(model: Model, values: JsonObject): Refusal | undefined {
  for (const [name, value] of Object.entries(values)) {
    const param = `changes.${name}`;
    if (isOutOfRange(model.fields[name], value))
      return refuse("invalid_value", { param, message: `"${name}" would become too large.` });
    const refusal = checkValue(model, name, value, "update", param);
    if (refusal) return refusal;
  }
  return undefined;
}

/** Whether an update contains no fields. */
export const writesNothing = (update: Parameters<typeof writtenFields>[0]): boolean =>
  writtenFields(update).every((name) => name === "id");

function checkRequired(model: Model, data: JsonObject): Refusal | undefined {
  for (const [name, field] of Object.entries(model.fields))
    if (isRequired(field) && name !== "id" && !Object.hasOwn(data, name))
      return refuse("missing_field", { param: `data.${name}` });
  return undefined;
}
