import type { CommitOperation } from "../../../kernel/commits/rules/commit-request.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import { isKeyOf } from "./attached-key.ts";
import type { AttachedTable } from "./attached-table.ts";
import { problemOf } from "./broken-table.ts";

/** What is known in advance about a write to an attached table; the rest the table itself says. */
export function checkAttached(
  { id, action, makesId }: CommitOperation,
  modelName: string,
  table: AttachedTable,
): Refusal | undefined {
  const problem = problemOf(table);
  const { name, keyColumn, keyType, keyIsGenerated, status } = table;
  if (problem !== undefined) return refuse("source_changed", { param: "model", message: problem });
  if (!isReadable(table))
    return refuse("source_refused", {
      param: "model",
      message: `Holdfast's role may not read ${name}: see "holdfast tables verify".`,
      source: { sqlstate: "42501" },
    });
  if (status !== "attached") return refuse("unavailable", { param: "model", message: UNDER_WAY[status](name) });
  if (action !== "create") return undefined;
  if (keyIsGenerated)
    return refuse("client_id_required", {
      param: "id",
      message: `The database makes the ids of "${modelName}" (${name}.${keyColumn}), so records are created in SQL. They can be updated and deleted.`,
    });
  if (keyType === null || isKeyOf(keyType, id)) return undefined;
  return refuse("invalid_id", {
    param: "id",
    message: `The ids of "${modelName}" are of type ${keyType} (${name}.${keyColumn})${makesId ? "" : `, which "${id}" is not`}.`,
  });
}

const UNDER_WAY = {
  detaching: (name: string) => `The table ${name} is being detached.`,
};

export const isReadable = ({ readable, keyType }: AttachedTable): boolean => readable && keyType !== null;

export const beingDetached = ({ name, model }: Pick<AttachedTable, "name" | "model">): string =>
  `${name} is being detached: run "holdfast tables detach ${model}" again, which goes on.`;
