import type { Model, ModelSchema } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { AttachedTable } from "./attached-table.ts";

/**
 * Refuses a schema whose models are not those that have tables. A table is attached and detached by a command and not by
 * a push: triggers have to be installed.
 */
export function checkAttachedModels({ models }: ModelSchema, attached: readonly AttachedTable[]): Refusal | undefined {
  const byModel = new Map(attached.map((table) => [table.model, table]));
  for (const [name, model] of Object.entries(models)) {
    const table = byModel.get(name.toLowerCase());
    byModel.delete(name.toLowerCase());
    const fault = faultOf(name, model, table);
    if (fault !== undefined) return refuse("invalid_schema", { param: `models.${name}`, message: fault });
  }
  for (const { model, name } of byModel.values())
    return refuse("invalid_schema", {
      param: "models",
      message: `The "${model}" model is missing, but the table ${name} is attached to it: detach it first ("holdfast tables detach ${name}").`,
    });
  return undefined;
}

function faultOf(name: string, { table }: Model, attached: AttachedTable | undefined): string | undefined {
  if (!attached)
    return (
      table &&
      `The "${name}" model names a table (${table.name}): attach it with "holdfast tables attach ${table.name}".`
    );
  const detach = `detach it first ("holdfast tables detach ${attached.name}")`;
  if (!table) return `The table ${attached.name} is attached to the "${name}" model: keep its "table", or ${detach}.`;
  return table.key === attached.keyColumn
    ? undefined
    : `The table ${attached.name} was attached with the key ${attached.keyColumn}, and "${name}" names ${table.key}: ${detach}, and attach it again.`;
}
