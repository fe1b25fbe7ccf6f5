import type { Json, JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { comparable, compareValues, isScalar } from "../../protocol/lists/compare-values.ts";
import { hasWords, searchedFields, searchWords } from "../../protocol/lists/text-search.ts";
import type { Field, Model } from "../../protocol/schema/model-schema.ts";
import { fieldOf, mustBe, odd } from "./query-error.ts";
import { valueIn } from "./value-in.ts";

/** Conditions on a record, all of which must hold. */
export type Conditions = Readonly<Record<string, unknown>>;

type Test<T> = (value: T) => boolean;

/** Compiles conditions, for use on every record. Throws for invalid ones. `param` is where they are in the query. */
export function compileConditions(
  model: string,
  schema: Model | undefined,
  conditions: Conditions,
  param = "where",
): Test<JsonObject> {
  if (typeof conditions !== "object" || conditions === null || Array.isArray(conditions))
    throw mustBe(param, "an object of conditions", conditions);
  const tests = Object.entries(conditions).map(([name, wanted]): Test<JsonObject> => {
    const at = `${param}.${name}`;
    // A field of that name is meant rather than the word.
    if ((name === "and" || name === "or") && !schema?.fields[name]) {
      const several = branchesOf(wanted, at).map((one, i) => compileConditions(model, schema, one, `${at}[${i}]`));
      return name === "or"
        ? (data) => several.some((test) => test(data))
        : (data) => several.every((test) => test(data));
    }
    const test = testOf(wanted, fieldOf(model, schema, name, at), at);
    return (data) => test(valueIn(data, name) ?? null);
  });
  return (data) => tests.every((test) => test(data));
}

function branchesOf(wanted: unknown, param: string): readonly Conditions[] {
  if (!Array.isArray(wanted)) throw mustBe(param, "a list of conditions", wanted);
  return wanted as Conditions[];
}

/** Compiles one operator. `param` is where it is in the query. */
type Operator = (operand: unknown, param: string, field: Field | undefined) => Test<Json>;

/** Whether a value is within a bound of a range, by how it compares with it. */
const range =
  (isWithin: (order: number) => boolean): Operator =>
  (operand, _, field) => {
    const bound = comparable(field?.type, plain(operand));
    return (value) => {
      const own = comparable(field?.type, value);
      return own !== undefined && typeof own === typeof bound && isWithin(compareValues(own, bound as typeof own));
    };
  };

const OPERATORS: Readonly<Record<string, Operator>> = {
  not: (operand, _, field) => negated(equalTo(operand, field)),
  in: oneOf,
  notIn: (operand, param, field) => negated(oneOf(operand, param, field)),
  gt: range((order) => order > 0),
  gte: range((order) => order >= 0),
  lt: range((order) => order < 0),
  lte: range((order) => order <= 0),
  contains: (operand, param, field) => {
    const part = field?.type === "array" ? "" : textOf(operand, param);
    const isItem = equalTo(operand);
    return (value) =>
      Array.isArray(value)
        ? value.some((item) => isItem(item as Json))
        : typeof value === "string" && value.includes(part);
  },
  startsWith: (operand, param) => {
    const start = textOf(operand, param);
    return (value) => typeof value === "string" && value.startsWith(start);
  },
  search: searching,
};

/** Compiles a condition on one field, which is a value or an object of operators. */
function testOf(wanted: unknown, field: Field | undefined, param: string): Test<Json> {
  if (wanted === undefined) throw undefinedAt(param);
  if (!isOperators(wanted, field, param)) return equalTo(wanted, field);
  const tests = Object.entries(wanted).map(([operator, operand]) => {
    const at = `${param}.${operator}`;
    if (operand === undefined) throw undefinedAt(at);
    return (OPERATORS[operator] as Operator)(operand, at, field);
  });
  return (value) => tests.every((test) => test(value));
}

const undefinedAt = (param: string) => odd(param, `${param} is undefined. Omit it, or use null.`);

const negated =
  (test: Test<Json>): Test<Json> =>
  (value) =>
    !test(value);

function textOf(operand: unknown, param: string): string {
  if (typeof operand !== "string") throw mustBe(param, "a string", operand);
  return operand;
}

/** Tests a text, or several together. */
function searching(operand: unknown, param: string): Test<Json> {
  const words = searchWords(textOf(operand, param));
  return (value) => hasWords(words, value);
}

/** Compiles a search in all fields of the model that are indexed for it. */
export function compileSearch(schema: Model | undefined, text: unknown): Test<JsonObject> {
  const names = searchedFields(schema);
  if (names.length === 0) throw odd("search", `No field has index: "text".`);
  const test = searching(text, "search");
  return (data) => test(names.map((name) => valueIn(data, name) ?? null));
}

function equalTo(wanted: unknown, field?: Field): Test<Json> {
  return anyOf([plain(wanted)], field);
}

function oneOf(wanted: unknown, param: string, field: Field | undefined): Test<Json> {
  if (!Array.isArray(wanted)) throw mustBe(param, "a list", wanted);
  return anyOf(wanted.map(plain), field);
}

/** A value of another type than its field's equals null, as an absent one does. */
function anyOf(values: readonly Json[], field: Field | undefined): Test<Json> {
  if (!field || !isScalar(field)) return (own) => values.some((value) => jsonEqual(value, own));
  const keys = new Set(values.map((value) => comparable(field.type, value)));
  if (!values.includes(null)) keys.delete(undefined);
  return (own) => keys.has(comparable(field.type, own));
}

/** A condition may use a Date, although records store strings. */
const plain = (value: unknown): Json => (value instanceof Date ? value.toISOString() : (value as Json));

/** Whether the condition contains only operators. Any other object is an error unless the field holds objects. */
function isOperators(wanted: unknown, field: Field | undefined, param: string): wanted is object {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted) || wanted instanceof Date) return false;
  const keys = Object.keys(wanted);
  if (keys.length > 0 && keys.every((key) => Object.hasOwn(OPERATORS, key))) return true;
  if (!field || field.type === "json") return false;
  throw mustBe(param, `a value, or have operators: ${Object.keys(OPERATORS).join(", ")}`, wanted);
}
