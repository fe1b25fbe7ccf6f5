import { odd } from "../../errors.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { isPlainObject } from "../../protocol/json-problem.ts";
import { comparable, compareValues, isScalar, typedValue } from "../../protocol/lists/compare-values.ts";
import { hasWords, searchedFields, searchWords } from "../../protocol/lists/text-search.ts";
import { expectedValue, fits } from "../../protocol/schema/field-value.ts";
import type { Field, Model } from "../../protocol/schema/model-schema.ts";
import { jsonCopy } from "../writes/payload.ts";
import { ANY, checkObject, fieldOf, listOf, mustBe, TEXT } from "./query-error.ts";
import { valueIn } from "./value-in.ts";

/** Conditions on a record, all of which must hold. */
export type Conditions = Readonly<Record<string, unknown>>;

type Test<T> = (value: T) => boolean;

/** Compiles conditions, for use on every record. Throws for invalid ones. `param` is where they are in the query. */
export function compileConditions(
  model: string,
  schema: Model | undefined,
  conditions: unknown,
  param = "where",
): Test<JsonObject> {
  checkObject(conditions, param);
  const tests = Object.entries(conditions as Conditions).map(([name, wanted]): Test<JsonObject> => {
    const at = `${param}.${name}`;
    // A field of that name is meant rather than the word.
    if ((name === "and" || name === "or") && !schema?.fields[name]) {
      const several = listOf(wanted, at).map((one, i) => compileConditions(model, schema, one, `${at}[${i}]`));
      return (data) => several[name === "or" ? "some" : "every"]((test) => test(data));
    }
    // A record without a value has null, also if its field cannot be null.
    const field = fieldOf(model, schema, name, at);
    const test = testOf(wanted, { ...field, nullable: true }, at);
    return (data) => test(typedValue(field.type, valueIn(data, name)));
  });
  return (data) => tests.every((test) => test(data));
}

/** Compiles one operator. `param` is where it is in the query. Throws for an operand that no value can meet. */
type Operator = (operand: unknown, param: string, field: Field) => Test<Json>;

/** Whether a value is within a bound of a range, by how it compares with it. An integer can be above 1.5. */
const range =
  (isWithin: (order: number) => boolean): Operator =>
  (operand, param, field) => {
    const { type } = field;
    const bound = comparable(type, plain(operand, type));
    if (bound === undefined || Number.isNaN(bound))
      throw mustBe(param, expectedValue({ ...field, nullable: false }), operand);
    return (value) => {
      const own = comparable(type, value);
      return own !== undefined && typeof own === typeof bound && isWithin(compareValues(own, bound as typeof own));
    };
  };

const OPERATORS: Readonly<Record<string, Operator>> = {
  contains: (operand, param, field) => {
    const { type, items } = field;
    const part = operandOf(operand, param, isText(type) ? TEXT : items ? { type: items } : ANY);
    return (value) =>
      Array.isArray(value)
        ? value.some((item) => jsonEqual(item as Json, part))
        : typeof value === "string" && typeof part === "string" && value.includes(part);
  },
  not: (operand, param, field) => negated(equalTo(operand, param, field)),
  in: oneOf,
  notIn: (operand, param, field) => negated(oneOf(operand, param, field)),
  gt: range((order) => order > 0),
  gte: range((order) => order >= 0),
  lt: range((order) => order < 0),
  lte: range((order) => order <= 0),
  startsWith: (operand, param) => {
    const start = textOf(operand, param);
    return (value) => typeof value === "string" && value.startsWith(start);
  },
  search: searching,
};

const isText = (type: Field["type"]) => type === "string" || type === "enum";

/** The operators that a field can have: arrays the first ones, text all, and other values those between. */
function operatorsOf({ type }: Field): readonly string[] {
  const names = Object.keys(OPERATORS);
  if (type === "array") return names.slice(0, 4);
  return isText(type) || type === "json" ? names : names.slice(1, 8);
}

/** Compiles a condition on one field, which is a value or an object of operators. */
function testOf(wanted: unknown, field: Field, param: string): Test<Json> {
  if (!isOperators(wanted, field, param)) return equalTo(wanted, param, field);
  const tests = Object.entries(wanted).map(([operator, operand]) =>
    (OPERATORS[operator] as Operator)(operand, `${param}.${operator}`, field),
  );
  return (value) => tests.every((test) => test(value));
}

const negated =
  (test: Test<Json>): Test<Json> =>
  (value) =>
    !test(value);

const textOf = (operand: unknown, param: string) => operandOf(operand, param, TEXT) as string;

/** Tests a text, or several together. */
function searching(operand: unknown, param: string): Test<Json> {
  const words = searchWords(textOf(operand, param));
  return (value) => hasWords(words, value);
}

/** Compiles a search in all fields of the model that are indexed for it. */
export function compileSearch(schema: Model | undefined, text: unknown): Test<JsonObject> {
  const names = searchedFields(schema);
  if (names.length === 0) throw odd("search", `The model cannot be searched, because no field has index: "text".`);
  const test = searching(text, "search");
  return (data) => test(names.map((name) => valueIn(data, name) ?? null));
}

function equalTo(wanted: unknown, param: string, field: Field): Test<Json> {
  return anyOf([operandOf(wanted, param, field)], field);
}

function oneOf(wanted: unknown, param: string, field: Field): Test<Json> {
  const values = listOf(wanted, param).map((one, i) => operandOf(one, `${param}[${i}]`, field));
  return anyOf(values, field);
}

/** A value that a field could have. Throws for any other: no record would match it. */
function operandOf(wanted: unknown, param: string, field: Field): Json {
  const value = plain(wanted, field.type);
  if (!fits(field, value)) throw mustBe(param, expectedValue(field), wanted);
  return isScalar(field) ? value : jsonCopy(value, param);
}

/** A value of another type than its field's equals null, as an absent one does. */
function anyOf(values: readonly Json[], field: Field): Test<Json> {
  if (!isScalar(field)) return (own) => values.some((value) => jsonEqual(value, own));
  const keys = new Set(values.map((value) => comparable(field.type, value)));
  if (!values.includes(null)) keys.delete(undefined);
  return (own) => keys.has(comparable(field.type, own));
}

/** A condition may use a Date, although records store strings. An invalid one fits no field. */
const plain = (value: unknown, type: Field["type"]): Json =>
  (value instanceof Date && (type === "datetime" || type === "json") ? (value.toJSON() ?? value) : value) as Json;

/** Whether the condition contains only operators. Any other object is an error unless the field holds objects. */
function isOperators(wanted: unknown, field: Field, param: string): wanted is object {
  if (!isPlainObject(wanted)) return false;
  const known = operatorsOf(field);
  const keys = Object.keys(wanted);
  if (keys.length > 0 && keys.every((key) => known.includes(key))) return true;
  if (field.type === "json") return false;
  throw mustBe(param, `a value, or have operators: ${known.join(", ")}`, wanted);
}
