import fc from "fast-check";

/** The used subset of JSON Schema, as TypeBox writes it. */
export interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
}

/** A better guess than the schema's, by the name of a key; undefined: the schema's. */
export type Hint = (key: string, shape: Shape) => fc.Arbitrary<unknown> | undefined;

/** How often a key is there that may be left out, of a hundred. */
export type Presence = Readonly<Record<string, number>>;

/** Values that fit a schema. */
export function shaped(shape: Shape, hint: Hint, presence: Presence = {}): fc.Arbitrary<unknown> {
  if ("const" in shape) return fc.constant(shape.const);
  if (shape.anyOf) return fc.oneof(...shape.anyOf.map((one) => shaped(one, hint, presence)));
  switch (shape.type) {
    case "object":
      return shape.properties
        ? objectOf(shape.properties, shape.required ?? [], hint, presence)
        : fc.dictionary(key, leaf, { maxKeys: 3 });
    case "array":
      return fc.array(shape.items ? shaped(shape.items, hint, presence) : leaf, {
        minLength: shape.minItems ?? 0,
        maxLength: Math.min(shape.maxItems ?? 4, 4),
      });
    case "string":
      return fc.string({
        minLength: shape.minLength ?? 0,
        maxLength: Math.max(shape.minLength ?? 0, Math.min(shape.maxLength ?? 12, 12)),
      });
    case "integer":
    case "number":
      return fc.integer({
        min: shape.minimum ?? 0,
        max: Math.min(shape.maximum ?? 1_000, (shape.minimum ?? 0) + 1_000),
      });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

const key = fc.string({ minLength: 1, maxLength: 6 });
const leaf = fc.oneof(fc.string({ maxLength: 6 }), fc.integer(), fc.boolean(), fc.constant(null));

const USUAL_PRESENCE = 35;

function objectOf(
  properties: Readonly<Record<string, Shape>>,
  required: readonly string[],
  hint: Hint,
  presence: Presence,
): fc.Arbitrary<unknown> {
  const parts = Object.entries(properties).map(([name, shape]) => {
    const value = hint(name, shape) ?? shaped(shape, hint, presence);
    const percent = required.includes(name) ? 100 : (presence[name] ?? USUAL_PRESENCE);
    return fc.tuple(fc.nat(99), value).map(([n, found]) => (n >= 100 - percent ? [[name, found] as const] : []));
  });
  return fc.tuple(...parts).map((lists) => Object.fromEntries(lists.flat()));
}
