import type { ModelSchema } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";

interface Found {
  /** The ids of the tenant's endpoint datasources. */
  readonly known: readonly string[];
  /** Models that have records, in lower case. */
  readonly filled: ReadonlySet<string>;
}

/** Refuses a schema whose models name sources that cannot have their records. */
export function checkSourceModels(
  before: ModelSchema,
  { models }: ModelSchema,
  { known, filled }: Found,
): Refusal | undefined {
  const sourceBefore = new Map(Object.entries(before.models).map(([name, { source }]) => [name.toLowerCase(), source]));
  for (const [name, { source }] of Object.entries(models)) {
    const no = (message: string) => refuse("invalid_schema", { param: `models.${name}.source`, message });
    if (source === undefined) continue;
    if (!known.includes(source))
      return no(`There is no endpoint datasource ${source.slice(0, 80)} in this environment.`);
    const attached = Object.keys(models).find((other) => models[other]?.table);
    if (attached !== undefined)
      return no(
        `The "${name}" model has a source, and the "${attached}" model has a table: a tenant has one or the other. Detach the table, or push the schema without the source.`,
      );
    const key = name.toLowerCase();
    if (sourceBefore.get(key) !== source && filled.has(key))
      return no(`The "${name}" model has records already: only a model without records can be given a source.`);
  }
  return undefined;
}
