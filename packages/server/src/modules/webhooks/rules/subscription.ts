import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { DeclaredModel } from "../../../kernel/schema/rules/declared-model.ts";

const ALL = "*";

/** The models that an endpoint subscribes to, as declared; only `*` for all. */
export function readSubscription(
  names: readonly string[],
  models: ReadonlyMap<string, DeclaredModel>,
): readonly string[] | Refusal {
  const declared: string[] = [];
  for (const [index, name] of names.entries()) {
    const found = name === ALL ? ALL : models.get(name.toLowerCase())?.name;
    if (found === undefined)
      return refuse("unknown_model", {
        status: 400,
        param: `enabledEvents[${index}]`,
        message: `"${name.slice(0, 100)}" must be a model of the pushed schema, or *.`,
      });
    declared.push(found);
  }
  return declared.includes(ALL) ? [ALL] : [...new Set(declared)];
}

/** Whether an endpoint is subscribed to a model, by lower-case name. */
export function subscribes(enabledEvents: readonly string[]): (model: string) => boolean {
  if (enabledEvents.includes(ALL)) return () => true;
  const models = new Set(enabledEvents.map((name) => name.toLowerCase()));
  return (model) => models.has(model);
}
