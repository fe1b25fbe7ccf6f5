import type { Field, Model, ModelSchema } from "@holdfast/sdk/protocol";
import fc from "fast-check";

/** Few ids of records and groups, so that requests meet. */
export const recordId: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fc.nat(9).map((n) => `i${n}`) },
  { weight: 1, arbitrary: fc.constantFrom("a.b:c~d-e_F", "x".repeat(255), "constructor", "__proto__", "0") },
  { weight: 1, arbitrary: fc.uuid() },
);

/** `d0` … `d3` for decks, `a0` … for attachments: the first letter of the group's kind. */
const groupMember = (kind: string) => fc.nat(3).map((n) => `${kind[0]}${n}`);

export const groupName = ({ models }: ModelSchema): fc.Arbitrary<string> => {
  const kinds = [...new Set(Object.values(models).flatMap(({ groups = [] }) => groups.map(({ kind }) => kind)))];
  return fc.oneof(
    ...kinds.map((kind) => (kind === "document" ? recordId : groupMember(kind)).map((id) => `${kind}:${id}`)),
  );
};

const text = fc.oneof(
  fc.constantFrom("", "a", "b", "ä€😀", "received", "pending"),
  fc.string({ maxLength: 20 }).map((raw) => raw.replaceAll("\0", "")),
);
const time = fc
  .date({ min: new Date("1990-01-01"), max: new Date("2090-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());
/** Integers beyond the precision of a double are refused. Other generators send them deliberately. */
const anything = fc
  .jsonValue({ maxDepth: 2 })
  .map(
    (value) =>
      JSON.parse(JSON.stringify(value), (_, item) => (Number.isInteger(item) ? item % 1_000 : item)) as unknown,
  );

export function fieldValue(name: string, field: Field, { groups = [] }: Model): fc.Arbitrary<unknown> {
  const rule = groups.find(({ from }) => from === name);
  const value = rule && field.type === "string" ? groupMember(rule.kind) : plainValue(field);
  return field.nullable
    ? fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })
    : value;
}

function plainValue({ type, values = [] }: Field): fc.Arbitrary<unknown> {
  switch (type) {
    case "string":
      return text;
    case "number":
      return fc.oneof(
        fc.integer({ min: -3, max: 3 }),
        fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
      );
    case "integer":
      return fc.integer();
    case "boolean":
      return fc.boolean();
    case "datetime":
      return time;
    case "enum":
      return fc.constantFrom(...values);
    case "array":
      return fc.array(anything, { maxLength: 3 });
    case "json":
      return anything;
  }
}

/** A create's whole entity, or an update's few fields, as the model declares them. */
export function payload(model: Model, isWhole: boolean): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const fields = Object.entries(model.fields);
  const shown = Object.fromEntries(fields.map(([name, field]) => [name, fieldValue(name, field, model)]));
  const needed = isWhole
    ? fields
        .filter(([name, { required }]) => required || model.groups?.some(({ from }) => from === name))
        .map(([name]) => name)
    : [];
  return fc
    .record(shown, { requiredKeys: needed })
    .filter((data) => isWhole || Object.keys(data).length > 0)
    .map((data) => ({ ...data }));
}
