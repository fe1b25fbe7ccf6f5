import {
  type Comparable,
  comparable,
  type Field,
  type FollowedConditions,
  type Json,
  type JsonObject,
  type Model,
  meetsConditions,
  ownValue,
} from "@holdfast/sdk/protocol";

/** The parts of a model that a reader follows, prepared to judge many entries. */
export interface PartsJudge {
  isMet(id: string, data: JsonObject): boolean;
  /** What the conditions are on. */
  readonly names: ReadonlySet<string>;
}

/** Most parts ask for values of one field. These are looked up together, so that an entry costs the same for many parts. */
export function partsJudge(parts: readonly FollowedConditions[], model: Model): PartsJudge {
  const wanted = new Map<string, Set<Comparable | undefined>>();
  const others: FollowedConditions[] = [];
  const typeOf = (name: string): Field["type"] => ownValue(model.fields, name)?.type ?? "string";
  for (const part of parts) {
    const [[name, condition] = ["", undefined], ...more] = Object.entries(part);
    const values = more.length === 0 ? valuesOf(condition) : undefined;
    const type = typeOf(name);
    if (!values || type === "array") {
      others.push(part);
      continue;
    }
    const known = wanted.get(name) ?? new Set();
    wanted.set(name, known);
    for (const value of values) {
      const own = comparable(type, value);
      // No record has a value of another type.
      if (value === null || own !== undefined) known.add(own);
    }
  }
  const lookups = [...wanted].map(([name, values]) => {
    const type = typeOf(name);
    return (id: string, data: JsonObject) => values.has(comparable(type, name === "id" ? id : ownValue(data, name)));
  });
  return {
    names: new Set(parts.flatMap((part) => Object.keys(part))),
    isMet: (id, data) =>
      lookups.some((isWanted) => isWanted(id, data)) || others.some((part) => meetsConditions(part, model, id, data)),
  };
}

/** What a condition asks for, if it is one of some values. null: no value. */
function valuesOf(condition: FollowedConditions[string] | undefined): readonly Json[] | undefined {
  if (typeof condition !== "object" || condition === null) return condition === undefined ? undefined : [condition];
  return Object.keys(condition).length === 1 ? condition.in : undefined;
}
