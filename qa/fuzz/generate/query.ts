import { type Field, limits, type Model } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { fieldValue } from "./payload.ts";
import { nastyText, nastyValue } from "./values.ts";

const FACTS = ["id", "$createdAt", "$createdBy", "$updatedAt", "$updatedBy", "$archivedAt", "$syncId"];
const RANGES = ["gt", "gte", "lt", "lte"];
const TEXTS = ["contains", "startsWith", "search"];

/** Conditions that mostly fit the model, at any depth, up to those that are too deep or too many. */
export function conditionsOn(model: Model): fc.Arbitrary<unknown> {
  const some = fc.array(fc.oneof({ weight: 20, arbitrary: conditionOn(model) }, { weight: 1, arbitrary: odd }), {
    maxLength: 3,
  });
  const fields = some.map((entries) => Object.fromEntries(entries));
  const { where } = fc.letrec<{ where: unknown }>((tie) => ({
    where: fc.oneof(
      { maxDepth: 4 },
      fields,
      fc
        .tuple(fields, fc.constantFrom("and", "or"), fc.array(tie("where"), { maxLength: 3 }))
        .map(([conditions, word, more]) => ({ ...conditions, [word]: more })),
    ),
  }));
  return fc.oneof(
    { weight: 30, arbitrary: where },
    {
      weight: 1,
      arbitrary: fc
        .tuple(where, fc.constantFrom(limits.queryDepth - 4, limits.queryDepth, limits.queryDepth + 1, 40))
        .map(([conditions, levels]) => wrapped(conditions, levels)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fields, fc.constantFrom(30, limits.queryConditions, limits.queryConditions + 1, 5_000))
        .map(([conditions, count]) => ({ or: Array.from({ length: count }, () => conditions) })),
    },
  );
}

const wrapped = (conditions: unknown, levels: number): unknown =>
  levels === 0 ? conditions : { [levels % 2 === 0 ? "and" : "or"]: [wrapped(conditions, levels - 1)] };

const odd = fc.tuple(nastyText, nastyValue);

/** By a field: a value, or operators. */
function conditionOn(model: Model): fc.Arbitrary<readonly [name: string, condition: unknown]> {
  const named = Object.entries(model.fields).map(([name, field]) =>
    operators((nullable) => fieldValue(name, { ...field, nullable }, model), field).map(
      (condition) => [name, condition] as const,
    ),
  );
  const facts = FACTS.map((name) =>
    operators(() => fc.oneof(nastyText, fc.integer(), fc.constant("2026-01-01T00:00:00Z")), { type: "string" }).map(
      (condition) => [name, condition] as const,
    ),
  );
  return fc.oneof({ weight: 6, arbitrary: fc.oneof(...named) }, { weight: 1, arbitrary: fc.oneof(...facts) });
}

function operators(
  valueFor: (nullable: boolean) => fc.Arbitrary<unknown>,
  { type }: Pick<Field, "type">,
): fc.Arbitrary<unknown> {
  const [present, value] = [valueFor(false), valueFor(true)];
  const list = fc.array(value, { maxLength: 4 });
  const of = (names: readonly string[], operand: fc.Arbitrary<unknown>) =>
    fc.tuple(fc.constantFrom(...names), operand).map(([name, found]) => ({ [name]: found }));
  const isText = type === "string" || type === "enum";
  return fc.oneof(
    { weight: 3, arbitrary: value },
    { weight: 2, arbitrary: of(["not"], value) },
    { weight: 2, arbitrary: of(["in", "notIn"], list) },
    { weight: type === "array" || type === "json" ? 0 : 3, arbitrary: of(RANGES, present) },
    { weight: isText ? 3 : 0, arbitrary: of(TEXTS, fc.oneof(present, nastyText)) },
    { weight: type === "array" || type === "json" ? 3 : 0, arbitrary: of(["contains"], fc.oneof(value, nastyValue)) },
    { weight: 1, arbitrary: of([...RANGES, ...TEXTS, "in", "like", "eq"], nastyValue) },
  );
}

/** One key, or several, by fields that are there. */
export function sortKeysOf(model: Model): fc.Arbitrary<unknown> {
  const field = fc.constantFrom(...Object.keys(model.fields), ...FACTS);
  const order = fc.constantFrom("asc", "desc");
  const key = fc.oneof(
    { weight: 4, arbitrary: field },
    { weight: 4, arbitrary: fc.record({ field, order }, { requiredKeys: ["field"] }) },
    { weight: 1, arbitrary: fc.record({ field, by: fc.constant("values") }) },
  );
  return fc.oneof(field, fc.array(key, { maxLength: limits.sortKeys + 1 }));
}

/** The same for a list by GET. */
export const orderByOf = (model: Model): fc.Arbitrary<string> =>
  fc
    .array(
      fc
        .tuple(
          fc.constantFrom("id", "createdAt", "updatedAt", "createdBy", ...Object.keys(model.fields)),
          fc.constantFrom("", "", ":asc", ":desc", ":values"),
        )
        .map((parts) => parts.join("")),
      { minLength: 1, maxLength: 3 },
    )
    .map((keys) => keys.join());
