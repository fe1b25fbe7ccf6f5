import type { JsonObject } from "../json.ts";
import { ownValue } from "../own-value.ts";
import type { Model } from "../schema/model-schema.ts";
import type { CommitProblem } from "./commit-problem.ts";
import { type FieldChanges, takesChange } from "./field-change.ts";

/** What is wrong with the changes of an update, whatever the record is. Client and server ask. */
export function changesProblem({ fields }: Model, data: JsonObject, changes: FieldChanges): CommitProblem | undefined {
  for (const [name, change] of Object.entries(changes)) {
    const param = `changes.${name}`;
    const field = name === "id" ? undefined : ownValue(fields, name);
    if (!field) return { code: "unknown_field", param, message: "The model has no such field." };
    if (Object.hasOwn(data, name)) {
      const message = `"${name}" is in both "data" and "changes". Send only one of them.`;
      return { code: "invalid_value", param, message };
    }
    if (!takesChange(field, change))
      return {
        code: "invalid_type",
        param,
        message: `"${name}" is of type ${field.type}, which does not accept this change.`,
      };
  }
  return undefined;
}
