import { type Action, expectedValue, fits, isRequired, type JsonObject, type Model } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../refusal.ts";

/** Checks `data` against the pushed model, field by field. A caller's schema is never compiled to code. */
export function checkPayload(
  model: Model,
  action: Action,
  id: string,
  data: JsonObject | undefined,
): Refusal | undefined {
  if (action !== "create" && action !== "update")
    return data === undefined
      ? undefined
      : refuse("unknown_field", { param: "data", message: `"${action}" must not have data.` });
  if (data === undefined) return refuse("missing_field", { param: "data" });
  for (const [name, value] of Object.entries(data)) {
    if (name === "id") {
      if (value !== id) return refuse("id_mismatch", { param: "data.id" });
      continue;
    }
    const field = Object.hasOwn(model.fields, name) ? model.fields[name] : undefined;
    if (!field) return refuse("unknown_field", { param: `data.${name}` });
    if (!fits(field, value))
      return refuse("invalid_type", { param: `data.${name}`, message: `"${name}" must be ${expectedValue(field)}.` });
  }
  return action === "create" ? checkRequired(model, data) : undefined;
}

/** Whether an update contains no fields. */
export const writesNothing = (data: JsonObject | undefined): boolean =>
  data === undefined || Object.keys(data).every((name) => name === "id");

function checkRequired(model: Model, data: JsonObject): Refusal | undefined {
  for (const [name, field] of Object.entries(model.fields))
    if (isRequired(field) && name !== "id" && !Object.hasOwn(data, name))
      return refuse("missing_field", { param: `data.${name}` });
  return undefined;
}
