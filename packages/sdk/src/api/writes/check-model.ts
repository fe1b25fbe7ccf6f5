import { tableOf } from "../../core/log/tables.ts";
import { SyncError } from "../../errors.ts";

export function checkModel(models: object, model: unknown): void {
  if (typeof model === "string" && Object.hasOwn(models, tableOf(model))) return;
  const message = `The client's schema has no model ${JSON.stringify(model)}.`;
  throw new SyncError({
    code: "unknown_model",
    type: "not_found_error",
    status: 404,
    then: "fix",
    message,
    param: "model",
  });
}
