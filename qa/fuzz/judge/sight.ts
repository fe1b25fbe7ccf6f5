import type { Model, ModelSchema } from "@holdfast/sdk/protocol";
import type { Scope } from "../exchange/actors.ts";

type Row = Readonly<Record<string, unknown>>;

/** The groups that a row is in, worked out here once more from the schema. */
export function groupsOf(model: Model | undefined, row: Row): readonly string[] {
  return (model?.groups ?? []).flatMap(({ kind, from }) => {
    const value = Object.hasOwn(row, from) ? row[from] : undefined;
    return value === undefined || value === null ? [] : [`${kind}:${value}`];
  });
}

/** Whether a token may read a model: write scopes include reading. */
export function readsModel({ operations }: Scope, model: string): boolean {
  return operations.some((operation) => {
    const [name = "", can] = operation.toLowerCase().split(".");
    return name === "*" ? can === "*" || can === "read" : name === model.toLowerCase();
  });
}

export const seesAll = ({ syncGroups }: Scope): boolean => syncGroups.some((group) => group.startsWith("org:"));

export const seesGroups = (scope: Scope, groups: readonly string[]): boolean =>
  seesAll(scope) || groups.some((group) => scope.syncGroups.includes(group));

/** Why this token may not see the row; undefined: it may. */
export function hiddenRow({ models }: ModelSchema, scope: Scope, model: string, row: Row): string | undefined {
  if (!readsModel(scope, model)) return `a row of "${model}", which the token does not read`;
  return seesGroups(scope, groupsOf(models[model], row))
    ? undefined
    : `the ${model} ${row.id}, which is in none of the token's groups`;
}
