import {
  type Comparable,
  comparable,
  type Field,
  type FollowedConditions,
  followedValue,
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
  for (const part of parts) {
    const [[name, condition] = ["", undefined], ...more] = Object.entries(part);
    const values = more.length === 0 && isOfValues(condition) ? valuesOf(name, condition, model) : undefined;
    if (!values) {
      others.push(part);
      continue;
    }
    const known = wanted.get(name) ?? new Set();
    wanted.set(name, known);
    for (const value of values) known.add(value);
  }
  const lookups = [...wanted].map(([name, values]) => {
    const type = typeOf(name, model);
    return (id: string, data: JsonObject) => values.has(followedValue(type, name === "id" ? id : ownValue(data, name)));
  });
  return {
    names: new Set(parts.flatMap((part) => Object.keys(part))),
    isMet: (id, data) =>
      lookups.some((isWanted) => isWanted(id, data)) || others.some((part) => meetsConditions(part, model, id, data)),
  };
}

/** Each record of a part has one of these in a field: values, or items of an array. Undefined: no value. */
export interface Hallmark {
  readonly name: string;
  readonly values: readonly (Comparable | undefined)[];
}

/** Few records have the hallmark of a part that are not in it. Undefined: its conditions name no values. */
export function hallmarkOf(part: FollowedConditions, model: Model): Hallmark | undefined {
  let best: (Hallmark & { readonly rank: number }) | undefined;
  for (const [name, condition] of Object.entries(part)) {
    const values = valuesOf(name, condition, model) ?? itemsOf(name, condition, model);
    if (!values) continue;
    const rank = values.length + (COARSE.has(typeOf(name, model)) || values.includes(undefined) ? 1_000_000 : 0);
    if (!best || rank < best.rank) best = { name, values, rank };
  }
  return best;
}

/** What a record has where hallmarks are looked for. */
export function markedBy(
  name: string,
  model: Model,
  id: string,
  data: JsonObject,
): readonly (Comparable | undefined)[] {
  const type = typeOf(name, model);
  const value = name === "id" ? id : ownValue(data, name);
  if (type !== "array") return [followedValue(type, value)];
  return Array.isArray(value) ? (value as Comparable[]) : [];
}

/** Many records have the same value. */
const COARSE: ReadonlySet<Field["type"]> = new Set(["boolean", "enum"]);

/** A field that the schema lacks has no value in any record. */
const typeOf = (name: string, model: Model): Field["type"] => ownValue(model.fields, name)?.type ?? "string";

type Condition = FollowedConditions[string];
type Operators = Extract<Condition, object>;
const isOperators = (condition: Condition): condition is Operators =>
  typeof condition === "object" && condition !== null;

/** Whether a condition says nothing but which values are wanted. */
const isOfValues = (condition: Condition | undefined): condition is Condition =>
  condition !== undefined && (!isOperators(condition) || (Object.keys(condition).length === 1 && !!condition.in));

/** The values of which a field has to have one. */
function valuesOf(name: string, condition: Condition, model: Model): Hallmark["values"] | undefined {
  const type = typeOf(name, model);
  const wanted: readonly Json[] | undefined = isOperators(condition) ? condition.in : [condition];
  if (!wanted || type === "array") return undefined;
  return wanted.flatMap((value) => {
    const own = comparable(type, value);
    // No record has a value of another type.
    return value === null || own !== undefined ? [own] : [];
  });
}

/** The item that an array has to have. */
const itemsOf = (name: string, condition: Condition, model: Model): readonly string[] | undefined =>
  isOperators(condition) && condition.contains !== undefined && typeOf(name, model) === "array"
    ? [condition.contains]
    : undefined;
